"""Everything that may happen to one instance, one step at a time.

The interpreter's own steps and time (`interpreter`), the far side (`far_side`), the
faults (`mishaps`), and here what others send.  Messages are always possible:
duplicates, reordering and messages to a finished instance need no queue.  A wake is
always possible too: one with nothing due must change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, cast

from msgspec import Struct

from .abstraction import Deed, World, normal
from .far_side import FarSide
from .far_side import Undo as Undo
from .interpreter import Effect, Interpreter
from .labels import COUNTED as COUNTED
from .labels import ENDING as ENDING
from .labels import FAULTS as FAULTS
from .labels import PLAIN as PLAIN
from .labels import Kind as Kind
from .labels import Label as Label
from .mishaps import Mishaps
from .model import Model
from .reaction import Reactions

Known: TypeAlias = tuple[Struct | None, tuple[Deed, ...], tuple[int, ...]]
"""What of a world its explored form looks at: state, deeds, stale."""


class Lineage(Protocol):
    """Instances that a process of an older version has stepped last (`upgrade`)."""

    def owner(self, world: World) -> Environment | None:
        """That of the version whose state it is; None: this version, or not started."""
        ...

    def steps(self, world: World) -> Iterator[tuple[World, Label]]:
        """The raw steps of such an instance, or of one that an older version may start."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """`first` and `sent`: messages and their labels; `effects`: what `sent` does to a state.

    So `explored` for `normal`.
    `older`: the released versions whose instances are there too.
    """

    interpreter: Interpreter
    far_side: FarSide
    mishaps: Mishaps
    first: tuple[tuple[Struct, Label], ...]
    sent: tuple[tuple[Struct, Label], ...]
    effects: dict[Struct, tuple[Effect, ...]] = field(
        default_factory=dict[Struct, tuple[Effect, ...]]
    )
    explored: dict[Known, Known] = field(default_factory=dict[Known, Known])
    older: Lineage | None = None

    @property
    def model(self) -> Model:
        return self.interpreter.model

    @property
    def reactions(self) -> Reactions:
        return self.interpreter.reactions

    def of(self, world: World) -> Environment:
        """The one of the version that has made the state of `world`."""
        return (None if self.older is None else self.older.owner(world)) or self

    def due(self, state: Struct) -> bool:
        return self.interpreter.due(state)

    def steps(self, world: World) -> Iterator[tuple[World, Label]]:
        """Every step of `world` that changes it, or breaks something."""
        for raw, label in self.raw_steps(world):
            after = raw if label.kind in PLAIN else self.of(raw)._explored(raw)
            if after != world or label.broken:
                yield after, label

    def _explored(self, world: World) -> World:
        """`normal`, found once for all worlds that differ in what it does not look at."""
        place = (world.state, world.deeds, world.stale)
        known = self.explored.get(place)
        if known is None:
            found = normal(self.model, world)
            known = self.explored[place] = (found.state, found.deeds, found.stale)
        if known == place:
            return world
        state, deeds, stale = known
        after = world.to(state, world.row, deeds)
        return after if stale == world.stale else replace(after, stale=stale)

    def raw_steps(self, world: World) -> Iterator[tuple[World, Label]]:
        """The same before anything is renumbered or forgotten."""
        if self.older is not None:
            yield from self.older.steps(world)
            if self.older.owner(world) is not None:
                return
        if world.state is None:
            yield from self._starts(world)
            return
        yield from self.interpreter.work(world, world.state)
        yield from self.interpreter.time(world, world.state)
        yield from self.far_side.steps(world)
        yield from self._senders(world, world.state)
        yield from self.mishaps.steps(world, world.state)

    def _starts(self, world: World) -> Iterator[tuple[World, Label]]:
        empty = replace(
            world,
            counts=(0,) * len(self.model.counted),
            stale=(0,) * len(self.model.counted),
        )
        listing = self.model.listing
        passes = (None,) if listing is None else tuple(listing.passes())
        for message, label in self.first:
            for passing in passes:
                begun = replace(empty, passing=passing)
                yield from self.interpreter.react(begun, message, label)

    def _senders(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """Due deadlines fire before a message is reduced, so with one due there is none."""
        if self.interpreter.due(state):
            return
        effects = self.effects.get(state)
        if effects is None:
            effects = self.effects[state] = tuple(
                effect
                for message, label in self.sent
                for effect in self.interpreter.effects(state, message, label)
            )
        for effect in effects:
            yield self.interpreter.reacted(world, effect)


def environment(
    model: Model,
    reactions: Reactions,
    faults: frozenset[Kind],
    undo: Undo = Undo.VOIDS,
) -> Environment:
    interpreter = Interpreter(model, reactions, remembers=Kind.LATE in faults)
    starts = [(message, shown(message, model.starts)) for message in model.starts]
    return Environment(
        interpreter,
        FarSide(model, undo, late=Kind.ARRIVAL in faults),
        Mishaps(interpreter, faults),
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
