"""What one message does to one state, by the code that will run.

The generated reducer is run by the interpreter's `step`, in milliseconds, in every way
that the step could tell apart, and twice: the same must come out.  What can be said of
the single step is said here: no exception, finals stay, deadlines and awaited tickets
fit the spec, the clause that decides (`specified`) was followed, `across`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
from deedbox import Due, Refused
from deedbox.step import Step, step
from deedbox_dsl import core
from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH
from ..expressions.evaluate import Scene, Truth, phase, truth
from ..expressions.trees import inline
from ..instance.abstraction import explored_own
from ..instance.model import Model
from ..time.distances import Concrete, realised
from .specified import GuardedClause, Specified, specified


class Reaction(Struct, frozen=True):
    """`state` None: nothing changes.  `broken`: properties that this step breaks.

    `withdrawn`: the interpreter removes the row of the issue that was awaited.
    """

    state: Struct | None = None
    commands: tuple[Struct, ...] = ()
    withdrawn: bool = False
    refused: str = ""
    broken: tuple[str, ...] = ()
    raised: str = ""


class Pair(Struct, frozen=True):
    """What a reducer is given, as copies of its own."""

    state: Struct | None
    message: Struct

    @staticmethod
    def of(state: Struct | None, message: Struct) -> Pair:
        return Pair(None if state is None else with_fields(state), with_fields(message))


@dataclass(frozen=True, slots=True)
class Across:
    name: str
    holds: Truth
    premise: Truth | None


@dataclass(slots=True, eq=False)
class Reactions:
    """Memoised reactions; remembers which clauses were followed and which premises met.

    `owes`: what is broken by owing such commands.
    """

    model: Model
    specified: Specified
    across: tuple[Across, ...]
    step: Callable[..., Step[Any, Any] | Refused]
    exact: bool = False
    owes: Callable[[Iterable[Struct]], tuple[str, ...]] = lambda _: ()
    followed: set[int] = field(default_factory=set[int])
    met: set[str] = field(default_factory=set[str])
    known: dict[tuple[Struct | None, Struct], tuple[Reaction, ...]] = field(
        default_factory=dict[tuple[Struct | None, Struct], tuple[Reaction, ...]]
    )

    def of(self, state: Struct | None, message: Struct) -> tuple[Reaction, ...]:
        found = self.known.get((state, message))
        if found is None:
            found = tuple(dict.fromkeys(self._all(state, message)))
            self.known[state, message] = found
        return found

    def _all(self, state: Struct | None, message: Struct) -> Iterator[Reaction]:
        if self.exact:
            yield self._once(Concrete(state, message))
            return
        name = self.model.trigger(message)
        if isinstance(message, Due) and state is not None:
            name = f"at {self.specified.due_field(state)}"
        look = self.model.looks.get((phase(state) or "", name), ())
        steps = realised(self.model.points, state, look, message)
        for concrete in dict.fromkeys(steps):
            yield self._once(concrete)

    def _once(self, concrete: Concrete) -> Reaction:
        machine, state, message = self.model.machine, concrete.state, concrete.message
        self.model.spread.drawn = dict(concrete.delays)
        one, two = Pair.of(state, message), Pair.of(state, message)
        try:
            result = self.step(machine, one.state, one.message)
            again = self.step(machine, two.state, two.message)
        except Exception as error:
            return Reaction(broken=("no_exception",), raised=f"{error!r}")
        same = result == again and one == two == Pair(state, message)
        broken: tuple[str, ...] = () if same else ("deterministic",)
        chosen = None if state is None else self.specified.chosen(state, message)
        if chosen is None and state is not None and self._unheard(state, message):
            broken += ("total",)
        if chosen is not None:
            self.followed.add(chosen.number)
        if isinstance(message, Due) and self._stays_due(state, result):
            broken += ("no_spin",)
        if isinstance(result, Refused):
            if chosen is not None and not refuses(chosen.clause):
                broken += ("as_specified",)
            return Reaction(refused=result.kind, broken=broken)
        new = cast(Struct, result.state)
        broken += tuple(self._step_breaks(state, message, new, chosen))
        if not all(map(survives, (new, message, *result.owed))):
            broken += ("survives_storage",)
        broken += self.owes(cast("tuple[Struct, ...]", result.owed))
        if not result.changed:
            return Reaction(refused="unchanged", broken=broken)
        return Reaction(
            explored_own(self.model, new, exact=self.exact),
            cast("tuple[Struct, ...]", result.owed),
            result.withdrawn is not None,
            broken=broken,
        )

    def _step_breaks(
        self,
        old: Struct | None,
        message: Struct,
        new: Struct,
        chosen: GuardedClause | None,
    ) -> Iterator[str]:
        machine = self.model.machine
        starts = isinstance(message, cast("type[Struct]", machine.start_type))
        if (
            old is not None
            and type(old) in machine.finals
            and not starts
            and old != new
        ):
            yield "finals_stay"
        if isinstance(message, Due) and old is not None and old != new:
            wake = machine.wake(old)
            if wake is None or wake > EPOCH:
                yield "no_early_wake"
        if old is not None and not starts and chosen is None and old != new:
            yield (
                "late_answers_change_nothing"
                if (type(message) in self.model.outcomes)
                else "as_specified"
            )
        if chosen is not None and not leads_to(chosen.clause, phase(new)):
            yield "as_specified"
        if machine.wake(new) != self.specified.soonest(new):
            yield "wakes_at_the_soonest_deadline"
        awaits = self.specified.declared(new).awaits
        if (machine.awaited(new) is None) != (awaits is None):
            yield "awaits_as_declared"
        for stated in self.across if old is not None else ():
            scene = Scene(state=new, old=old, new=new, now=EPOCH, message=message)
            if stated.premise is None or stated.premise(scene):
                self.met.add(stated.name)
            if not stated.holds(scene):
                yield stated.name

    def _stays_due(
        self, state: Struct | None, result: Step[Any, Any] | Refused
    ) -> bool:
        """Whether a deadline has fired and nothing came of it, so that it fires for ever."""
        wake = None if state is None else self.model.machine.wake(state)
        idle = isinstance(result, Refused) or not result.changed
        return idle and wake is not None and wake <= EPOCH

    def _unheard(self, state: Struct, message: Struct) -> bool:
        """Whether it is a message of the machine of which nothing is said in this state."""
        machine = self.model.machine
        return type(message) in machine.messages and type(state) not in machine.finals


def survives(struct: Struct) -> bool:
    encoded = msgspec.json.encode(struct)
    try:
        return bool(msgspec.json.decode(encoded, type=type(struct)) == struct)
    except msgspec.MsgspecError:
        return False


def refuses(clause: core.Clause) -> bool:
    return clause.body is None or isinstance(clause.body.exit, core.Reject)


def leads_to(clause: core.Clause, name: str | None) -> bool:
    if clause.body is None:
        return False
    match clause.body.exit:
        case core.Goto(state=state):
            return state == name
        case core.Stay():
            return clause.state == name
        case core.Reject():
            return False


def reactions(
    model: Model,
    *,
    exact: bool = False,
    step: Callable[..., Step[Any, Any] | Refused] = step,
    owes: Callable[[Iterable[Struct]], tuple[str, ...]] = lambda _: (),
) -> Reactions:
    """`exact`: instants are milliseconds from now, delays are the longest."""
    ladders = {ladder.name: ladder for ladder in model.spec.ladders}
    across: list[Across] = []
    for stated in model.spec.properties:
        if stated.word == "across":
            expr = inline(stated.pred.expr, ladders)
            premise = None
            if isinstance(expr, core.Binary) and expr.operator == "implies":
                premise = truth(expr.left)
            across.append(Across(stated.name, truth(expr), premise))
    return Reactions(model, specified(model), tuple(across), step, exact, owes)
