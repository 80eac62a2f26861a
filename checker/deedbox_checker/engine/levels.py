"""The order in which the product of equal instances is explored: level by level.

An array with a word for each possible number of a state (`digits`) holds the level in
which it was first reached: that is both the set of seen states and all that a shortest
run is rebuilt from (`walk`), so nothing else is kept.

Levels are ordered by (faults used, steps): first everything without a fault, then
with one, and so on.  Both costs only add up, so each state has its least level, and
the first broken state is one that needs the fewest faults and then the fewest steps.
A state which a fault reaches is `PENDING` until its level comes, unless it is
reached without that fault before.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Protocol, TypeVar

from .tables import Tables

UNSEEN, PENDING, FIRST = 0, 1, 2
CELLS = 1 << 28
States = TypeVar("States", bound=Sized)


class TooLarge(Exception):
    """The product has more possible states than the engine can index."""


@dataclass(frozen=True, slots=True)
class Level:
    """All states whose cheapest run has this many faults and then this many steps."""

    faults: int
    steps: int
    states: int


@dataclass(frozen=True, slots=True)
class Explored:
    """`level[cell]` is 0 where nothing leads, else `FIRST` plus an index into `levels`."""

    tables: Tables
    instances: int
    level: memoryview[int]
    levels: tuple[Level, ...]

    @property
    def states(self) -> int:
        return sum(level.states for level in self.levels)


class Engine(Protocol[States]):
    """How sets of states are held and marked; each of them names states once."""

    def none(self) -> States:
        """No state."""
        ...

    def both(self, one: States, other: States) -> States:
        """The states of two sets that have none in common."""
        ...

    def settled(self, states: States, number: int) -> States:
        """Those of them that are in no level; they are in this one."""
        ...

    def surprising(self, states: States) -> States:
        """What was not seen, one fault away from them; it is pending."""
        ...

    def following(self, states: States, number: int) -> States:
        """What is in no level, one step without a fault away from them; it is in this one."""
        ...


def in_order(engine: Engine[States], start: States) -> tuple[Level, ...]:
    """All levels, the cheapest first."""
    levels: list[Level] = []
    faults, number = 0, FIRST
    arriving = [start]
    while arriving:
        later: list[States] = []
        frontier = engine.none()
        steps = 0
        while len(frontier) or steps < len(arriving):
            if steps < len(arriving):
                late = engine.settled(arriving[steps], number)
                frontier = engine.both(frontier, late)
            if len(frontier):
                levels.append(Level(faults, steps, len(frontier)))
                surprising = engine.surprising(frontier)
                if len(surprising):
                    later += [engine.none() for _ in range(steps + 1 - len(later))]
                    later.append(surprising)
                number += 1
                frontier = engine.following(frontier, number)
            steps += 1
        arriving = later
        faults += 1
    return tuple(levels)
