"""The product of equal instances, explored with the standard library alone."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from .digits import (
    JointMoves,
    Place,
    cells,
    joint_moves,
    places,
    shared_blind,
    start_cell,
)
from .levels import CELLS, FIRST, PENDING, UNSEEN, Explored, TooLarge, in_order
from .tables import Tables


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Sets of states as lists; `level`: of each possible state.

    `size` and `whole` cut a digit out of a number: of one instance, of the shared state.
    """

    level: array[int]
    size: int
    whole: int
    blind: bool
    places: tuple[Place, ...]
    free_joint: JointMoves
    fault_joint: JointMoves

    def none(self) -> list[int]:
        return []

    def both(self, one: list[int], other: list[int]) -> list[int]:
        return one + other

    def settled(self, states: list[int], number: int) -> list[int]:
        level = self.level
        fresh = [state for state in states if level[state] < FIRST]
        for state in fresh:
            level[state] = number
        return fresh

    def surprising(self, states: list[int]) -> list[int]:
        level, found = self.level, list[int]()
        for state in self._reached(states, True, self.fault_joint):
            if level[state] == UNSEEN:
                level[state] = PENDING
                found.append(state)
        return found

    def following(self, states: list[int], number: int) -> list[int]:
        level, found = self.level, list[int]()
        for state in self._reached(states, False, self.free_joint):
            if level[state] < FIRST:
                level[state] = number
                found.append(state)
        return found

    def _reached(self, states: list[int], fault: bool, joint: JointMoves) -> list[int]:
        """The successors that no level has; one may occur more than once."""
        level, size, whole = self.level, self.size, self.whole
        found: list[int] = []
        bound = PENDING if fault else FIRST
        for place in self.places:
            stride, deltas = place.stride, place.fault if fault else place.free
            if not deltas:
                continue
            if self.blind:
                found += [
                    cell
                    for state in states
                    for change in deltas[state // stride % size]
                    if level[cell := state + change] < bound
                ]
            else:
                found += [
                    cell
                    for state in states
                    for change in deltas[state // whole * size + state // stride % size]
                    if level[cell := state + change] < bound
                ]
        for shared, shift, moves in joint:
            begin, end = shared * whole, (shared + 1) * whole
            for state in states:
                if begin <= state < end:
                    change = 0
                    for stride, by in moves:
                        change += by[state // stride % size]
                    if change and level[cell := state + shift + change] < bound:
                        found.append(cell)
        return found


def explore(tables: Tables, instances: int = 1, limit: int = CELLS) -> Explored:
    """Every reachable state of the product."""
    total = cells(tables, instances)
    if total > limit:
        raise TooLarge
    blind = shared_blind(tables)
    level = array("I", bytes(4 * total))
    engine = Lists(
        level,
        tables.locals,
        tables.span(instances),
        blind,
        places(tables, instances, blind),
        joint_moves(tables, instances, fault=False),
        joint_moves(tables, instances, fault=True),
    )
    found = in_order(engine, [start_cell(tables, instances)])
    return Explored(tables, instances, memoryview(level), found)
