"""Finite time: the order of the live points and now, and nothing else.

A point is an instant field, or one field and a constant, that an `at`, a guard or a
property looks at.  A state in explored form holds its instants as ranks: how many
points lie between it and now, before or after.  To take a step the ranks become
milliseconds in every way that the step could tell apart: each later point before,
at and after each instant `now + d` which the step can make.  What the reducer then
makes is exact, and becomes ranks again.  An instant that nothing looks at is now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from .evaluate import walk

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
