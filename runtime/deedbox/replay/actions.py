"""What others do to an instance, as values: the steps of which a written run is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import Struct

T = TypeVar("T")


class Begin(Struct, frozen=True):
    message: Struct


class Tell(Struct, frozen=True):
    message: Struct


class HandedOut(Struct, frozen=True):
    """The handler of the awaited issue is at work; `asks`: some of its command's fields."""

    asks: Mapping[str, object] = {}


class Decides(Struct, frozen=True):
    """The far side ends the awaited deed so; `counts`: it has really happened."""

    answer: Struct
    counts: bool = True


class Arrives(Struct, frozen=True):
    """A hand-out that nobody waits for reaches the far side, which ends its deed so.

    `deed`: the n-th that was owed; 0: the oldest of its command that is undecided.
    """

    answer: Struct
    deed: int = 0
    counts: bool = True


class Answers(Struct, frozen=True):
    """The handler of the awaited issue returns what the far side has decided, or `answer`."""

    answer: Struct | None = None


class Raises(Struct, frozen=True):
    """The handler of the awaited issue raises."""


class Comes(Struct, frozen=True):
    """Time goes on to `after` milliseconds after a stored instant; no timer goes off."""

    field: str
    after: int = 0


class Passes(Struct, frozen=True):
    """So much time passes; timers go off on time, but for one that comes only at its end."""

    milliseconds: int


class Waits(Struct, frozen=True):
    """So much time passes, and all timers go off."""

    milliseconds: int


class Fires(Struct, frozen=True):
    """The next deadline of the state comes, if it has not come yet, and fires."""


class Crash(Struct, frozen=True):
    """The process dies, and another takes over."""


class Early(Struct, frozen=True):
    """The reducer hears of a deadline that has not come.

    No timer of the interpreter does that: it is handed to the reducer past them.
    """


class Late(Struct, frozen=True):
    """The reducer hears an answer to an issue that it does not await.

    The store keeps such an answer from it: it is handed to the reducer past the store.
    """

    answer: Struct


class Asks(Struct, frozen=True):
    """A command that is owed, by name, and its document with ticket and key."""

    command: str
    document: Mapping[str, object]


class Stored(Struct, frozen=True):
    """A process of an older version has left this row, and one of this version takes it over.

    `state` and `owed` are as that version has written them.  What is known of the far
    side is in the words of this version: `asked`, what it was asked for until now, and
    `counts`, how many deeds it has ended in an outcome.
    """

    version: int
    id: str
    state: Mapping[str, object]
    wake_at: int | None = None
    owed: tuple[Asks, ...] = ()
    asked: tuple[Asks, ...] = ()
    counts: Mapping[str, int] = {}


Action: TypeAlias = (
    Begin
    | Tell
    | HandedOut
    | Decides
    | Arrives
    | Answers
    | Raises
    | Comes
    | Passes
    | Waits
    | Fires
    | Crash
    | Early
    | Late
    | Stored
)


class Does(Struct, frozen=True):
    """A step, and the phase in which it leaves the instance."""

    action: Action
    phase: str


def message(kind: type[T], /, **fields: object) -> T:
    """A message of plain values, whatever its types are called."""
    return msgspec.convert(fields, kind)
