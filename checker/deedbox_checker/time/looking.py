"""What a step looks at: for each clause, the differences that it can tell apart.

They are what is compared up to its guard and in its body, how the instants that it
leaves stored lie to one another and to now, and what an `across` asks of it.  Each is a
difference of two places: instants, now, or one of these and a length from outside.
Read off the spec once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from deedbox_dsl import core

from ..data.domain import Domain
from ..expressions.bodies import body_expressions, body_sets
from ..expressions.evaluate import Truth, truth
from ..expressions.trees import rebuilt
from ..expressions.types import is_length
from ..scans.pages import is_due
from .places import Eye, Place, arranged
from .points import Points
from .sums import Lengths, Sum, asked, comparisons_in, constant, is_timeless, sums


@dataclass(frozen=True, slots=True)
class Case:
    """One clause.  `when`: what of its guard no time can change; `only`: that is all of it.

    `asked`: pairs of places, counted from 1, 0 is now, and what is added to the first
    less the second where it is asked how that lies to zero.
    """

    when: Truth | None
    only: bool
    places: tuple[Place, ...]
    asked: tuple[tuple[int, int, Lengths], ...]


Look: TypeAlias = tuple[Case, ...]
Looks: TypeAlias = Mapping[tuple[str, str], Look]
"""By state (empty: none yet) and trigger."""


def looks(spec: core.Machine, points: Points, data: Domain) -> Looks:
    """What the steps of a machine look at."""
    eye = Eye(spec, points, data)
    found: dict[tuple[str, str], list[Case]] = {}
    begun = started(spec.start)
    found["", "Start"] = [case(eye, "", (), begun, begins=True)]
    for state in spec.states:
        cases = found.setdefault((state.name, "Start"), [])
        guards: list[core.Expr] = []
        for again in spec.again:
            if again.guard is not None:
                guards.append(again.guard)
            body = None
            if isinstance(again.exit, core.Replace):
                body = overridden(begun, again.exit)
            cases.append(
                case(
                    eye, state.name, tuple(guards), body, last=again.guard, begins=True
                )
            )
    known: dict[tuple[str, str], list[core.Expr]] = {}
    for clause in spec.clauses:
        trigger = trigger_name(clause.trigger)
        earlier = known.setdefault((clause.state, trigger), [])
        if clause.guard is not None:
            earlier.append(clause.guard)
        found.setdefault((clause.state, trigger), []).append(
            case(eye, clause.state, tuple(earlier), clause.body, last=clause.guard)
        )
    return {place: tuple(cases) for place, cases in found.items()}


def stored_instants(look: Look) -> list[str]:
    """The names of the stored instants that a step looks at."""
    found = {
        str(place.path[1])
        for case in look
        for place in case.places
        if not place.sign and place.path[0] == "state"
    }
    return sorted(found)


def trigger_name(trigger: core.Trigger) -> str:
    """By what a clause is found: a message, an outcome, the deadline that fires."""
    match trigger:
        case core.OnMessage(message):
            return message
        case core.OnOutcome(command, outcome):
            return f"{command}.{outcome}"
        case core.AtDeadline(field=name):
            return f"at {name}"


def started(body: core.Body) -> core.Body:
    """The start block, which reads what the message brings."""

    def brought(expr: core.Expr) -> core.Expr:
        match expr:
            case core.Read(scope="key" | "given", name=name, type=type, span=span):
                return core.Bound(name, type, span)
            case _:
                return rebuilt(expr, brought)

    return with_sets(
        body,
        {each.field: brought(each.value) for each in body_sets(body)},
        tuple(brought(expr) for expr in body_expressions(body)),
    )


def with_sets(
    body: core.Body, values: Mapping[str, core.Expr], looked: tuple[core.Expr, ...]
) -> core.Body:
    """A body that sets these fields; what else it looks at stands in its `let`s."""
    lets = tuple(core.Let(f"{n}", each) for n, each in enumerate(looked))
    sets = tuple(core.Set(name, each) for name, each in values.items())
    match body.exit:
        case core.Goto(state=state):
            return core.Body(lets, (), core.Goto(state, sets))
        case core.Stay() | core.Reject():
            return core.Body(lets, (), body.exit)


def overridden(begun: core.Body, exit: core.Replace) -> core.Body:
    values = {each.field: each.value for each in body_sets(begun)}
    values |= {each.field: each.value for each in exit.overrides}
    return with_sets(begun, values, tuple(body_expressions(begun)))


# ---- one clause --------------------------------------------------------------------


def case(
    eye: Eye,
    state: str,
    guards: tuple[core.Expr, ...],
    body: core.Body | None,
    *,
    last: core.Expr | None = None,
    begins: bool = False,
) -> Case:
    """`guards`: of the clauses up to this one, whose own is the `last`."""
    parts = [] if last is None else list(conjuncts(eye.plain(last)))
    certain = [truth(part) for part in parts if is_timeless(part)]
    only = len(certain) == len(parts)
    compared = [eye.plain(guard) for guard in guards]
    wanted: list[Sum] = []
    if body is not None and not isinstance(body.exit, core.Reject):
        compared += map(eye.plain, body_expressions(body))
        target, values = left_stored(eye, state, body, begins)
        compared += crossed(eye, state, target, values)
        wanted += ordered(eye, values)
        wanted += classed(eye, target, values)
    for expr in comparisons_in(compared):
        if eye.spec.kind != "scan" or not is_due(expr):
            wanted += asked(expr)
    places, pairs = arranged(eye, state, wanted)
    return Case(
        None if not certain else lambda scene: all(each(scene) for each in certain),
        only,
        places,
        pairs,
    )


def conjuncts(guard: core.Expr) -> Iterator[core.Expr]:
    match guard:
        case core.Binary(operator="and", left=left, right=right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield guard


def left_stored(
    eye: Eye, state: str, body: core.Body, begins: bool
) -> tuple[str, dict[str, core.Expr]]:
    """The state that a body goes to, and what it leaves in its fields and the given."""
    target = body.exit.state if isinstance(body.exit, core.Goto) else state
    values: dict[str, core.Expr] = {
        each.name: core.Bound(each.name, each.type, each.span)
        if begins
        else core.Read("given", each.name, each.type, each.span)
        for each in eye.spec.given
    }
    values |= {each.field: eye.plain(each.value) for each in body_sets(body)}
    return target, values


def ordered(eye: Eye, values: Mapping[str, core.Expr]) -> Iterator[Sum]:
    """How the points that are left stored lie to now and to one another."""
    found: list[tuple[Sum, ...]] = []
    for name, expr in values.items():
        if name in eye.points.offsets and not is_none(expr):
            offset = constant(eye.points.offsets[name])
            found.append(tuple(each.plus(offset) for each in sums(expr)))
    for n, these in enumerate(found):
        yield from these
        for others in found[:n]:
            yield from (one.minus(two) for one in these for two in others)


def is_none(expr: core.Expr) -> bool:
    return isinstance(expr, core.Constant) and expr.value is None


def classed(eye: Eye, target: str, values: Mapping[str, core.Expr]) -> Iterator[Sum]:
    """How the lengths that are left stored lie to the constants that tell them apart."""
    fields = {
        each.name: each.type
        for state in eye.spec.states
        if state.name == target
        for each in (*state.fields, *eye.spec.given)
    }
    for name, expr in values.items():
        kind = fields.get(name, expr.type)
        if is_length(kind) and not is_none(expr):
            for cut in eye.data.cuts_of(kind):
                yield from (each.plus(constant(-cut)) for each in sums(expr))


def crossed(
    eye: Eye, state: str, target: str, values: Mapping[str, core.Expr]
) -> Iterator[core.Expr]:
    """What an `across` compares in this step, in what is known before it."""
    for stated in eye.spec.properties:
        if stated.word == "across" and state:
            expr = eye.plain(stated.pred.expr)
            for part in comparisons_in(reached(expr, state, target)):
                before = as_before(part, values)
                if before is not None:
                    yield before


def reached(expr: core.Expr, old: str, new: str) -> Iterator[core.Expr]:
    """The parts of a property that a step between these phases comes to."""
    match expr:
        case core.Binary(operator="implies" | "and", left=left, right=right):
            yield from reached(left, old, new)
            if phases(left, old, new) is not False:
                yield from reached(right, old, new)
        case _:
            yield expr


def phases(expr: core.Expr, old: str, new: str) -> bool | None:
    """What an expression is by the phases alone; None: they do not say."""
    match expr:
        case core.PhaseIs(subject=subject, states=states):
            return (old if subject == "old" else new) in states
        case core.Not(operand=operand):
            inner = phases(operand, old, new)
            return None if inner is None else not inner
        case core.Binary(operator="and", left=left, right=right):
            both = (phases(left, old, new), phases(right, old, new))
            return False if False in both else None if None in both else True
        case core.Binary(operator="or", left=left, right=right):
            both = (phases(left, old, new), phases(right, old, new))
            return True if True in both else None if None in both else False
        case _:
            return None


def as_before(expr: core.Expr, values: Mapping[str, core.Expr]) -> core.Expr | None:
    """`old.x` and `new.x` by what they are before the step; None: there is no such field."""
    missing = False

    def before(inner: core.Expr) -> core.Expr:
        nonlocal missing
        match inner:
            case core.Side(side="old", name=name, type=type, span=span):
                return core.Read("state", name, type, span)
            case core.Side(name=name):
                if name not in values:
                    missing = True
                    return inner
                return values[name]
            case _:
                return rebuilt(inner, before)

    found = before(expr)
    return None if missing else found
