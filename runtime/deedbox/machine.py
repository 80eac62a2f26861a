"""What a generated module tells the interpreter: the words they share.

A generated module imports these names and nothing else of the runtime.  The
interpreter knows a machine only by its `Machine` descriptor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, NewType, Protocol, TypeAlias, TypeVar

from msgspec import Struct

Instant = NewType("Instant", int)
"""Milliseconds since the Unix epoch, UTC."""

Duration = NewType("Duration", int)
"""Milliseconds."""

UNSTAMPED: Final = Instant(-1)
"""The `at` of a message which the interpreter has not stamped yet."""


class Due(Struct, frozen=True, tag=True, gc=False):
    """A wake: some deadline of the instance may have come."""

    at: Instant


RefusedKind: TypeAlias = Literal["rejected", "ignored", "late", "not_due", "kept"]


class Refused(Struct, frozen=True, gc=False):
    """The reducer's answer when nothing changes; the interpreter counts by `kind`."""

    kind: RefusedKind
    text: str


class Command(Protocol):
    """What every generated command has before its own arguments."""

    @property
    def idempotency_key(self) -> str: ...
    @property
    def ticket(self) -> int: ...


@dataclass(frozen=True, slots=True)
class CommandType:
    """A command of a machine.

    `outcomes` empty: owed until its handler returns.  `deadline`: every state that
    awaits it has a deadline of its own, so the platform limit does not apply.
    """

    name: str
    struct: type[Struct]
    outcomes: tuple[type[Struct], ...]
    unrepeatable: bool
    deadline: bool


@dataclass(frozen=True, slots=True)
class Told:
    """A message that a machine tells `machine`, which deedbox itself delivers.

    The document of a `struct` is that of the message, with key, ticket and address on
    top: its tag is the message's, `to` the id of the instance.  A start has no address:
    its fields hold the key.
    """

    machine: str
    struct: type[Struct]


@dataclass(frozen=True, slots=True)
class Transition:
    """A row of a generated `TRANSITIONS`: `trigger` is `Message`, `command.outcome` or `at field`."""

    source: str
    trigger: str
    target: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteTable:
    """The storage adapter of one machine on SQLite: complete statements, no string building.

    Every parameter is numbered.  `COLUMNS` are id, rev, phase, at, born, version,
    wake_at, parked, doc, in this order, wherever a row is read or written.

    `create`   table (strict, without rowid), partial index, view; each `if not exists`.
    `rebuild`  the same for a table that an older version made, its rows kept; empty when
               no version was released before this one
    `load`     ?1 a JSON array of ids -> COLUMNS, by id:
               `where id in (select value from json_each(?1)) order by id`
    `insert`   ?1..?9 COLUMNS
    `update`   ?1..?9 COLUMNS, ?10 the stored rev: `where id = ?1 and rev = ?10`
    `due`      ?1 now, ?2 version, ?3 limit -> COLUMNS of `wake_at <= ?1 and parked is null
               and version <= ?2`, by wake_at, then id
    `park`     ?1 id, ?2 the reason
    `remove`   ?1 id, ?2 the stored rev
    `page`     ?1 after this id, ?2 phase or null, ?3 due by this instant or null, ?4 limit
               -> COLUMNS, by id
    `soonest`  ?1 version -> the smallest wake_at that is not parked and not newer, one row
               or none (`order by wake_at limit 1`, so that the partial index answers it)
    """

    create: tuple[str, ...]
    load: str
    insert: str
    update: str
    due: str
    park: str
    remove: str
    page: str
    soonest: str
    rebuild: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Older:
    """A released version of a machine, and the way from it to the next one.

    `state` takes a state of this version and the time of the instance's last step; it
    gives the state of the next version, and what that one asks for anew.  A ticket
    that the new state has too stays owed; any other is withdrawn.  `command` brings an
    owed command to the next version; `commands` are those it can, by name.
    """

    version: int
    states: tuple[type[Struct], ...]
    commands: tuple[tuple[str, type[Struct]], ...]
    state: Callable[[Any, Instant], tuple[Struct, tuple[Struct, ...]]]
    command: Callable[[Any], Struct] | None


@dataclass(frozen=True, slots=True)
class StepRoles:
    """A step of a saga: the command `do`, the outcomes that end it well, and its undo.

    A step without an undo is not undone when the saga turns back.
    """

    do: str
    done: tuple[type[Struct], ...]
    undo: str | None = None
    undone: tuple[type[Struct], ...] = ()


@dataclass(frozen=True, slots=True)
class SagaRoles:
    """The steps of a saga in their order, and its ends."""

    steps: tuple[StepRoles, ...]
    done: type[Struct]
    undone: type[Struct]


@dataclass(frozen=True, slots=True)
class ScanRoles:
    """What a scan reads in pages of `size` records, one by one.

    The outcome `page` of the command `fetch` brings in `listed` what stands behind
    `cursor`, at most `limit` records, in the order of their `by`; `due` is the field
    that says when a record is due.  A state that works on one has it in `item`, those
    behind it in `todo`.
    """

    fetch: str
    page: type[Struct]
    listed: str
    by: str
    due: str | None
    item: str
    cursor: str
    limit: str
    size: int


S = TypeVar("S", bound=Struct)
B = TypeVar("B", bound=Struct)
M = TypeVar("M", bound=Struct)
O = TypeVar("O", bound=Struct)  # noqa: E741  O for outcomes, beside S, B, M and C
C = TypeVar("C", bound=Struct)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Machine(Generic[S, B, M, O, C]):
    """The descriptor: states S, the start message B, messages M, outcomes O, commands C.

    `reduce` is pure and total.  `wake` gives the earliest stored deadline of a state;
    `awaited` the ticket of the answer it waits for.  `older` are the released versions
    that rows may still have, each leading to the one behind it and the last to this.
    `saga` and `scan` say what its commands are to each other; only the laws of
    simulated runs read them.
    """

    name: str
    version: int
    spec_hash: str
    key: tuple[str, ...]
    states: tuple[type[S], ...]
    finals: frozenset[type[S]]
    start_type: type[B]
    messages: tuple[type[M], ...]
    commands: tuple[CommandType, ...]
    start: Callable[[B], tuple[S, tuple[C, ...]]]
    reduce: Callable[[S, B | M | O | Due], tuple[S, tuple[C, ...]] | Refused]
    wake: Callable[[S], Instant | None]
    awaited: Callable[[S], int | None]
    transitions: tuple[Transition, ...]
    sqlite: SqliteTable
    told: tuple[Told, ...] = ()
    older: tuple[Older, ...] = ()
    saga: SagaRoles | None = None
    scan: ScanRoles | None = None
