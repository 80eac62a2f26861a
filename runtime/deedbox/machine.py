"""What a generated module tells the interpreter: the words they share.

A generated module imports these names and nothing else of the runtime.  The
interpreter knows a machine only by its `Machine` descriptor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, Literal, NewType, Protocol, TypeAlias, TypeVar

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
class Transition:
    """A row of a generated `TRANSITIONS`: `trigger` is `Message`, `command.outcome` or `at field`."""

    source: str
    trigger: str
    target: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteTable:
    """The storage adapter of one machine on SQLite: complete statements, no string building.

    A row is id, rev, phase, at, born, version, wake_at, parked, doc: `load` and `page`
    give rows, `insert` takes one.  The parameters of the others, in order:
    """

    create: tuple[str, ...]
    """Table, index and view, each only if it is not there; no parameters."""
    load: str
    """A JSON array of ids; gives the rows that exist, by id."""
    insert: str
    update: str
    """rev, phase, at, version, wake_at, doc; then id and the rev that must still be there."""
    due: str
    """now, version, limit; gives the ids whose deadline has come, earliest first."""
    park: str
    """The reason (null: no longer parked), id."""
    remove: str
    """id and the rev that must still be there."""
    page: str
    """after (an id), phase twice (null: any), due before twice (null: whenever), limit."""
    soonest: str
    """version; gives the earliest deadline, or null."""


S = TypeVar("S", bound=Struct)
B = TypeVar("B", bound=Struct)
M = TypeVar("M", bound=Struct)
O = TypeVar("O", bound=Struct)  # noqa: E741
C = TypeVar("C", bound=Struct)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Machine(Generic[S, B, M, O, C]):
    """The descriptor: states S, the start message B, messages M, outcomes O, commands C.

    `reduce` is pure and total.  `wake` gives the earliest stored deadline of a state;
    `awaited` the ticket of the answer it waits for.
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
