"""Several equal instances beside each other: the product of one with itself.

They share nothing, so every verdict is that of one instance.  What the product adds is
that this is explored too: all combinations are reached, and each by the search.
With numpy where it is installed; both engines find the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from . import lists, walk
from .digits import cells
from .levels import Explored
from .tables import Tables

ROOM: Final = 100_000_000
"""Possible states of a product; one with more is not explored."""


@dataclass(frozen=True, slots=True)
class Several:
    """`orbits`: states that differ in more than which instance is which."""

    instances: int
    states: int
    orbits: int
    independent: bool


def several(tables: Tables, instances: int, room: int = ROOM) -> Several | str:
    """The product of so many instances, or why it is not explored."""
    possible = cells(tables, instances)
    if possible > room:
        return f"{instances} instances have {possible:,} possible states, more than {room:,}"
    explored = explorer()(tables, instances, room)
    alone = lists.explore(tables).states
    return Several(
        instances,
        explored.states,
        walk.orbits(explored),
        explored.states == alone**instances,
    )


def explorer() -> Callable[[Tables, int, int], Explored]:
    if find_spec("numpy") is None:
        return lists.explore
    from . import vectors

    return vectors.explore
