"""What an exploration has found: counts, the first place of something, the run to it.

The engines leave one number for each state of the product, its level; everything
here is read off that, so it is the same whatever engine explored.  Instances are
equal and start equal: what one of them can do, the first can do, and is looked for
in the first digit only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .digits import compose, digits, start_cell
from .levels import FIRST, Explored


@dataclass(frozen=True, slots=True)
class Move:
    """A step of a run: which instance (None: all of them), by what label, to which state."""

    instance: int | None
    label: int
    cell: int


def block(explored: Explored, row: int) -> memoryview[int]:
    """The levels of all states in which the first instance is at `row`."""
    width = explored.tables.span(explored.instances - 1)
    return explored.level[row * width : (row + 1) * width]


def successors(explored: Explored, cell: int) -> Iterator[Move]:
    """The steps of one state, instance by instance, then the joint ones."""
    tables = explored.tables
    parts = digits(tables, explored.instances, cell)
    shared, own = parts[0], parts[1:]
    for instance, local in enumerate(own):
        for edge in tables.steps(shared * tables.locals + local):
            after, target = divmod(tables.targets[edge], tables.locals)
            moved = (after, *own[:instance], target, *own[instance + 1 :])
            yield Move(instance, tables.labels[edge], compose(tables, moved))
    for joint in tables.joints:
        if joint.shared == shared:
            moved = tuple(joint.moves[local] for local in own)
            if moved != own:
                cell_after = compose(tables, (joint.shared_after, *moved))
                yield Move(None, joint.label, cell_after)


def transitions(explored: Explored) -> int:
    """Steps between reached states, each label by itself."""
    if explored.instances == 1 and not explored.tables.joints:
        tables, level = explored.tables, explored.level
        return sum(
            len(tables.steps(row)) for row in range(len(level)) if level[row] >= FIRST
        )
    return sum(
        1
        for cell, level in enumerate(explored.level)
        if level >= FIRST
        for _ in successors(explored, cell)
    )


def orbits(explored: Explored) -> int:
    """How many states there are when nobody tells the instances apart.

    Equal instances that start equal reach a state in every order of its digits, so one
    of them has its digits in ascending order.
    """
    size = explored.tables.locals

    def ascending(prefix: int, low: int, left: int) -> int:
        if left == 1:
            row = explored.level[prefix * size + low : (prefix + 1) * size].tolist()
            return len(row) - row.count(0)
        return sum(
            ascending(prefix * size + digit, digit, left - 1)
            for digit in range(low, size)
        )

    return sum(
        ascending(shared, 0, explored.instances)
        for shared in range(explored.tables.shared)
    )


def first(explored: Explored, rows: Iterable[int]) -> int | None:
    """The cheapest state in which the first instance is at one of `rows`; then the lowest number."""
    best: tuple[int, int] | None = None
    width = explored.tables.span(explored.instances - 1)
    for row in rows:
        for offset, level in enumerate(block(explored, row)):
            if level >= FIRST and (
                best is None or (level, row * width + offset) < best
            ):
                best = (level, row * width + offset)
    return None if best is None else best[1]


def run(explored: Explored, cell: int) -> tuple[Move, ...]:
    """A run from the start to `cell` with the fewest faults, and then the fewest steps."""
    moves: list[Move] = []
    while cell != start_cell(explored.tables, explored.instances):
        move, cell = arrival(explored, cell)
        moves.append(move)
    return tuple(reversed(moves))


def arrival(explored: Explored, cell: int) -> tuple[Move, int]:
    """The last step of a cheapest run to `cell`, and the state before it."""
    here = explored.levels[explored.level[cell] - FIRST]
    for before in predecessors(explored, cell):
        number = explored.level[before]
        if number < FIRST:
            continue
        there = explored.levels[number - FIRST]
        if there.steps + 1 != here.steps or here.faults - there.faults not in (0, 1):
            continue
        for move in successors(explored, before):
            if (
                move.cell == cell
                and explored.tables.faults[move.label] == here.faults - there.faults
            ):
                return move, before
    raise AssertionError("a reached state has a predecessor one step cheaper")


def predecessors(explored: Explored, cell: int) -> Iterator[int]:
    """States that may have a step to `cell`, in ascending order of instance and row."""
    tables = explored.tables
    parts = digits(tables, explored.instances, cell)
    shared, own = parts[0], parts[1:]
    for instance, local in enumerate(own):
        target = shared * tables.locals + local
        for row in sources(explored, target):
            before, source = divmod(row, tables.locals)
            moved = (before, *own[:instance], source, *own[instance + 1 :])
            yield compose(tables, moved)
    for joint in tables.joints:
        if joint.shared_after == shared:
            yield from joint_sources(explored, joint.moves, joint.shared, own)


def sources(explored: Explored, target: int) -> Iterator[int]:
    tables = explored.tables
    for row in range(tables.locals * tables.shared):
        if target in tables.targets[tables.offsets[row] : tables.offsets[row + 1]]:
            yield row


def joint_sources(
    explored: Explored,
    moves: Iterable[int],
    shared: int,
    own: tuple[int, ...],
) -> Iterator[int]:
    """All states which a joint step turns into the local states `own`."""
    by_target: dict[int, list[int]] = {}
    for local, target in enumerate(moves):
        by_target.setdefault(target, []).append(local)
    choices = [by_target.get(local, []) for local in own]

    def combined(prefix: tuple[int, ...], rest: list[list[int]]) -> Iterator[int]:
        if not rest:
            yield compose(explored.tables, (shared, *prefix))
            return
        for local in rest[0]:
            yield from combined((*prefix, local), rest[1:])

    return combined((), choices)
