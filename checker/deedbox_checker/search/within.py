"""`leads … within d`: a second search, with exact milliseconds.

Wakes come on time, handlers are called at once, no process is down, and a jitter takes
nothing off a delay.  The far side is as slow as it likes, up to the next deadline; with
no deadline ahead it answers at once.  Messages come when something else happens.
A world is joined by how long the oldest debt has stood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deedbox_dsl import core
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH
from ..engine import lists, walk
from ..engine.tables import Tables, close
from ..environment.environment import Environment, environment
from ..environment.labels import COUNTED, Kind, Label
from ..environment.reaction import reactions
from ..instance.abstraction import shifted
from ..instance.model import Model, at_their_ends
from ..instance.world import Row, World
from ..properties.stated import Test, predicate
from ..traces.pictures import duration
from ..traces.trace import Run, Trace, lines


@dataclass(frozen=True, slots=True)
class Owing:
    """`age`: milliseconds since the premise held, None when nothing is owed."""

    world: World
    age: int | None = None


def overdue(model: Model, stated: core.Property, limit: int) -> Trace | None:
    """The shortest run on which the target has not come in time."""
    assert stated.target is not None
    assert stated.within is not None
    premise = predicate(model, stated.pred).holds
    target = predicate(model, stated.target).holds
    most = stated.within
    model = at_their_ends(model)
    steps = environment(model, reactions(model, exact=True), frozenset())
    numbers: dict[Label, int] = {}

    def successors(here: Owing) -> Iterator[tuple[Owing, int]]:
        if here.age is not None and here.age > most:
            return
        for world, label in steps.steps(here.world):
            after = Owing(world, owed(world, here.age, premise, target))
            yield after, numbers.setdefault(label, len(numbers))
        wait = patience(steps, here.world)
        if wait is not None and here.world.state is not None:
            state = shifted(model, here.world.state, wait)
            age = None if here.age is None else min(here.age + wait, most + 1)
            label = Label(Kind.TIME, "time", f"{duration(wait)} pass", str(wait))
            yield (
                Owing(with_fields(here.world, state=state), age),
                numbers.setdefault(label, len(numbers)),
            )

    closed = close([Owing(World())], successors, limit)
    labels = tuple(numbers)
    faults = bytes(label.kind in COUNTED for label in labels)
    tables = Tables(
        len(closed.states), 1, 0, closed.offsets, closed.targets, closed.labels, faults
    )
    explored = lists.explore(tables)
    late = [
        number
        for number, here in enumerate(closed.states)
        if here.age is not None and here.age > most
    ]
    cell = walk.first(explored, late)
    if cell is None:
        return None
    moves = walk.run(explored, cell)
    worlds = [closed.states[n].world for n in (0, *(move.cell for move in moves))]
    taken = [labels[move.label] for move in moves]
    return Trace(
        lines(steps, worlds, taken), 0, run=Run(steps, tuple(worlds), tuple(taken))
    )


def owed(world: World, age: int | None, premise: Test, target: Test) -> int | None:
    if target(world):
        return None
    return 0 if age is None and premise(world) else age


def patience(steps: Environment, world: World) -> int | None:
    """How long until the next deadline, None while the interpreter has something to do."""
    state = world.state
    deed = world.open_deed
    if state is None or steps.due(state) or world.row is Row.OWED:
        return None
    if world.row is Row.OUT and deed is not None and deed.fate is not None:
        return None
    wake = steps.model.machine.wake(state)
    return None if wake is None else wake - EPOCH
