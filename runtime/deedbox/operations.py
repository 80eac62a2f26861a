"""The operations which the protocol yields: the whole of what a store must do.

A store is a table from operation to statement or function.  It decides nothing:
every choice (what is due, who is answered, what is claimed) is the protocol's.
All but `Begin`, `Commit` and `Rollback` happen inside one write transaction, or in
a reading one for `Load`, `Page`, `Owed` and `History`.  Times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, cast

from msgspec import Struct

from .step import AnyMachine

Key: TypeAlias = tuple[str, str, int]
"""Of an outbox row: machine, id, ticket."""

Name: TypeAlias = tuple[str, str]
"""Machine and id, or machine and command."""

InstanceRow: TypeAlias = tuple[
    str, int, str, int, int, int, int | None, str | None, str
]
"""id, rev, phase, at, born, version, wake_at, parked, doc."""

OutboxRow: TypeAlias = tuple[
    str,
    str,
    int,
    str,
    str,
    int | None,
    int | None,
    int,
    int,
    str | None,
    str | None,
    int,
    str,
]
"""machine, id, ticket, command, key, claim, next_at, tries, started, parked, error,
version, doc."""

InboxRow: TypeAlias = tuple[str, str, str, str, int, str]
"""machine, id, message_id, hash, at, answer."""

JournalRow: TypeAlias = tuple[str, str, int, int, str, int, str]
"""machine, id, rev, at, kind, version, doc."""

A = TypeVar("A")


class Operation(Struct, Generic[A], frozen=True):
    """Something a store does; its answer is an `A`."""


AnyOperation: TypeAlias = Operation[Any]
T = TypeVar("T")
Program: TypeAlias = Generator[AnyOperation, object, T]
"""A part of the protocol: it yields operations, is sent their answers, returns a T."""


def ask(operation: Operation[A]) -> Program[A]:
    """Yield one operation; the store answers with what the operation declares."""
    return cast(A, (yield operation))


DIED: Final = "its process died or stood still"
"""The error of a row whose last delivery ended with its session."""
COMPANY: Final = 2
"""So often is such a row handed out among others; from then on it is a suspect."""


def beside(deliveries: int, others: int) -> int:
    """The last delivery at which a suspect may have so many others beside it.

    Twice the company takes one delivery less: the last of all is alone, the one before
    it in twos, then in fours.  So what kills is found out, and what was only beside it
    soon has room again.
    """
    return deliveries - others.bit_length() if others else FOREVER


FOREVER: Final = 2**63 - 1


class Conflict(Exception):
    """The transaction must be rolled back and done again."""


class Unstorable(Exception):
    """The store takes none of these rows, now or later: something in them is wrong."""


class CommitUnknown(Exception):
    """The store did not say whether the commit was made."""


class Begin(Operation[None], frozen=True):
    """Take the write lock."""


class Commit(Operation[None], frozen=True):
    """Make all of it durable."""


class Rollback(Operation[None], frozen=True):
    """Leave the store as it was; right after a commit of unknown fate too."""


class Now(Operation[int], frozen=True):
    """The store's wall clock."""


class Enter(Operation[int], frozen=True):
    """A new session: its epoch, never given before; it has no lease yet."""


class Fence(Operation[int | None], frozen=True):
    """Prove the session and renew its lease: now, or None when it was declared dead."""

    epoch: int
    batch: int
    lease: int


class Rest(Operation[None], frozen=True):
    """The session holds nothing, so its lease is over: nobody asks whether it lives."""

    epoch: int


class Settle(Operation[int | None], frozen=True):
    """The number of the session's last committed batch, None when it is gone."""

    epoch: int


class ListDue(Operation[list[InstanceRow]], frozen=True):
    """The instances whose wake has come, in the order of their wakes."""

    machine: str
    version: int
    now: int
    limit: int


class Load(Operation[list[InstanceRow]], frozen=True):
    """These instances, locked; an id without a row is not answered."""

    machine: str
    ids: list[str]


class Take(Operation[set[Key]], frozen=True):
    """Remove these outbox rows where the claim is ours; which they were."""

    epoch: int
    keys: list[Key]


class Seen(Operation[list[InboxRow]], frozen=True):
    """What is remembered of these messages (machine, id, message_id)."""

    messages: list[tuple[str, str, str]]


class Owing(Operation[set[str]], frozen=True):
    """Which of these instances have outbox rows."""

    machine: str
    ids: list[str]


class Behind(Operation[set[tuple[str, str, str]]], frozen=True):
    """For which (machine, id, command) there is a row already."""

    commands: list[tuple[str, str, str]]


class Remove(Operation[None], frozen=True):
    """Delete these instances (id, rev), their journals and their inboxes.

    `until` is the latest of their times; what is `Gone` of the machine is not earlier.
    """

    machine: str
    instances: list[tuple[str, int]]
    until: int


class Gone(Operation[int], frozen=True):
    """The latest time of all instances that were ever removed; -1 when none was."""

    machine: str


class Save(Operation[None], frozen=True):
    """Insert; update where the stored rev is the given one.  Else `Conflict`."""

    machine: str
    inserts: list[InstanceRow]
    updates: list[tuple[InstanceRow, int]]


class Park(Operation[None], frozen=True):
    """Set these instances (id, reason) aside."""

    machine: str
    instances: list[tuple[str, str]]


class Withdraw(Operation[None], frozen=True):
    """Delete these outbox rows, parked and foreign ones too."""

    keys: list[Key]


class Owe(Operation[None], frozen=True):
    """Insert new commands."""

    rows: list[OutboxRow]


class Journal(Operation[None], frozen=True):
    """Append to the journal."""

    rows: list[JournalRow]


class Trim(Operation[None], frozen=True):
    """Of (machine, id, rev, at): forget journal rows below rev, inbox rows before at."""

    before: list[tuple[str, str, int, int]]


class Remember(Operation[None], frozen=True):
    """Insert into the inbox."""

    rows: list[InboxRow]


class Claim(Operation[list[OutboxRow]], frozen=True):
    """Claim rows of (machine, command, version, limit) that are due, in due order.

    Never a started one, nor one that has an older row of its name, nor a suspect: its
    error is `DIED`, and it was delivered `COMPANY` times or more.
    """

    epoch: int
    now: int
    wants: list[tuple[str, str, int, int]]


class Quarantine(Operation[list[OutboxRow]], frozen=True):
    """Claim the suspect that is due longest, of any (machine, command, version).

    None when this were later than its `latest` delivery: it waits for less company.
    """

    epoch: int
    now: int
    latest: int
    wants: list[tuple[str, str, int]]


class Still(Operation[set[Key]], frozen=True):
    """Which of these rows are still ours: another process may have withdrawn some."""

    epoch: int
    keys: list[Key]


class Mark(Operation[set[Key]], frozen=True):
    """Note that these rows are being started; which of them are still ours."""

    epoch: int
    keys: list[Key]


class Postpone(Operation[None], frozen=True):
    """Give rows of ours back: (key, error, next_at, why it is parked or None)."""

    epoch: int
    rows: list[tuple[Key, str, int, str | None]]


class Redrive(Operation[int], frozen=True):
    """Let go of what is parked of this instance; how many rows there were."""

    machine: str
    id: str
    now: int


class Reap(Operation[int], frozen=True):
    """Delete dead sessions and free what they held, `DIED`; how many rows.

    Dead is one whose process is known to be gone, or whose lease has run out.

    A suspect that was delivered `deliveries` times is parked: no other was with it.
    """

    epoch: int
    now: int
    deliveries: int


class Release(Operation[int], frozen=True):
    """End this session and give back what it held; how many rows."""

    epoch: int
    now: int


class Outlook(Struct, frozen=True):
    """When something will come due: the soonest wakes, the next row, a foreign lease."""

    wakes: dict[str, int]
    next_at: int | None
    foreign_lease: int | None


class Look(Operation[Outlook], frozen=True):
    """One look at all minima; `machines` are (name, version).

    Of the rows that wait, those that come due after `after` count.
    """

    epoch: int
    now: int
    after: int
    machines: list[tuple[str, int]]


class Page(Operation[list[InstanceRow]], frozen=True):
    """Instances by id, after `after`."""

    machine: str
    after: str
    phase: str | None
    due_before: int | None
    limit: int


class Owed(Operation[list[OutboxRow]], frozen=True):
    """The outbox rows of one instance, by ticket."""

    machine: str
    id: str


class History(Operation[list[JournalRow]], frozen=True):
    """The journal of one instance, by rev."""

    machine: str
    id: str


class Everything(Operation[list[OutboxRow]], frozen=True):
    """The whole outbox, for the checks of a test."""


class Sessions(Operation[set[int]], frozen=True):
    """The epochs of all sessions, for the checks of a test."""


class Transaction(Protocol):
    """A write transaction of the caller: its connection, and a driver inside it."""

    @property
    def connection(self) -> Any: ...
    def run(self, program: Program[T]) -> T: ...


class Store(Protocol):
    """What the shell needs of a store; `run` and `read` may be called from any thread."""

    def register(self, machines: Iterable[AnyMachine]) -> None: ...
    def run(self, program: Program[T]) -> T: ...
    def read(self, program: Program[T]) -> T: ...
    def transaction(self) -> AbstractContextManager[Transaction]: ...
    def changed(self, epoch: int) -> bool: ...
    def close(self) -> None: ...
