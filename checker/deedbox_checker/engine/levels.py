"""The product of equal instances, explored level by level, with the standard library.

A state of the product is one number: the shared state and the local states are the
digits of a mixed radix.  A byte array with a word for each possible number holds the
level in which it was first reached: that is both the set of seen states and all that
a shortest run is rebuilt from (`walk`), so nothing else is kept.

Levels are ordered by (faults used, steps): first everything without a fault, then
with one, and so on.  Both costs only add up, so each state has its least level, and
the first broken state is one that needs the fewest faults and then the fewest steps.
A state which a fault reaches is `PENDING` until its level comes, unless it is
reached without that fault before.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from .tables import Tables

UNSEEN, PENDING, FIRST = 0, 1, 2
CELLS = 1 << 28


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


def cells(tables: Tables, instances: int) -> int:
    return tables.shared * tables.span(instances)


def start_cell(tables: Tables, instances: int) -> int:
    shared, local = divmod(tables.start, tables.locals)
    return compose(tables, (shared, *[local] * instances))


def compose(tables: Tables, digits: Sequence[int]) -> int:
    """The number of a product state: shared, then the local states."""
    cell = digits[0]
    for local in digits[1:]:
        cell = cell * tables.locals + local
    return cell


def digits(tables: Tables, instances: int, cell: int) -> tuple[int, ...]:
    found: list[int] = []
    for _ in range(instances):
        cell, local = divmod(cell, tables.locals)
        found.append(local)
    return (cell, *reversed(found))


def shared_blind(tables: Tables) -> bool:
    """Whether the steps of an instance neither read nor change the shared state."""
    size = tables.locals
    if tables.shared == 1:
        return True
    first = tables.offsets[size]
    for shared in range(1, tables.shared):
        base = shared * size
        begin = tables.offsets[base]
        for local in range(size + 1):
            if tables.offsets[base + local] - begin != tables.offsets[local]:
                return False
        if tables.labels[begin : begin + first] != tables.labels[:first]:
            return False
        for edge in range(first):
            if tables.targets[begin + edge] != tables.targets[edge] + base:
                return False
    return all(target < size for target in tables.targets[:first])


Deltas = list[tuple[int, ...]]


def differences(
    tables: Tables, instances: int, stride: int, blind: bool, fault: bool
) -> Deltas:
    """For each row what its steps add to the number of the product state."""
    size = tables.locals
    whole = tables.span(instances)
    found: Deltas = []
    for row in range(size if blind else size * tables.shared):
        shared, local = divmod(row, size)
        changes: list[int] = []
        for edge in tables.steps(row):
            if bool(tables.faults[tables.labels[edge]]) is fault:
                shared_after, local_after = divmod(tables.targets[edge], size)
                change = (shared_after - shared) * whole
                change += (local_after - local) * stride
                if change:
                    changes.append(change)
        found.append(tuple(dict.fromkeys(changes)))
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """Where an instance's digit stands, and what its steps add; `whole` cuts the shared digit off."""

    stride: int
    free: Deltas
    fault: Deltas


def places(tables: Tables, instances: int, blind: bool) -> tuple[Place, ...]:
    strides = [tables.span(place) for place in reversed(range(instances))]
    return tuple(
        Place(
            stride,
            differences(tables, instances, stride, blind, fault=False),
            differences(tables, instances, stride, blind, fault=True),
        )
        for stride in strides
    )


def joint_moves(
    tables: Tables, instances: int, fault: bool
) -> list[tuple[int, int, list[tuple[int, list[int]]]]]:
    """For each joint step: the shared state it needs, what it adds for it, and for each digit."""
    size = tables.locals
    found: list[tuple[int, int, list[tuple[int, list[int]]]]] = []
    for joint in tables.joints:
        if bool(tables.faults[joint.label]) is fault:
            change = (joint.shared_after - joint.shared) * tables.span(instances)
            moves = [
                (stride, [(joint.moves[n] - n) * stride for n in range(size)])
                for stride in (tables.span(place) for place in range(instances))
            ]
            found.append((joint.shared, change, moves))
    return found


def explore(tables: Tables, instances: int = 1, limit: int = CELLS) -> Explored:
    """Every reachable state of the product, with the standard library alone."""
    total = cells(tables, instances)
    if total > limit:
        raise TooLarge
    size, whole = tables.locals, tables.span(instances)
    blind = shared_blind(tables)
    level = array("I", bytes(4 * total))
    spots = places(tables, instances, blind)
    free_joint = joint_moves(tables, instances, fault=False)
    fault_joint = joint_moves(tables, instances, fault=True)
    faulty = bool(fault_joint) or any(any(place.fault) for place in spots)

    def reached(
        frontier: list[int],
        fault: bool,
        joint: list[tuple[int, int, list[tuple[int, list[int]]]]],
    ) -> list[int]:
        """The successors that no level has; one may occur more than once."""
        found: list[int] = []
        bound = PENDING if fault else FIRST
        for place in spots:
            stride, deltas = place.stride, place.fault if fault else place.free
            if blind:
                found += [
                    cell
                    for state in frontier
                    for change in deltas[state // stride % size]
                    if level[cell := state + change] < bound
                ]
            else:
                found += [
                    cell
                    for state in frontier
                    for change in deltas[state // whole * size + state // stride % size]
                    if level[cell := state + change] < bound
                ]
        for shared, shift, moves in joint:
            begin, end = shared * whole, (shared + 1) * whole
            for state in frontier:
                if begin <= state < end:
                    change = 0
                    for stride, by in moves:
                        change += by[state // stride % size]
                    if change and level[cell := state + shift + change] < bound:
                        found.append(cell)
        return found

    levels: list[Level] = []
    faults, number = 0, FIRST
    arriving: list[list[int]] = [[start_cell(tables, instances)]]
    while arriving:
        later: list[list[int]] = []
        frontier: list[int] = []
        steps = 0
        while frontier or steps < len(arriving):
            if steps < len(arriving):
                late = [state for state in arriving[steps] if level[state] < FIRST]
                for state in late:
                    level[state] = number
                frontier += late
            if frontier:
                levels.append(Level(faults, steps, len(frontier)))
                if faulty:
                    surprising: list[int] = []
                    for state in reached(frontier, True, fault_joint):
                        if level[state] == UNSEEN:
                            level[state] = PENDING
                            surprising.append(state)
                    if surprising:
                        while len(later) <= steps:
                            later.append([])
                        later.append(surprising)
                number += 1
                following: list[int] = []
                for state in reached(frontier, False, free_joint):
                    if level[state] < FIRST:
                        level[state] = number
                        following.append(state)
                frontier = following
            steps += 1
        arriving = later
        faults += 1
    return Explored(tables, instances, memoryview(level), tuple(levels))
