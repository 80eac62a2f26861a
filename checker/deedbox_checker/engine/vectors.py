"""The same exploration as `levels`, a level at a time, with numpy.

Knows the tables and the order of levels from there; the result is the same array
of levels, so counts and runs are equal by construction of `walk`.  Frontiers are
taken in slices, so that what a slice needs stays in the cache.

Two candidates of one slice may be the same state.  No sort: each writes its own
number into the state's word, and the one that reads itself back is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .levels import (
    CELLS,
    FIRST,
    PENDING,
    UNSEEN,
    Deltas,
    Explored,
    Level,
    TooLarge,
    cells,
    joint_moves,
    places,
    shared_blind,
    start_cell,
)
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


def explore(tables: Tables, instances: int = 1, limit: int = CELLS) -> Explored:
    """Every reachable state of the product."""
    total = cells(tables, instances)
    if total > limit:
        raise TooLarge
    size, whole = tables.locals, tables.span(instances)
    blind = shared_blind(tables)
    level = np.zeros(total, dtype=np.uint32)
    spots = tuple(
        Columns(place.stride, columns(place.free), columns(place.fault))
        for place in places(tables, instances, blind)
    )
    free_joint = joint_columns(tables, instances, fault=False)
    fault_joint = joint_columns(tables, instances, fault=True)
    faulty = bool(fault_joint) or any(spot.fault for spot in spots)

    def candidates(
        part: Cells, fault: bool, joint: tuple[JointColumns, ...]
    ) -> Iterator[Cells]:
        for spot in spots:
            steps = spot.fault if fault else spot.free
            if steps:
                row = part // spot.stride % size
                if not blind:
                    row += part // whole * size
                for column in steps:
                    yield part + column[row]
        for moves in joint:
            here = part[(part >= moves.begin) & (part < moves.end)]
            change = np.zeros(len(here), dtype=np.int64)
            for stride, by in moves.moves:
                change += by[here // stride % size]
            moved = np.flatnonzero(change)
            yield here[moved] + change[moved] + moves.shift

    def advance(
        frontier: Cells,
        bound: int,
        number: int,
        fault: bool,
        joint: tuple[JointColumns, ...],
    ) -> Cells:
        """The states one step on which were below `bound`; they are marked with `number`."""
        parts: list[Cells] = []
        for begin in range(0, len(frontier), SLICE):
            for cell in candidates(frontier[begin : begin + SLICE], fault, joint):
                fresh = cell[level[cell] < bound]
                if len(fresh):
                    marks = np.arange(MARK, MARK + len(fresh), dtype=np.uint32)
                    level[fresh] = marks
                    fresh = fresh[level[fresh] == marks]
                    level[fresh] = number
                    parts.append(fresh)
        return joined(parts)

    levels: list[Level] = []
    faults, number = 0, FIRST
    arriving: list[Cells] = [np.array([start_cell(tables, instances)], dtype=np.int64)]
    while arriving:
        later: list[Cells] = []
        frontier = joined([])
        steps = 0
        while len(frontier) or steps < len(arriving):
            if steps < len(arriving):
                late = arriving[steps]
                late = late[level[late] < FIRST]
                level[late] = number
                frontier = np.concatenate((frontier, late))
            if len(frontier):
                levels.append(Level(faults, steps, len(frontier)))
                if faulty:
                    surprising = advance(
                        frontier, UNSEEN + 1, PENDING, True, fault_joint
                    )
                    if len(surprising):
                        while len(later) <= steps:
                            later.append(joined([]))
                        later.append(surprising)
                number += 1
                frontier = advance(frontier, FIRST, number, False, free_joint)
            steps += 1
        arriving = later
        faults += 1
    return Explored(tables, instances, level.data, tuple(levels))
