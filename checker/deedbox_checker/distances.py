"""Ranks as milliseconds: every distance from now that a step can tell apart.

A step looks at instants in two ways.  It makes new ones, `now` and a length: a later
point that it also reads must be tried before, at and after each of them.  And it
compares a loose field with now: every age at which the comparison turns is tried,
and the ones beside it.  Both are read off the step's expressions once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from deedbox_dsl import core
from msgspec import Struct
from msgspec.structs import replace

from .domain import EPOCH, is_instant
from .evaluate import Number, Scene, number, truth, walk
from .points import (
    UNIT,
    Points,
    TwoDistances,
    instants,
    is_duration,
    is_timely,
    live,
    placed,
)

Lengths: TypeAlias = Callable[[Scene], frozenset[int]]
"""What a duration may be, with this message in this state."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a step looks at.

    `read`: the instants; `made`: how far from now it makes others; `turns`: for each
    instant that is compared alone, the ages at which that turns.
    """

    read: frozenset[str] = frozenset()
    made: tuple[Lengths, ...] = ()
    turns: Mapping[str, tuple[Lengths, ...]] = field(
        default_factory=dict[str, tuple[Lengths, ...]]
    )

    def reach(self, scene: Scene) -> list[int]:
        """How far ahead of now the instants lie that the step makes."""
        return sorted(
            {span for lengths in self.made for span in lengths(scene) if span > 0}
        )

    def ages(self, name: str, scene: Scene) -> list[int]:
        """The ages of a field at which a comparison turns, and those beside them."""
        turns = {age for lengths in self.turns.get(name, ()) for age in lengths(scene)}
        near = {age for turn in turns for age in (turn - 1, turn, turn + 1) if age >= 0}
        return sorted(near) or [0]


def look(roots: Iterable[core.Expr]) -> Look:
    read: set[str] = set()
    made: list[Lengths] = []
    turns: dict[str, list[Lengths]] = {}
    for root in roots:
        read |= instants(root)
        for part in walk(root):
            if not isinstance(part, core.Binary):
                continue
            if part.operator in ("+", "-") and is_instant(part.type):
                made.append(signed(part.operator, lengths_of(part.right)))
            if is_timely(part):
                names = instants(part)
                if len(names) == 1:
                    (name,) = names
                    turns.setdefault(name, []).append(turn(name, part))
    return Look(
        frozenset(read),
        tuple(made),
        {name: tuple(listed) for name, listed in turns.items()},
    )


def signed(operator: str, lengths: Lengths) -> Lengths:
    if operator == "+":
        return lengths
    return lambda scene: frozenset(-one for one in lengths(scene))


def nothing(_: Scene) -> frozenset[int]:
    return frozenset((0,))


def lengths_of(expr: core.Expr) -> Lengths:
    """The lengths which a duration may have in a step."""
    if is_timeless(expr):
        return known_length(number(expr))
    match expr:
        case core.Known(target=target):
            return lengths_of(target)
        case core.Conditional(test=test, yes=yes, no=no):
            one, two = lengths_of(yes), lengths_of(no)
            if is_timeless(test):
                holds = truth(test)
                return lambda scene: (one if holds(scene) else two)(scene)
            return lambda scene: one(scene) | two(scene)
        case core.Binary(operator="+" | "-" | "*" as operator, left=left, right=right):
            return combined(operator, lengths_of(left), lengths_of(right))
        case core.Call(function="min" | "max", arguments=arguments):
            parts = [lengths_of(argument) for argument in arguments]
            return lambda scene: frozenset(
                span for part in parts for span in part(scene)
            )
        case _:
            raise TwoDistances(", ".join(sorted(instants(expr))) or "now")


def known_length(length: Number) -> Lengths:
    """One length; none when another clause would have been followed (`head` of nothing)."""

    def lengths(scene: Scene) -> frozenset[int]:
        try:
            return frozenset((length(scene),))
        except (IndexError, AttributeError):
            return frozenset()

    return lengths


def combined(operator: str, left: Lengths, right: Lengths) -> Lengths:
    def pairs(scene: Scene) -> frozenset[int]:
        return frozenset(
            one + two
            if operator == "+"
            else one - two
            if operator == "-"
            else one * two
            for one in left(scene)
            for two in right(scene)
        )

    return pairs


def is_timeless(expr: core.Expr) -> bool:
    """Whether an expression has a value whatever the time is."""
    return not any(
        isinstance(part, core.Now)
        or (isinstance(part, core.Read) and part.scope in ("let", "item"))
        for part in walk(expr)
    ) and not instants(expr)


def after(expr: core.Expr) -> Lengths:
    """How far `expr` may lie after the one instant, or the now, that it is made of."""
    match expr:
        case core.Binary(operator="+" | "-" as operator, left=left, right=right):
            return combined(operator, after(left), lengths_of(right))
        case _:
            return nothing


def turn(name: str, expr: core.Binary) -> Lengths:
    """The ages of the field `name` at which a comparison turns."""
    one, two = expr.left, expr.right
    length: Lengths = nothing
    if is_duration(one):
        one, two = (one, two) if instants(one) else (two, one)
        if not isinstance(one, core.Binary):
            raise TwoDistances(name)
        length = lengths_of(two)
        since, until = one.right, one.left
    else:
        since, until = (one, two) if instants(one) else (two, one)
    return combined("-", combined("+", length, after(since)), after(until))


def realised(
    points: Points, state: Struct, look: Look, message: Struct
) -> Iterator[Struct]:
    """The state in milliseconds, in every way that the step can tell apart."""
    loose = points.loose & look.read
    if not loose and not look.made:
        yield state
        return
    scene = Scene(state=state, message=message)
    held = [
        (name, look.ages(name, scene))
        for name in sorted(loose)
        if getattr(state, name, None) is not None
    ]
    distances = live(points, state)
    ahead = sorted({d for name, d in distances.items() if d > 0 and name in look.read})
    reach = look.reach(scene) if ahead else []
    for chosen_ages in product(*(some for _, some in held)):
        aged = {
            name: EPOCH - age for (name, _), age in zip(held, chosen_ages, strict=True)
        }
        concrete = replace(state, **aged) if aged else state
        if not reach:
            yield concrete
            continue
        for chosen in placements(len(ahead), reach):
            moved = dict(zip(ahead, chosen, strict=True))
            yield placed(
                points,
                concrete,
                {
                    name: moved[d] if name in look.read and d in moved else d
                    for name, d in distances.items()
                },
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
