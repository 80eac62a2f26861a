"""What a user gets back: receipts, instances, and the rules a process runs by."""

from __future__ import annotations

from typing import Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from .errors import WrongType
from .machine import Instant

S = TypeVar("S", bound=Struct)

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

AnswerKind: TypeAlias = Literal["applied", "ignored", "kept"]


class Receipt(Struct, frozen=True):
    """The message is committed, with everything that follows from it.

    `answer` is `applied`, `ignored` (the spec says so in this phase; nothing was
    written) or `kept` (a start of what was already started so).
    """

    rev: int
    phase: str
    answer: AnswerKind


class Owed(Struct, frozen=True):
    """A command that is owed: on its way, waiting, or parked with the last error."""

    ticket: int
    command: str
    idempotency_key: str
    claimed: bool
    deliveries: int
    next_at: Instant | None
    error: str | None
    parked: str | None
    arguments: str
    """The command's document, JSON."""


class Instance(Struct, Generic[S], frozen=True):
    """What is stored of an instance.

    `rev` counts its steps, `at` is the logical time of the last one, `wake_at` its
    next deadline (of a finished one: when it is removed), `owed` what was handed out
    or will be.
    """

    id: str
    phase: str
    state: S
    rev: int
    at: Instant
    wake_at: Instant | None
    owed: tuple[Owed, ...]


class Listed(Struct, frozen=True):
    """An instance in a listing; `parked` says why its row cannot be used, if so."""

    id: str
    phase: str
    rev: int
    at: Instant
    wake_at: Instant | None
    parked: str | None


class Journaled(Struct, frozen=True):
    """An entry of an instance's journal.

    Of a step, `value` is the message, stamped with the time at which it was reduced;
    of a base, the state after it.  `unread` says why there is no value.
    """

    rev: int
    at: Instant
    base: bool
    version: int
    document: str
    value: Struct | None
    unread: str | None


class Migrated(Struct, frozen=True):
    """What a pass over the rows of a machine came to.

    `rows` were looked at, `migrated` of them were older and are of this version now,
    `parked` could not be brought to it.  `last`: the id of the last row.
    """

    rows: int
    migrated: int
    parked: int
    last: str


LEAST: Final = {
    "keep": 0,
    "remember": 0,
    "history": 0,
    "first_delay": 0,
    "longest_delay": 0,
    "deliveries": 1,
    "lease": 100,
}
MOST: Final = 1 << 53


class Rules(Struct, frozen=True, kw_only=True):
    """How long things are kept and how failing handlers are handled; milliseconds.

    `keep`: a finished instance is removed this long after its end, None = never.
    `remember`: a message id of an unfinished instance is kept this long.
    `history`: so many journal rows of a living instance are kept at least.
    `first_delay`, `longest_delay`: the ladder on which a handler that raised, or ran
    over, is called again: doubled each time.  `deliveries`: after so many it is parked.
    `lease`: a process that shows no sign for so long may be taken for dead.
    """

    keep: int | None = 30 * DAY
    remember: int = 7 * DAY
    history: int = 4096
    first_delay: int = SECOND
    longest_delay: int = MINUTE
    deliveries: int = 10
    lease: int = 10 * SECOND

    def __post_init__(self) -> None:
        """A lease of nothing has all done twice, and nothing is remembered for less than no time."""
        for name, least in LEAST.items():
            value: object = getattr(self, name)
            if name == "keep" and value is None:
                continue
            if type(value) is not int or not least <= value <= MOST:
                raise WrongType(
                    f"the rule `{name}` is a whole number, {least} to {MOST:,};"
                    f" not {value!r}"
                )
