"""Finite time: the order of the live points and now, and nothing else.

A point is an instant field, or one field and a constant, that an `at`, a guard or a
property looks at.  Which they are is read off the spec; a state in explored form holds
them as ranks (`ranks`).  An instant that is no point is now: a step that looks at it
finds it anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from deedbox_dsl import core

from ..expressions.bodies import own_expressions, sets
from ..expressions.endless import Endless
from ..expressions.filled import filled_with
from ..expressions.trees import inline, rebuilt, walk
from ..expressions.types import is_instant
from ..scans.pages import is_due
from .sums import SEVERAL_DISTANCES, Sum, asked, comparisons_in


@dataclass(frozen=True, slots=True)
class Points:
    """For each instant field that is a point, the constant between it and its point.

    `exact`: something tells *at* a point from *after* it; else the two are one place.
    `behind`: fields that never hold an instant ahead of now.
    """

    offsets: Mapping[str, int]
    exact: bool
    behind: frozenset[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison of instants is about: `many` for each stored one, and a number.

    `fixed` None: at several distances.  `now`: how often now is in it.
    """

    stored: Mapping[str, int]
    fixed: int | None
    now: int
    operator: str


def points(machine: core.Machine) -> Points:
    """Which instants of the machine are points, and whether their own place counts."""
    said = [*found_in(machine, state_predicates(machine))]
    looked = [*found_in(machine, (*behaviour(machine), *crossings(machine)))]
    offsets = {name: 0 for state in machine.states for name in state.deadlines}
    for each in said:
        settle(each, offsets)
    distances: dict[str, set[int | None]] = {}
    for each in looked:
        if len(each.stored) == 1 and each.now:
            ((name, factor),) = each.stored.items()
            fixed = None if each.fixed is None else factor * each.fixed
            distances.setdefault(name, set()).add(fixed)
    loose: set[str] = set()
    for name, known in distances.items():
        (offset, *more) = known
        if more or offset is None:
            loose.add(name)
        else:
            offsets.setdefault(name, offset)
    loose -= offsets.keys()
    beside = {name for each in looked for name in each.stored}
    beside |= {name for expr in behaviour(machine) for name in chosen_among(expr)}
    for name in sorted(beside - loose):
        offsets.setdefault(name, 0)
    exact = any(
        not at_or_after(each) and each.stored.keys() & offsets.keys() for each in looked
    )
    return Points(offsets, exact, behind(machine))


def settle(said: Comparison, offsets: dict[str, int]) -> None:
    """Gives the stored instants of what is said of a state the points that show it."""
    match list(said.stored.items()):
        case []:
            return
        case [(one, 1), (two, -1)] | [(two, -1), (one, 1)] if said.fixed is not None:
            if two not in offsets:
                offsets[two] = offsets.setdefault(one, 0) - said.fixed
            elif offsets.setdefault(one, offsets[two] + said.fixed) != (
                offsets[two] + said.fixed
            ):
                raise Endless(one, SEVERAL_DISTANCES)
        case listed:
            raise Endless(listed[0][0], SEVERAL_DISTANCES)


def found_in(machine: core.Machine, roots: Iterable[core.Expr]) -> Iterator[Comparison]:
    for compared in comparisons_in(roots):
        if machine.kind == "scan" and is_due(compared):
            continue
        for each in asked(compared):
            yield comparison(each, compared.operator)


def comparison(each: Sum, operator: str) -> Comparison:
    stored: dict[str, int] = {}
    now, others = 0, 0
    for part, many in each.parts:
        if not is_instant(part.type):
            others += 1
            continue
        now -= many
        match part:
            case core.Read(name=name):
                stored[name] = many
            case _:
                others += 1
    return Comparison(stored, None if others else each.fixed, now, operator)


def at_or_after(each: Comparison) -> bool:
    """Whether a comparison asks only if now has reached a point."""
    if each.now > 0:
        return each.operator in (">=", "<")
    return not each.now or each.operator in ("<=", ">")


def state_predicates(machine: core.Machine) -> Iterator[core.Expr]:
    """What the properties say of a stored state."""
    for stated in machine.properties:
        if stated.word != "across":
            yield stated.pred.expr
            if stated.target is not None:
                yield stated.target.expr


def crossings(machine: core.Machine) -> Iterator[core.Expr]:
    """What the properties say of a step, its two states by the names of their fields."""
    for stated in machine.properties:
        if stated.word == "across":
            yield sides_as_state(stated.pred.expr)


def sides_as_state(expr: core.Expr) -> core.Expr:
    match expr:
        case core.Side(name=name, type=type, span=span):
            return core.Read("state", name, type, span)
        case _:
            return rebuilt(expr, sides_as_state)


def behaviour(machine: core.Machine) -> Iterator[core.Expr]:
    """What the machine itself looks at and sets."""
    ladders = {ladder.name: ladder for ladder in machine.ladders}
    for expr in own_expressions(machine):
        yield inline(expr, ladders, jittered=True)


def read_instants(machine: core.Machine) -> set[str]:
    """The stored instants that anything looks at, beyond handing them on as they are."""
    roots = [*behaviour(machine), *crossings(machine), *state_predicates(machine)]
    return {
        part.name
        for root in roots
        if not isinstance(root, core.Read)
        for part in walk(root)
        if isinstance(part, core.Read) and is_instant(part.type)
    } | {name for state in machine.states for name in state.deadlines}


def chosen_among(expr: core.Expr) -> Iterator[str]:
    """The stored instants among which a step takes the earliest or the latest."""
    for part in walk(expr):
        if isinstance(part, core.Call) and is_instant(part.type):
            for inner in walk(part):
                if isinstance(inner, core.Read) and is_instant(inner.type):
                    yield inner.name


def behind(machine: core.Machine) -> frozenset[str]:
    """The fields that are only set to now, to what came before it, and to one another."""
    instants = {
        field.name
        for state in machine.states
        for field in state.fields
        if is_instant(field.type)
    }
    # An older version may have set what is migrated to anything.
    instants -= {
        each.field
        for migration in machine.migrations
        for state in migration.states
        for each in state.fields
        if not isinstance(each.value, core.Now)
    }
    return filled_with(is_never_ahead, sets(machine), instants)


def is_never_ahead(value: core.Expr) -> bool:
    match value:
        case core.Constant(value=None) | core.Now():
            return True
        case _:
            return False
