"""What a spec states, as functions of a world.

A predicate sees the stored state and the ghosts (`count`): what the far side did,
whether or not the machine has heard of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from deedbox_dsl import core

from ..expressions.evaluate import Scene, phase, truth
from ..expressions.trees import inline
from ..instance.model import Model
from ..instance.world import World

Test: TypeAlias = Callable[[World], bool]


@dataclass(frozen=True, slots=True)
class Predicate:
    """`applies`: the world is one of which something is said at all."""

    applies: Test
    holds: Test


def predicate(model: Model, stated: core.Pred) -> Predicate:
    ladders = {ladder.name: ladder for ladder in model.spec.ladders}
    expr = inline(stated.expr, ladders)
    holds = truth(expr)
    premise = None
    if isinstance(expr, core.Binary) and expr.operator == "implies":
        premise = truth(expr.left)
    states = frozenset(stated.states)

    def scene(world: World) -> Scene:
        counts = dict(zip(model.counted, world.counts, strict=True))
        return Scene(state=world.state, counts=counts)

    def spoken_of(world: World) -> bool:
        return world.state is not None and (not states or phase(world.state) in states)

    def applies(world: World) -> bool:
        return spoken_of(world) and (premise is None or premise(scene(world)))

    def true_of(world: World) -> bool:
        return spoken_of(world) and holds(scene(world))

    return Predicate(applies, true_of)
