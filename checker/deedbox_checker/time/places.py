"""Sums of times as differences of two places, of which each is a number of milliseconds.

A place is an instant, or a length from outside put before or after one.  Each length is
measured from one and the same instant in all that a clause asks, so that all of it is
about differences (`regions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from deedbox_dsl import core

from ..data.domain import Domain
from ..expressions.endless import Endless, name_of
from ..expressions.evaluate import Scene, Value, delay_after, number, spread_of, value
from ..expressions.trees import inline
from ..expressions.types import is_instant
from .points import Points
from .sums import BETWEEN, MULTIPLIED, TO_SEVERAL, Lengths, Part, Path, Sum, path

Range: TypeAlias = Callable[[Scene], tuple[int, int]]
Anchor: TypeAlias = tuple[Part | None, int]
"""The instant, None for now, from which a length is measured, and in which direction."""


@dataclass(frozen=True, slots=True)
class Place:
    """A number of milliseconds from now.

    An instant, or a length put before or after one (`base`, `sign`), which is within
    `range`.  `delay`: a length that is a jittered delay, in full, and its jitter.
    `point`: the constant between a stored instant and its point, None: it has no rank.
    """

    read: Value
    path: Path
    base: int = 0
    sign: int = 0
    range: Range | None = None
    delay: Callable[[Scene], tuple[int, int | str]] | None = None
    point: int | None = None
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Eye:
    """What is looked with: the machine, its points, and its data."""

    spec: core.Machine
    points: Points
    data: Domain

    @property
    def ladders(self) -> dict[str, core.Ladder]:
        return {ladder.name: ladder for ladder in self.spec.ladders}

    def plain(self, expr: core.Expr) -> core.Expr:
        return inline(expr, self.ladders, jittered=True)


def arranged(
    eye: Eye, state: str, wanted: Iterable[Sum]
) -> tuple[tuple[Place, ...], tuple[tuple[int, int, Lengths], ...]]:
    """The places of a clause, and which of their differences are asked."""
    distinct: dict[tuple[object, ...], Sum] = {}
    for n, each in enumerate(wanted):
        if each.parts:
            same = (each.parts, each.fixed if each.fixed is not None else f"sum {n}")
            distinct.setdefault(same, each)
    listed = list(distinct.values())
    if not listed:
        return (), ()
    anchors = anchored(listed)
    instants: dict[Part, None] = {}
    for field in fields_of(eye, state):
        if field.name in eye.points.offsets:
            read = core.Read("state", field.name, field.type, field.span)
            instants[as_stored(eye, read)] = None
    for each in listed:
        for part, _ in each.parts:
            if part not in anchors:
                instants[as_stored(eye, part)] = None
    for base, _ in anchors.values():
        if base is not None:
            instants[base] = None
    numbers: dict[Part, int] = {part: n for n, part in enumerate(instants, 1)}
    places = [instant(eye, part) for part in instants]
    for part, (base, sign) in anchors.items():
        at = 0 if base is None else numbers[base]
        places.append(length(eye, part, at, sign))
        numbers[part] = len(places)
    return tuple(places), tuple(difference(each, anchors, numbers) for each in listed)


def fields_of(eye: Eye, state: str) -> Iterator[core.Field]:
    for each in eye.spec.states:
        if each.name == state:
            yield from eye.spec.given
            yield from each.fields


def as_stored(eye: Eye, part: Part) -> Part:
    """The same instant is one place, whoever reads it."""
    match part:
        case core.Read(scope="state" | "given", name=name):
            for field in eye.spec.given:
                if field.name == name:
                    return core.Read("given", name, field.type, field.span)
            return part
        case _:
            return part


def anchored(listed: list[Sum]) -> dict[Part, Anchor]:
    """For each length an instant from which it is measured, in all sums the same."""
    choices: dict[Part, dict[Anchor, None]] = {}
    for each in listed:
        plus, minus = ends(each)
        for part, many in each.parts:
            if not is_instant(part.type):
                if abs(many) != 1:
                    raise Endless(name_of(part), MULTIPLIED)
                known = choices.setdefault(part, {})
                known[plus, many] = known[minus, -many] = None
    for chosen in product(*choices.values()):
        anchors = dict(zip(choices, chosen, strict=True))
        if all(two_places(each, anchors) for each in listed):
            return anchors
    raise Endless(name_of(next(iter(choices))), TO_SEVERAL)


def ends(each: Sum) -> tuple[Part | None, Part | None]:
    """The instant that is added in a sum, and the one that is subtracted; None is now."""
    plus = [part for part, many in each.parts if is_instant(part.type) and many == 1]
    minus = [part for part, many in each.parts if is_instant(part.type) and many == -1]
    instants = [part for part, _ in each.parts if is_instant(part.type)]
    if len(plus) > 1 or len(minus) > 1 or len(plus) + len(minus) < len(instants):
        raise Endless(name_of(instants[0]), BETWEEN)
    return (plus[0] if plus else None), (minus[0] if minus else None)


def two_places(
    each: Sum, anchors: Mapping[Part, Anchor]
) -> tuple[Part | None, Part | None] | None:
    """The two parts of which a sum is the difference; None: with these anchors of more.

    Where no instant is in it, the lengths may be measured from any, the same for both.
    """
    plus, minus = ends(each)
    lengths = [(part, many) for part, many in each.parts if part in anchors]
    if lengths and not (plus or minus):
        plus = minus = anchors[lengths[0][0]][0]
    at_plus = [part for part, many in lengths if anchors[part] == (plus, many)]
    at_minus = [
        part
        for part, many in lengths
        if part not in at_plus and anchors[part] == (minus, -many)
    ]
    if len(at_plus) + len(at_minus) < len(lengths):
        return None
    if len(at_plus) > 1 or len(at_minus) > 1:
        return None
    return (at_plus[0] if at_plus else plus, at_minus[0] if at_minus else minus)


def difference(
    each: Sum, anchors: Mapping[Part, Anchor], numbers: Mapping[Part, int]
) -> tuple[int, int, Lengths]:
    found = two_places(each, anchors)
    assert found is not None
    one, two = (0 if part is None else numbers[part] for part in found)
    return one, two, each.known


def instant(eye: Eye, part: Part) -> Place:
    where = path(part)
    stored = where[0] == "state" and len(where) == 2
    name = str(where[1])
    return Place(
        value(part),
        where,
        point=eye.points.offsets.get(name) if stored else None,
        behind=stored and name in eye.points.behind,
    )


def length(eye: Eye, part: Part, base: int, sign: int) -> Place:
    match part:
        case core.Wait(policy=policy, issue=issue):
            ladder, many = eye.ladders[policy], number(issue)
            jitter = ladder.jitter or 0

            def drawn(scene: Scene) -> tuple[int, int | str]:
                return delay_after(ladder, many(scene)), jitter

            def least(scene: Scene) -> tuple[int, int]:
                delay = delay_after(ladder, many(scene))
                return delay - spread_of(delay, jitter), delay

            return Place(lambda _: 0, (), base, sign, least, drawn)
        case _:
            read, kind = number(part), part.type

            def near(scene: Scene) -> tuple[int, int]:
                return eye.data.span(kind, read(scene))

            return Place(read, path(part), base, sign, near)
