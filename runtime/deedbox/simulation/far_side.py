"""The far side: it acts once for each idempotency key, and gives one answer.

A key is undecided, answered, or void.  A request that reaches an undecided key
decides it; one that reaches an answered key hears the same answer; one that reaches a
void key does nothing.  A command which carries the key of another deed undoes that
deed: undecided, it becomes void.  It outlives all processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Protocol, cast

from msgspec import Struct
from msgspec.structs import replace

from ..codec import Codec
from ..documents import text
from ..machine import CommandType
from . import draw
from .lists import Librarian, Lists


class Character(Protocol):
    """How the far side decides.

    `answer`: an outcome of the command, drawn from the random.  `gives_back`: whether
    an undo that ended so has done its work.
    """

    def answer(
        self,
        codec: Codec,
        type_: CommandType,
        command: Struct,
        random: Random,
        now: int,
    ) -> Struct: ...
    def gives_back(self, codec: Codec, type_: CommandType, answer: Struct) -> bool: ...


class AnyAnswer:
    """Any outcome that the command declares, with any values."""

    def answer(
        self,
        codec: Codec,
        type_: CommandType,
        command: Struct,
        random: Random,
        now: int,
    ) -> Struct:
        del codec, command
        return draw.struct(random.choice(type_.outcomes), random, now)

    def gives_back(self, codec: Codec, type_: CommandType, answer: Struct) -> bool:
        del codec, type_, answer
        return True


class Void(Exception):
    """The deed was undone before it was done; nothing happens any more."""


class FarSide:
    """What it has done, by key."""

    def __init__(self, seed: int, character: Character) -> None:
        self.answered: dict[str, Struct | None] = {}
        self.void: set[str] = set()
        self.asked: dict[str, tuple[str, str]] = {}
        self.broken: list[str] = []
        record = character.record if isinstance(character, Librarian) else None
        self.lists = Lists(seed, record)
        self._seed = seed
        self._character = character

    def ask(
        self, codec: Codec, type_: CommandType, command: Struct, now: int
    ) -> Struct | None:
        """A request arrives.  One key asks for one thing, word for word (R4)."""
        key = key_of(command)
        asked = type_.name, text(replace(command, ticket=0))
        former = self.asked.setdefault(key, asked)
        if former != asked:
            self.broken.append(f"I8: {key} asked for {former}, and now for {asked}")
        if key in self.void:
            raise Void(key)
        if key not in self.answered:
            answer: Struct | None = None
            if type_.outcomes:
                random = Random(f"answer {self._seed} {key}")
                answer = self._character.answer(codec, type_, command, random, now)
                answer = self.lists.page(codec, command, answer, now)
            if answer is None or self._character.gives_back(codec, type_, answer):
                self.void |= set(_keys(command)) - self.answered.keys() - {key}
            self.answered[key] = answer
        return self.answered[key]


def key_of(command: Struct) -> str:
    return cast(str, getattr(command, "idempotency_key"))  # noqa: B009


def _keys(command: Struct) -> Iterator[str]:
    """The keys of deeds among the arguments: those of the same instance and life."""
    own = key_of(command).rpartition("/")[0] + "/"
    for name in command.__struct_fields__:
        value = cast(object, getattr(command, name))
        if isinstance(value, str) and value.startswith(own):
            yield value
