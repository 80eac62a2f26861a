"""What others send: any message, any number of times, at any moment; and starts.

So a message that comes twice, in another order, or after the end needs no queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..instance.world import World
from .interpreter import Effect, Interpreter
from .labels import Kind, Label


@dataclass(frozen=True, slots=True, eq=False)
class Senders:
    """`first` and `sent`: messages and their labels; `known`: what `sent` does to a state."""

    interpreter: Interpreter
    first: tuple[tuple[Struct, Label], ...]
    sent: tuple[tuple[Struct, Label], ...]
    known: dict[Struct, tuple[Effect, ...]] = field(
        default_factory=dict[Struct, tuple[Effect, ...]]
    )

    def starts(self, world: World) -> Iterator[tuple[World, Label]]:
        """The first message of an instance; a scan has every list before it."""
        model = self.interpreter.model
        zeros = (0,) * len(model.counted)
        empty = with_fields(world, counts=world.counts or zeros, stale=zeros)
        passes = (None,) if model.listing is None else tuple(model.listing.passes())
        for message, label in self.first:
            for passing in passes:
                begun = with_fields(empty, passing=passing)
                yield from self.interpreter.react(begun, message, label)

    def steps(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """Due deadlines fire before a message is reduced, so with one due there is none."""
        if self.interpreter.fires(world, state):
            return
        for effect in self.effects(state):
            yield from self.interpreter.outcomes(world, effect)

    def effects(self, state: Struct) -> tuple[Effect, ...]:
        effects = self.known.get(state)
        if effects is None:
            effects = self.known[state] = tuple(self._effects(state))
        return effects

    def _effects(self, state: Struct) -> Iterator[Effect]:
        anew = not self.interpreter.promises.keeps_lives
        for message, label in self.sent:
            before = None if anew and label.subject == "Start" else state
            yield from self.interpreter.effects(before, message, label)


def senders(interpreter: Interpreter) -> Senders:
    model = interpreter.model
    starts = [(message, shown(message, model.starts)) for message in model.starts]
    return Senders(
        interpreter,
        tuple((message, Label(Kind.START, "sender", text)) for message, text in starts),
        tuple(
            (
                message,
                Label(
                    Kind.MESSAGE,
                    "sender",
                    shown(message, model.messages),
                    type(message).__name__,
                ),
            )
            for message in model.messages
        )
        + tuple(
            (message, Label(Kind.MESSAGE, "sender", f"{text} again", "Start"))
            for message, text in starts
        ),
    )


def shown(message: Struct, among: tuple[Struct, ...]) -> str:
    """A message by name, with the fields in which messages of its type differ."""
    same = [other for other in among if type(other) is type(message)]
    parts: list[str] = []
    for name in message.__struct_fields__:
        value = cast(object, getattr(message, name))
        if any(getattr(other, name) != value for other in same):
            parts.append(f"{name}: {value}")
    name = type(message).__name__
    return f"{name} {{ {', '.join(parts)} }}" if parts else name
