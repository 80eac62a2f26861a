"""Everything that may happen to one instance, one step at a time.

Whoever can act on it, in turn: the interpreter and time (`interpreter`), the far side
(`far_side`), those who send (`senders`), and what goes wrong (`mishaps`).  Each gives a
raw world; its explored form is made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..instance.identity import normal
from ..instance.model import Model
from ..instance.world import Deed, World
from .far_side import FarSide, Undo, far_side
from .interpreter import Interpreter
from .labels import PLAIN, Kind, Label
from .mishaps import Mishaps
from .promises import PROTOCOL, Promises
from .reaction import Reactions
from .senders import Senders, senders

Known: TypeAlias = tuple[
    Struct | None, tuple[Deed, ...], tuple[int, ...], Struct | None
]
"""What of a world its explored form looks at: state, deeds, stale, loaded."""


class Lineage(Protocol):
    """Instances that a process of an older version has stepped last (`upgrade`)."""

    def owner(self, world: World) -> Environment | None:
        """That of the version whose state it is; None: this version, or not started."""
        ...

    def steps(self, world: World) -> Iterator[tuple[World, Label]]:
        """The raw steps of such an instance, or of one that an older version may start."""
        ...

    def allowed(self) -> Mapping[str, int]:
        """How many issues an older version's policies have, by the field that counts them."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """`explored`: the explored form of what has been met so far.

    `older`: the released versions whose instances are there too.
    """

    interpreter: Interpreter
    far_side: FarSide
    senders: Senders
    mishaps: Mishaps
    explored: dict[Known, Known] = field(default_factory=dict[Known, Known])
    older: Lineage | None = None

    @property
    def model(self) -> Model:
        return self.interpreter.model

    @property
    def reactions(self) -> Reactions:
        return self.interpreter.reactions

    @property
    def first(self) -> tuple[tuple[Struct, Label], ...]:
        return self.senders.first

    @property
    def sent(self) -> tuple[tuple[Struct, Label], ...]:
        return self.senders.sent

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
        place = (world.state, world.deeds, world.stale, world.loaded)
        known = self.explored.get(place)
        if known is None:
            found = normal(self.model, world)
            known = (found.state, found.deeds, found.stale, found.loaded)
            self.explored[place] = known
        if known == place:
            return world
        state, deeds, stale, loaded = known
        after = world.to(state, world.row, deeds)
        if stale == world.stale and loaded is world.loaded:
            return after
        return with_fields(after, stale=stale, loaded=loaded)

    def raw_steps(self, world: World) -> Iterator[tuple[World, Label]]:
        """The same before anything is renumbered or forgotten."""
        if self.older is not None:
            yield from self.older.steps(world)
            if self.older.owner(world) is not None:
                return
        if world.state is None:
            yield from self.senders.starts(world)
            return
        yield from self.interpreter.work(world, world.state)
        yield from self.interpreter.time(world, world.state)
        yield from self.far_side.steps(world)
        yield from self.senders.steps(world, world.state)
        yield from self.mishaps.steps(world, world.state)


def environment(
    model: Model,
    reactions: Reactions,
    faults: frozenset[Kind],
    undo: Undo = Undo.VOIDS,
    promises: Promises = PROTOCOL,
    *,
    loads: bool | None = None,
) -> Environment:
    """`loads`: another worker's load and commit are steps, though they come to nothing."""
    interpreter = Interpreter(model, reactions, promises, faults)
    sending = senders(interpreter)
    explicit = not promises.checks_rev if loads is None else loads
    return Environment(
        interpreter,
        far_side(model, undo, late=Kind.ARRIVAL in faults),
        sending,
        Mishaps(interpreter, sending, explicit),
    )
