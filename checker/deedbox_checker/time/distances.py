"""Ranks as milliseconds: every way in which a step can tell the times apart.

What a step looks at is known (`looking`).  Its places are put before, at and after one
another by all that it asks of them (`regions`), as far as the state's order of points
leaves it open; an instant from outside and one that has no rank may be anywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from ..data.domain import EPOCH
from ..expressions.evaluate import Scene
from .looking import Case, Look
from .places import Place
from .points import Points
from .ranks import live
from .regions import Asked, Bound, regions
from .sums import Path


class Concrete(Struct, frozen=True):
    """A step in milliseconds.

    `delays`: what a jitter makes of a delay, by both; of the others it takes nothing.
    """

    state: Struct | None
    message: Struct
    delays: tuple[tuple[tuple[int, int | str], int], ...] = ()


def realised(
    points: Points,
    state: Struct | None,
    look: Look,
    message: Struct,
    *,
    said: bool = False,
) -> Iterator[Concrete]:
    """The step in milliseconds, in every way that it can tell apart.

    `said`: the lengths that the message brings are what it says, and stand for no others.
    """
    plain = Concrete(state, message)
    scene = Scene(state=state, message=message, now=EPOCH)
    for case in look:
        if case.when is not None and not case.when(scene):
            continue
        yield from cases(points, plain, scene, case, said)
        if case.only:
            return
    yield plain


def cases(
    points: Points, plain: Concrete, scene: Scene, case: Case, said: bool
) -> Iterator[Concrete]:
    numbers = dict(present(case, scene))
    asked = questions(case, scene, numbers)
    if not asked:
        yield plain
        return
    bounds = (
        *order(points, case, plain.state, numbers),
        *reach(case, scene, numbers, said),
    )
    for found in regions(len(numbers) + 1, bounds, asked):
        yield settled(case, plain, scene, numbers, found)


def present(case: Case, scene: Scene) -> Iterator[tuple[int, int]]:
    """The places that there are in this step, and their numbers among them."""
    count = 0
    for n, place in enumerate(case.places, 1):
        if is_there(place, scene):
            count += 1
            yield n, count


def is_there(place: Place, scene: Scene) -> bool:
    try:
        return place.read(scene) is not None
    except (IndexError, AttributeError):
        return False


def questions(
    case: Case, scene: Scene, numbers: Mapping[int, int]
) -> tuple[Asked, ...]:
    """The differences and the constants that they are held against, each pair once."""
    found: dict[tuple[int, int], set[int]] = {}
    for i, j, known in case.asked:
        if (i and i not in numbers) or (j and j not in numbers):
            continue
        one, two = numbers.get(i, 0), numbers.get(j, 0)
        moved = offset_of(case, i) - offset_of(case, j)
        for added in known(scene):
            # A place is a point: the instant is as much before it as its constant says.
            if one >= two:
                found.setdefault((one, two), set()).add(moved - added)
            else:
                found.setdefault((two, one), set()).add(added - moved)
    return tuple(
        (i, j, tuple(sorted(constants)))
        for (i, j), constants in found.items()
        if i != j
    )


def offset_of(case: Case, number: int) -> int:
    return (case.places[number - 1].point or 0) if number else 0


def order(
    points: Points, case: Case, state: Struct | None, numbers: Mapping[int, int]
) -> Iterator[Bound]:
    """What the ranks of the stored points say."""
    if state is None:
        return
    distances = live(points, state)
    ranked: list[tuple[int, int]] = [(0, 0)]
    for n, place in enumerate(case.places, 1):
        if place.point is not None and n in numbers:
            ranked.append((distances[str(place.path[1])], numbers[n]))
        elif place.behind and n in numbers:
            yield numbers[n], 0, 0
    ranked.sort()
    for (before, one), (after, two) in itertools.pairwise(ranked):
        if before == after:
            yield two, one, 0
            yield one, two, 0
        elif two == 0 and not points.exact:
            yield one, two, 0
        else:
            yield one, two, -1


def reach(
    case: Case, scene: Scene, numbers: Mapping[int, int], said: bool
) -> Iterator[Bound]:
    """How far from their instants the lengths lie."""
    for n, place in enumerate(case.places, 1):
        if place.range is not None and n in numbers:
            base = numbers.get(place.base, 0)
            low, high = place.range(scene)
            if said and place.path[:1] == ("message",):
                low = high = cast(int, place.read(scene))
            if place.sign < 0:
                low, high = -high, -low
            # A length of a stored instant is measured from the instant, not its point.
            low -= offset_of(case, place.base)
            high -= offset_of(case, place.base)
            yield numbers[n], base, high
            yield base, numbers[n], -low


def settled(
    case: Case,
    plain: Concrete,
    scene: Scene,
    numbers: Mapping[int, int],
    found: tuple[int, ...],
) -> Concrete:
    """The step with everything where one of the regions has it."""
    state, message = plain.state, plain.message
    delays: dict[tuple[int, int | str], int] = {}
    for n, place in enumerate(case.places, 1):
        if n not in numbers:
            continue
        at = found[numbers[n]]
        if place.sign:
            base = found[numbers[place.base]] if place.base else 0
            at = place.sign * (at - base + offset_of(case, place.base))
            if place.delay is not None:
                delays[place.delay(scene)] = at
                continue
        else:
            at += EPOCH - (place.point or 0)
        owner, *inner = place.path
        if owner == "message":
            message = put(message, tuple(inner), at)
        elif state is not None:
            state = put(state, tuple(inner), at)
    return Concrete(state, message, tuple(delays.items()))


def put(struct: Struct, path: Path, value: int) -> Struct:
    """The struct with this number at the place to which the path leads."""
    return cast(Struct, placed_in(struct, path, value))


def placed_in(holder: object, path: Path, value: int) -> object:
    if not path:
        return value
    step, *rest = path
    if isinstance(step, int):
        items = list(cast("tuple[object, ...]", holder))
        items[step] = placed_in(items[step], tuple(rest), value)
        return tuple(items)
    inner = cast(object, getattr(holder, step))
    return replace(cast(Struct, holder), **{step: placed_in(inner, tuple(rest), value)})
