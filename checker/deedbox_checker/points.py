"""Finite time: the order of the live points and now, and nothing else.

A point is an instant field, or one field and a constant, that an `at`, a guard or a
property looks at.  A state in explored form holds its instants as ranks: how many
points lie between it and now, before or after.  To take a step the ranks become
milliseconds in every way that the step could tell apart: each later point before,
at and after each instant `now + d` which the step can make.  What the reducer then
makes is exact, and becomes ranks again.  An instant that nothing looks at is now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

from deedbox_dsl import core
from deedbox_dsl.types import Base, Declared
from msgspec import Struct
from msgspec.structs import replace

from .domain import (
    COMPARISONS,
    EPOCH,
    bare,
    expressions,
    is_instant,
)
from .evaluate import Scene, truth, walk

UNIT = 10_000_000_000


class TwoDistances(Exception):
    """An instant field is compared in ways whose order is not finite."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.field = name


@dataclass(frozen=True, slots=True)
class Points:
    """For each instant field that is looked at, the constant between it and its point.

    `loose`: fields compared at many distances (the start of a budget against every delay
    of a ladder).  They have no rank; every step that looks at one tries all distances,
    which is more than can happen, and never less.
    `exact`: something tells *at* a point from *after* it; else the two are one place.
    """

    offsets: Mapping[str, int]
    loose: frozenset[str]
    exact: bool


def is_duration(expr: core.Expr) -> bool:
    match bare(expr.type):
        case Declared(base=Base.DURATION) | Base.DURATION:
            return True
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of instants, of now, and of a constant."""

    fields: Mapping[str, int]
    now: int
    constant: int


def linear(expr: core.Expr) -> Linear | None:
    """`expr` as a sum, or None when a part of it is not known before the step."""
    match expr:
        case core.Now():
            return Linear({}, 1, 0)
        case core.Constant(value=int(constant)):
            return Linear({}, 0, constant)
        case core.Read(name=name) if is_instant(expr.type):
            return Linear({name: 1}, 0, 0)
        case core.Known(target=target):
            return linear(target)
        case core.Binary(operator="+" | "-", left=left, right=right):
            one, two = linear(left), linear(right)
            if one is None or two is None:
                return None
            sign = 1 if expr.operator == "+" else -1
            fields = dict(one.fields)
            for name, factor in two.fields.items():
                fields[name] = fields.get(name, 0) + sign * factor
            return Linear(
                fields, one.now + sign * two.now, one.constant + sign * two.constant
            )
        case _:
            return None


def is_timely(expr: core.Expr) -> bool:
    """Whether it compares instants, or lengths of time."""
    return (
        isinstance(expr, core.Binary)
        and expr.operator in COMPARISONS
        and (is_instant(expr.left.type) or is_duration(expr.left))
    )


def points(machine: core.Machine) -> Points:
    """Which instants of the machine are points, and whether their own place counts."""
    deadlines = {name for state in machine.states for name in state.deadlines}
    offsets: dict[str, set[int]] = {name: {0} for name in deadlines}
    many: set[str] = set()
    beside: set[str] = set()
    exact = False
    for expr in expressions(machine):
        found = instants(expr)
        if isinstance(expr, core.Call):
            beside |= found
        if not isinstance(expr, core.Binary) or not is_timely(expr) or not found:
            continue
        exact = exact or not at_or_after(expr)
        if len(found) > 1:
            beside |= found
            continue
        (name,) = found
        one, two = linear(expr.left), linear(expr.right)
        if any(isinstance(part, core.Side) for part in walk(expr)):
            beside.add(name)
        elif one is None or two is None:
            many.add(name)
        else:
            factor = one.fields.get(name, 0) - two.fields.get(name, 0)
            distance = factor * (one.constant - two.constant)
            offsets.setdefault(name, set()).add(distance)
    loose = {name for name, known in offsets.items() if len(known) > 1} | many
    loose -= deadlines
    for name in loose & beside:
        raise TwoDistances(name)
    ranked = {name: min(known) for name, known in offsets.items() if name not in loose}
    for name in beside | deadlines:
        ranked[name] = 0
    return Points(ranked, frozenset(loose), exact)


def at_or_after(expr: core.Binary) -> bool:
    """Whether a comparison asks only if now has reached a point."""
    one, two = linear(expr.left), linear(expr.right)
    if one is None or two is None:
        left_now = any(isinstance(part, core.Now) for part in walk(expr.left))
        right_now = any(isinstance(part, core.Now) for part in walk(expr.right))
        now = int(left_now) - int(right_now)
    else:
        now = one.now - two.now
    return (now > 0 and expr.operator in (">=", "<")) or (
        now < 0 and expr.operator in ("<=", ">")
    )


def instants(expr: core.Expr) -> set[str]:
    """The names of the stored instants that occur in `expr`."""
    return {
        part.name
        for part in walk(expr)
        if isinstance(part, core.Read | core.Side) and is_instant(part.type)
    }


def spans(expr: core.Expr, message: Struct | None, state: Struct | None) -> set[int]:
    """The lengths which a duration may have in this step."""
    match expr:
        case core.Constant(value=int(constant)):
            return {constant}
        case core.Bound(name=name):
            return {cast(int, getattr(message, name))}
        case core.Read(name=name):
            return {cast(int, getattr(state, name, 0) or 0)}
        case core.Known(target=target):
            return spans(target, message, state)
        case core.Conditional(test=test, yes=yes, no=no):
            if is_settled(test):
                holds = truth(test)(Scene(state=state, message=message))
                return spans(yes if holds else no, message, state)
            return spans(yes, message, state) | spans(no, message, state)
        case core.Binary(operator="+" | "-" | "*" as operator, left=left, right=right):
            pairs = [
                (one, two)
                for one in spans(left, message, state)
                for two in spans(right, message, state)
            ]
            match operator:
                case "+":
                    return {one + two for one, two in pairs}
                case "-":
                    return {one - two for one, two in pairs}
                case "*":
                    return {one * two for one, two in pairs}
        case core.Call(arguments=arguments):
            return {span for part in arguments for span in spans(part, message, state)}
        case _:
            return set()


def is_settled(test: core.Expr) -> bool:
    """Whether a condition asks for nothing but numbers of the state."""
    return all(
        isinstance(part, core.Constant | core.Binary)
        or (isinstance(part, core.Read) and part.scope == "state")
        for part in walk(test)
    ) and not instants(test)


def reaches(
    roots: Iterable[core.Expr], message: Struct | None, state: Struct | None
) -> set[int]:
    """How far from now the instants are that these expressions make."""
    found: set[int] = set()
    for root in roots:
        for part in walk(root):
            if (
                isinstance(part, core.Binary)
                and part.operator in ("+", "-")
                and is_instant(part.type)
            ):
                sign = 1 if part.operator == "+" else -1
                found |= {sign * span for span in spans(part.right, message, state)}
    return {span for span in found if span > 0}


def after(expr: core.Expr, message: Struct | None, state: Struct | None) -> set[int]:
    """How far `expr` may lie after the one instant, or the now, that it is made of."""
    match expr:
        case core.Binary(operator="+" | "-", left=left, right=right):
            sign = 1 if expr.operator == "+" else -1
            return {
                one + sign * two
                for one in after(left, message, state)
                for two in spans(right, message, state)
            }
        case _:
            return {0}


def ages(
    name: str,
    roots: Iterable[core.Expr],
    message: Struct | None,
    state: Struct | None,
) -> set[int]:
    """The ages of an instant field at which a comparison of these expressions turns."""
    found: set[int] = set()
    for root in roots:
        for part in walk(root):
            if not isinstance(part, core.Binary) or not is_timely(part):
                continue
            if instants(part) != {name}:
                continue
            one, two = part.left, part.right
            if is_duration(one):
                one, two = (one, two) if instants(one) else (two, one)
                if not isinstance(one, core.Binary):
                    raise TwoDistances(name)
                since, until = one.right, one.left
                lengths = spans(two, message, state)
            else:
                since, until = (one, two) if instants(one) else (two, one)
                lengths = {0}
            found |= {
                length + late - soon
                for length in lengths
                for late in after(since, message, state)
                for soon in after(until, message, state)
            }
    return {age for turn in found for age in (turn - 1, turn, turn + 1) if age >= 0}


# ---- ranks ---------------------------------------------------------------------


def live(points: Points, state: Struct) -> dict[str, int]:
    """The points of a state: field, and its distance from now."""
    found: dict[str, int] = {}
    for name, offset in points.offsets.items():
        stored = cast("int | None", getattr(state, name, None))
        if stored is not None:
            found[name] = stored + offset - EPOCH
    return found


def placed(points: Points, state: Struct, distances: Mapping[str, int]) -> Struct:
    """The state with its points at these distances from now."""
    changes = {
        name: EPOCH + distance - points.offsets[name]
        for name, distance in distances.items()
    }
    return replace(state, **changes) if changes else state


def ranked(points: Points, state: Struct) -> Struct:
    """The state with every point at its rank."""
    return placed(points, state, ranks(points, live(points, state)))


def ranks(points: Points, distances: Mapping[str, int]) -> dict[str, int]:
    later = sorted({d for d in distances.values() if d > 0})
    before = sorted(
        {d for d in distances.values() if (d < 0 if points.exact else d <= 0)},
        reverse=True,
    )
    rank = {0: 0}
    rank |= {d: (n + 1) * UNIT for n, d in enumerate(later)}
    rank |= {d: -(n + 1) * UNIT for n, d in enumerate(before)}
    return {name: rank[distance] for name, distance in distances.items()}


def later(points: Points, state: Struct) -> Struct | None:
    """The state when time has gone on to the next place in the order; None: there is none."""
    distances = live(points, state)
    if points.exact and 0 in distances.values():
        moved = {name: d - 1 if d <= 0 else d for name, d in distances.items()}
    else:
        ahead = [d for d in distances.values() if d > 0]
        if not ahead:
            return None
        step = min(ahead)
        moved = {name: d - step for name, d in distances.items()}
    return placed(points, state, ranks(points, moved))


def realised(
    points: Points,
    state: Struct,
    roots: Sequence[core.Expr],
    read: frozenset[str],
    message: Struct,
) -> Iterator[Struct]:
    """The state in milliseconds, in every way that a step by these expressions can tell apart."""
    held = [
        (name, sorted(ages(name, roots, message, state) or {0}))
        for name in sorted(points.loose & read)
        if getattr(state, name, None) is not None
    ]
    distances = {
        name: d for name, d in live(points, state).items() if d <= 0 or name in read
    }
    ahead = sorted({d for d in distances.values() if d > 0})
    reach = sorted(reaches(roots, message, state)) if ahead else []
    for chosen_ages in product(*(some for _, some in held)):
        aged = {
            name: EPOCH - age for (name, _), age in zip(held, chosen_ages, strict=True)
        }
        concrete = replace(state, **aged) if aged else state
        if not ahead or not reach:
            yield concrete
            continue
        for chosen in placements(len(ahead), reach):
            moved = dict(zip(ahead, chosen, strict=True))
            yield placed(
                points,
                concrete,
                {name: moved.get(d, d) for name, d in distances.items()},
            )


def placements(count: int, marks: list[int]) -> Iterator[tuple[int, ...]]:
    """All ways to put `count` increasing positive numbers before, at and after the marks."""
    edges = [0, *marks]

    def fill(at: int, left: int, taken: int) -> Iterator[tuple[int, ...]]:
        """From the gap after `edges[at]` on, of which `taken` numbers are used up."""
        if not left:
            yield ()
            return
        low = edges[at] + taken
        high = edges[at + 1] if at + 1 < len(edges) else None
        if high is None:
            yield tuple(low + UNIT * (n + 1) for n in range(left))
            return
        if low + 1 < high:
            for rest in fill(at, left - 1, taken + 1):
                yield (low + 1, *rest)
        yield from fill(at + 1, left, 0)
        for rest in fill(at + 1, left - 1, 0):
            yield (high, *rest)

    yield from fill(0, count, 0)
