"""A state of the product of equal instances as one number.

The shared state and the local states are the digits of a mixed radix, the shared state
first.  A step of one instance adds the same to the number wherever the others are, so
what it adds is found once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .tables import Tables

Deltas = list[tuple[int, ...]]
"""What the steps of each row add to the number of a product state; empty: nothing ever."""


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


def differences(
    tables: Tables, instances: int, stride: int, blind: bool, fault: bool
) -> Deltas:
    """`stride`: of the digit that moves; `blind`: no row reads the shared state."""
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
    return found if any(found) else []


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


JointMoves = list[tuple[int, int, list[tuple[int, list[int]]]]]
"""Of each joint step: the shared state it needs, what it adds for it, and for each digit."""


def joint_moves(tables: Tables, instances: int, fault: bool) -> JointMoves:
    size = tables.locals
    found: JointMoves = []
    for joint in tables.joints:
        if bool(tables.faults[joint.label]) is fault:
            change = (joint.shared_after - joint.shared) * tables.span(instances)
            moves = [
                (stride, [(joint.moves[n] - n) * stride for n in range(size)])
                for stride in (tables.span(place) for place in range(instances))
            ]
            found.append((joint.shared, change, moves))
    return found
