"""Instants as ranks: how many points lie between each and now, before or after.

What a step does to them is found in milliseconds (`distances`), and becomes ranks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from ..data.domain import EPOCH, UNIT
from .points import Points


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
