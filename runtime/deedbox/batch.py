"""What goes into a transaction, and what comes out of it.

Items wait in the queue of a process and become a `Batch`; what the process holds is
its `Desk`; what follows from a committed batch is a `Result`.  Plain data: the rules
are the protocol's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct, field

from .codec import Codec
from .errors import SendError
from .machine import CommandType
from .operations import Key, Name, Outlook
from .values import AnswerKind, Receipt, Rules

Reply: TypeAlias = Callable[[object], None]


class Tell(Struct):
    """A message, or a start, from outside; already validated."""

    codec: Codec
    id: str
    message: Struct
    starts: bool
    message_id: str | None
    digest: str
    reply: Reply


class Answered(Struct):
    """A handler answered; `outcome` is None for a command that has none.

    `held` is what it was called for.  A later life of an instance has its tickets
    again, so the key of a row alone does not say whose answer it is.
    """

    key: Key
    outcome: Struct | None
    held: Held | None = None


class Raised(Struct):
    """A handler raised, ran over its limit, or cannot be called."""

    key: Key
    error: str
    park: str | None = None
    held: Held | None = None


class Posted(Struct):
    """What a machine tells another is held here, and is to be delivered."""

    key: Key


class Redriven(Struct):
    """A person lets go of what is parked of an instance."""

    codec: Codec
    id: str
    reply: Reply


class Watch(Struct):
    """Somebody waits for an instance to be in one of these phases.

    It is sent again, `over`, when nobody waits any more.
    """

    codec: Codec
    id: str
    phases: frozenset[str]
    reply: Reply
    over: bool = False


class Migrating(Struct):
    """Bring the rows of a page, those after `after` by id, to this version.

    `reply` hears a `Migrated`.
    """

    codec: Codec
    after: str
    limit: int
    reply: Reply


class Woken(Struct):
    """A due instance that is tried alone; with `park`, it is set aside for that reason."""

    codec: Codec
    id: str
    park: str | None = None


Item: TypeAlias = Tell | Answered | Raised | Posted | Redriven | Watch | Migrating


SUSPECTS: Final[Name] = "", "suspects"
"""Under this name rows wait that may have killed a process: they run in less company."""


class Held(Struct):
    """An outbox row claimed by this process."""

    key: Key
    codec: Codec
    type: CommandType
    command: Struct
    tries: int
    suspect: bool = False


class Batch(Struct):
    """What one transaction shall do."""

    tells: list[Tell] = field(default_factory=list[Tell])
    answers: list[Answered] = field(default_factory=list[Answered])
    raised: list[Raised] = field(default_factory=list[Raised])
    posted: list[Posted] = field(default_factory=list[Posted])
    redriven: list[Redriven] = field(default_factory=list[Redriven])
    watches: list[Watch] = field(default_factory=list[Watch])
    migrating: list[Migrating] = field(default_factory=list[Migrating])
    due: list[Codec] = field(default_factory=list[Codec])
    woken: list[Woken] = field(default_factory=list[Woken])
    reap: bool = False
    look: bool = False
    check: bool = False

    def add(self, item: Item) -> None:
        match item:
            case Answered():
                self.answers.append(item)
            case Tell():
                self.tells.append(item)
            case Raised():
                self.raised.append(item)
            case Posted():
                self.posted.append(item)
            case Watch():
                self.watches.append(item)
            case Redriven():
                self.redriven.append(item)
            case Migrating():
                self.migrating.append(item)

    @property
    def items(self) -> list[Item]:
        """In the order in which they are done."""
        return [
            *self.answers,
            *self.raised,
            *self.posted,
            *self.tells,
            *self.redriven,
            *self.watches,
            *self.migrating,
        ]


class Desk(Struct):
    """What this process holds, as of its last commit.

    `room`: the free places of each command that has a handler here; suspects have
    some as long as anything is claimed.
    `backlog`: those of which unclaimed rows may be due.  `marks`: what is held and is
    to be noted as started before it is.
    """

    codecs: dict[str, Codec]
    rules: Rules
    epoch: int = 0
    batch: int = 0
    held: dict[Key, Held] = field(default_factory=dict[Key, Held])
    room: dict[Name, int] = field(default_factory=dict[Name, int])
    backlog: set[Name] = field(default_factory=set[Name])
    marks: list[Key] = field(default_factory=list[Key])


def take_place(room: dict[Name, int], held: Held) -> None:
    """A row is held from now on."""
    room[held.codec.name, held.type.name] -= 1


def leave(room: dict[Name, int], held: Held) -> None:
    """The place of a row that is held no more is free."""
    room[held.codec.name, held.type.name] += 1


def is_held(desk: Desk, item: Answered | Raised) -> bool:
    """Whether this process still holds the very row that the handler was called for."""
    held = desk.held.get(item.key)
    return held is not None and (item.held is None or item.held is held)


class Live(Struct):
    """An instance inside the transaction: as stored, then as reduced so far."""

    codec: Codec
    id: str
    state: Struct | None = None
    rev: int = 0
    stored_rev: int = 0
    at: int = 0
    born: int = 0
    version: int = 0
    wake_at: int | None = None
    doc: str = ""
    dirty: bool = False
    refusal: SendError | None = None

    @property
    def phase(self) -> str:
        return "" if self.state is None else self.codec.phases[type(self.state)]

    def receipt(self, answer: AnswerKind) -> Receipt:
        return Receipt(self.rev, self.phase, answer)


class Result(Struct):
    """What follows from a committed batch."""

    now: int
    room: dict[Name, int]
    backlog: set[Name]
    replies: list[tuple[Reply, object]] = field(
        default_factory=list[tuple[Reply, object]]
    )
    started: list[Held] = field(default_factory=list[Held])
    marked: list[Key] = field(default_factory=list[Key])
    ended: dict[Key, Held] = field(default_factory=dict[Key, Held])
    deferred: list[Tell] = field(default_factory=list[Tell])
    live: dict[Name, Live] = field(default_factory=dict[Name, Live])
    wakes: dict[str, int] = field(default_factory=dict[str, int])
    next_at: int | None = None
    outlook: Outlook | None = None
    counts: Counter[str] = field(default_factory=Counter[str])
    steps: int = 0
