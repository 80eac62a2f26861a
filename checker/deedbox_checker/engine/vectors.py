"""The product of equal instances, explored a level at a time with numpy.

The result is the same array of levels as that of `lists`, so counts and runs are equal
by construction of `walk`.  Frontiers are taken in slices, so that what a slice needs
stays in the cache.

Two candidates of one slice may be the same state.  No sort: each writes its own
number into the state's word, and the one that reads itself back is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .digits import Deltas, cells, joint_moves, places, shared_blind, start_cell
from .levels import CELLS, FIRST, PENDING, UNSEEN, Explored, TooLarge, in_order
from .tables import Tables

Cells = NDArray[np.int64]
SLICE = 1 << 16
MARK = 1 << 31


@dataclass(frozen=True, slots=True)
class Columns:
    """The steps of each row as columns, filled up with 0: a step that leads nowhere new."""

    stride: int
    free: tuple[Cells, ...]
    fault: tuple[Cells, ...]


def columns(deltas: Deltas) -> tuple[Cells, ...]:
    width = max(map(len, deltas), default=0)
    return tuple(
        np.array([row[n] if n < len(row) else 0 for row in deltas], dtype=np.int64)
        for n in range(width)
    )


@dataclass(frozen=True, slots=True)
class JointColumns:
    """A joint step of the states from `begin` to `end`: what it adds for each digit."""

    begin: int
    end: int
    shift: int
    moves: tuple[tuple[int, Cells], ...]


def joint_columns(
    tables: Tables, instances: int, fault: bool
) -> tuple[JointColumns, ...]:
    whole = tables.span(instances)
    return tuple(
        JointColumns(
            shared * whole,
            (shared + 1) * whole,
            shift,
            tuple((stride, np.array(by, dtype=np.int64)) for stride, by in moves),
        )
        for shared, shift, moves in joint_moves(tables, instances, fault)
    )


def joined(parts: list[Cells]) -> Cells:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Sets of states as arrays; the rest as in `lists`."""

    level: NDArray[np.uint32]
    size: int
    whole: int
    blind: bool
    places: tuple[Columns, ...]
    free_joint: tuple[JointColumns, ...]
    fault_joint: tuple[JointColumns, ...]

    def none(self) -> Cells:
        return joined([])

    def both(self, one: Cells, other: Cells) -> Cells:
        return joined([one, other])

    def settled(self, states: Cells, number: int) -> Cells:
        fresh = states[self.level[states] < FIRST]
        self.level[fresh] = number
        return fresh

    def surprising(self, states: Cells) -> Cells:
        return self._advance(states, UNSEEN + 1, PENDING, True, self.fault_joint)

    def following(self, states: Cells, number: int) -> Cells:
        return self._advance(states, FIRST, number, False, self.free_joint)

    def _advance(
        self,
        states: Cells,
        bound: int,
        number: int,
        fault: bool,
        joint: tuple[JointColumns, ...],
    ) -> Cells:
        """The states one step on which were below `bound`; they are marked with `number`."""
        level = self.level
        parts: list[Cells] = []
        for begin in range(0, len(states), SLICE):
            for cell in self._candidates(states[begin : begin + SLICE], fault, joint):
                fresh = cell[level[cell] < bound]
                if len(fresh):
                    marks = np.arange(MARK, MARK + len(fresh), dtype=np.uint32)
                    level[fresh] = marks
                    fresh = fresh[level[fresh] == marks]
                    level[fresh] = number
                    parts.append(fresh)
        return joined(parts)

    def _candidates(
        self, part: Cells, fault: bool, joint: tuple[JointColumns, ...]
    ) -> Iterator[Cells]:
        for place in self.places:
            steps = place.fault if fault else place.free
            if steps:
                row = part // place.stride % self.size
                if not self.blind:
                    row += part // self.whole * self.size
                for column in steps:
                    yield part + column[row]
        for moves in joint:
            here = part[(part >= moves.begin) & (part < moves.end)]
            change = np.zeros(len(here), dtype=np.int64)
            for stride, by in moves.moves:
                change += by[here // stride % self.size]
            moved = np.flatnonzero(change)
            yield here[moved] + change[moved] + moves.shift


def explore(tables: Tables, instances: int = 1, limit: int = CELLS) -> Explored:
    """Every reachable state of the product."""
    total = cells(tables, instances)
    if total > limit:
        raise TooLarge
    blind = shared_blind(tables)
    level = np.zeros(total, dtype=np.uint32)
    engine = Arrays(
        level,
        tables.locals,
        tables.span(instances),
        blind,
        tuple(
            Columns(place.stride, columns(place.free), columns(place.fault))
            for place in places(tables, instances, blind)
        ),
        joint_columns(tables, instances, fault=False),
        joint_columns(tables, instances, fault=True),
    )
    start = np.array([start_cell(tables, instances)], dtype=np.int64)
    return Explored(tables, instances, level.data, in_order(engine, start))
