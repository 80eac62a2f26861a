"""The clauses of a state as one function: a `match` on the message, flat and total.

The guards of one trigger become a sequence of `if … : return …`, in the order of
the spec, and the last clause stands without one.  A `Due` looks for the earliest
deadline that has come, ties in spec order; an answer is taken only with the ticket
that the state holds, and any other falls through to `_late`.
A way into a state that several clauses take is a function that they call; one
that a single clause takes stands where it is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from deedbox_dsl import core
from deedbox_dsl.spelling import snake
from deedbox_dsl.types import INT, Maybe, RecordType, Type

from . import plan
from .arrivals import arrival
from .deeds import Shape, Use, shape
from .expressions import Place, items_of, typed
from .lines import WIDTH, guarded, reference
from .naming import LOCALS, Functions, is_pythons, outcome_class
from .owing import Owables, owed
from .quoting import literal
from .ways import Way

TAKEN = LOCALS | {"soonest", "anew"}
"""What a reducer's function calls or holds by itself."""


@dataclass(frozen=True, slots=True)
class Context:
    """What the clauses of one machine need to know of it."""

    machine: core.Machine
    owables: Owables
    fields: Mapping[str, Mapping[str, Type]]
    functions: Functions
    ways: Mapping[Shape, Way]
    place: Place
    starts_again: str


def reducer(context: Context, state: core.State) -> plan.Reducer:
    """The function of a state that is not final."""
    lines = _Lines(context, state)
    grouped: dict[str, list[core.Clause]] = {}
    for clause in context.machine.clauses:
        if clause.state == state.name:
            grouped.setdefault(_pattern(clause.trigger), []).append(clause)
    cases = [lines.case(pattern, clauses) for pattern, clauses in grouped.items()]
    if "Due" not in grouped or len(state.deadlines) == 1:
        cases.append(plan.Case(("Due",), ("return NOT_DUE",)))
    cases.append(plan.Case(("Start",), (context.starts_again,)))
    return plan.Reducer(
        context.functions.states[state.name], (state.name,), tuple(cases)
    )


def ended(context: Context, finals: tuple[str, ...]) -> plan.Reducer:
    """The function of all final states: only a start may move them."""
    cases = [
        plan.Case(("Start",), (context.starts_again,)),
        plan.Case(("Due",), ("return NOT_DUE",)),
    ]
    if context.machine.messages:
        messages = tuple(each.name for each in context.machine.messages)
        cases.append(plan.Case(messages, ("return ENDED",)))
    return plan.Reducer("_ended", finals, tuple(cases))


@dataclass(slots=True)
class _Lines:
    """The lines of one state's function, and the local names it has given so far."""

    context: Context
    state: core.State
    locals: dict[str, Type] = field(default_factory=dict[str, Type])

    def case(self, pattern: str, clauses: Sequence[core.Clause]) -> plan.Case:
        soonest = pattern == "Due" and len(self.state.deadlines) > 1
        body = self._due(clauses) if soonest else self._sequence(clauses, clauses, 12)
        guard = "" if soonest else self._guard(clauses[0].trigger)
        ref = reference(clauses[0].span) if len(clauses) == 1 else ""
        fits = len(f"        case {pattern}(){guard}:{ref}") <= WIDTH
        return plan.Case(
            (pattern,),
            tuple(body),
            reference=ref if fits else "",
            guard=guard,
            above="" if fits else ref.strip(),
        )

    def _guard(self, trigger: core.Trigger) -> str:
        """When the message may move this state at all."""
        match trigger:
            case core.OnMessage():
                return ""
            case core.OnOutcome():
                return " if msg.ticket == state.ticket"
            case core.AtDeadline():
                due = f"state.{trigger.field}"
                kind = self.context.fields[self.state.name][trigger.field]
                armed = f"{due} is not None and " if isinstance(kind, Maybe) else ""
                return f" if {armed}msg.at >= {due}"
            case _:
                assert_never(trigger)

    def _due(self, clauses: Sequence[core.Clause]) -> list[str]:
        """Of several deadlines, the soonest."""
        waiting = self.state.deadlines
        lines = [
            "soonest = wake(state)",
            "if soonest is None or msg.at < soonest:",
            "    return NOT_DUE",
        ]
        for name in waiting:
            own = [each for each in clauses if each.trigger == core.AtDeadline(name)]
            if name == waiting[-1]:
                lines += self._sequence(own, clauses, 12)
            else:
                lines.append(f"if state.{name} == soonest:")
                lines += [f"    {each}" for each in self._sequence(own, clauses, 16)]
        return lines

    def _sequence(
        self,
        clauses: Sequence[core.Clause],
        group: Sequence[core.Clause],
        depth: int,
    ) -> list[str]:
        """The clauses of one trigger; a case of one clause has its reference already."""
        lines: list[str] = []
        for clause in clauses:
            place = self._place(clause)
            ref = reference(clause.span) if len(group) > 1 else ""
            body = self._body(clause, place)
            lines += guarded(clause.guard, body, ref, place, depth)
        if clauses[-1].guard is not None:
            raise AssertionError(f"{clauses[-1].span}: the last clause has a guard")
        return lines

    def _place(self, clause: core.Clause) -> Place:
        """Names for the lets and items of the clause; one name has one type a function."""
        names: dict[str, str] = {}
        exprs: list[core.Expr] = [] if clause.guard is None else [clause.guard]
        if clause.body is not None:
            for let in clause.body.lets:
                names[let.name] = self._local(let.name, let.value.type)
            exprs += [let.value for let in clause.body.lets]
            if not isinstance(clause.body.exit, core.Reject):
                exprs += [each.value for each in clause.body.exit.fields]
            for issue in owed(clause.body):
                exprs += issue.arguments
        for expr in exprs:
            for item in items_of(expr):
                names.setdefault(item, self._free(item))
        return replace(self.context.place, locals=names)

    def _local(self, name: str, type_: Type) -> str:
        free = self._free(name)
        while self.locals.setdefault(free, type_) != type_:
            free += "_"
        return free

    def _free(self, name: str) -> str:
        return f"{name}_" if name in TAKEN or is_pythons(name) else name

    def _body(self, clause: core.Clause, place: Place) -> list[str]:
        if clause.body is None:
            text = f"{clause.state} ignores {trigger_text(clause.trigger)}"
            return [f'return Refused("ignored", {literal(text)})']
        lines = [
            f"{place.locals[let.name]} = {typed(let.value, let.value.type, place)}"
            for let in clause.body.lets
        ]
        match clause.body.exit:
            case core.Reject():
                text = literal(clause.body.exit.text)
                return [*lines, f'return Refused("rejected", {text})']
            case core.Stay() if _changes_nothing(clause.body):
                return [*lines, "return state, ()"]
            case core.Stay() | core.Goto():
                return [*lines, *self._goes(Use(clause.state, clause.body), place)]
            case _:
                assert_never(clause.body.exit)

    def _goes(self, use: Use, place: Place) -> Sequence[str]:
        context, shape_ = self.context, shape(use)
        way = context.ways.get(shape_)
        if way is not None:
            types = context.fields[shape_.target]
            return [f"return {way.call(use.body, place, types, context.owables)}"]
        kind = RecordType(shape_.target, context.machine.name, ())
        local = self._local(snake(shape_.target), kind)
        number = self._local("n", INT)
        while number in place.locals.values():
            number += "_"
        return arrival(context.machine, use, place, number, local).lines


def _changes_nothing(body: core.Body) -> bool:
    return (
        isinstance(body.exit, core.Stay)
        and not body.issues
        and all(
            isinstance(each.value, core.Read)
            and each.value.scope == "state"
            and each.value.name == each.field
            for each in body.exit.fields
        )
    )


def _pattern(trigger: core.Trigger) -> str:
    match trigger:
        case core.OnMessage():
            return trigger.message
        case core.OnOutcome():
            return outcome_class(trigger.command, trigger.outcome)
        case core.AtDeadline():
            return "Due"
        case _:
            assert_never(trigger)


def trigger_text(trigger: core.Trigger) -> str:
    """As the spec writes it."""
    match trigger:
        case core.OnMessage():
            return trigger.message
        case core.OnOutcome():
            return f"{trigger.command}.{trigger.outcome}"
        case core.AtDeadline():
            return f"at {trigger.field}"
        case _:
            assert_never(trigger)
