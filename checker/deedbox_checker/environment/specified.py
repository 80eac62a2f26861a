"""What the spec itself says of one step: which clause decides, which deadline is the soonest.

A second reading beside the generated code, which is held against it (`reaction`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from deedbox import Due
from deedbox_dsl import core
from msgspec import Struct

from ..data.domain import EPOCH
from ..expressions.evaluate import Scene, Truth, delay_after, phase, truth
from ..expressions.trees import inline
from ..instance.model import Model
from ..time.looking import trigger_name


@dataclass(frozen=True, slots=True)
class GuardedClause:
    number: int
    clause: core.Clause
    guard: Truth | None


@dataclass(frozen=True, slots=True, eq=False)
class Specified:
    """`clauses`: by state and trigger, in the order of the spec."""

    model: Model
    states: Mapping[str, core.State]
    clauses: Mapping[tuple[str, str], Sequence[GuardedClause]]
    ladders: Mapping[str, core.Ladder]

    def declared(self, state: Struct) -> core.State:
        return self.states[type(state).__name__]

    def deadlines(self, state: Struct) -> list[tuple[int, str]]:
        """When they come and what they are called, in the order of the spec."""
        found: list[tuple[int, str]] = []
        for name in self.declared(state).deadlines:
            value = cast("int | None", getattr(state, name))
            if value is not None:
                found.append((value, name))
        return found

    def soonest(self, state: Struct) -> int | None:
        return min((at for at, _ in self.deadlines(state)), default=None)

    def due_field(self, state: Struct) -> str:
        """The deadline that fires first: the earliest, then the first in the spec."""
        deadlines = self.deadlines(state)
        return min(deadlines, key=lambda deadline: deadline[0])[1] if deadlines else ""

    def chosen(self, state: Struct, message: Struct) -> GuardedClause | None:
        """The clause that decides: the first of its trigger whose guard holds."""
        if isinstance(message, Due):
            soonest = self.soonest(state)
            if soonest is None or soonest > EPOCH:
                return None
            name = f"at {self.due_field(state)}"
        elif type(message) in self.model.outcomes:
            name = self.model.trigger(message)
            if getattr(message, "ticket", 0) != self.model.machine.awaited(state):
                return None
        else:
            name = self.model.trigger(message)
        known = self.clauses.get((phase(state) or "", name), ())
        if not known:
            return None
        scene = Scene(state=state, message=message, now=EPOCH, waits=self._waits)
        for guarded in known:
            if guarded.guard is None or guarded.guard(scene):
                return guarded
        return None

    def _waits(self, policy: str, issue: int) -> int:
        ladder = self.ladders[policy]
        return self.model.spread(delay_after(ladder, issue), ladder.jitter or 0, "")


def specified(model: Model) -> Specified:
    ladders = {ladder.name: ladder for ladder in model.spec.ladders}
    clauses: dict[tuple[str, str], list[GuardedClause]] = {}
    for number, clause in enumerate(model.spec.clauses):
        guard = None
        if clause.guard is not None:
            guard = truth(inline(clause.guard, ladders, jittered=True))
        place = clause.state, trigger_name(clause.trigger)
        clauses.setdefault(place, []).append(GuardedClause(number, clause, guard))
    states = {state.name: state for state in model.spec.states}
    return Specified(model, states, clauses, ladders)
