"""One instance as integers: its local states, and the steps between them.

A row is `shared * locals + local`; a step leads from a row to a row.  A step has a
label, and a label is a fault or is not.  A joint step happens to every instance
at once (the crash of a process): it is possible where it moves at least one.
Knows nothing of machines: the engines explore any such tables.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)
SAMPLE = 10_000


@dataclass(frozen=True, slots=True)
class Joint:
    """With the shared state `shared`, each local state becomes what `moves` says."""

    label: int
    shared: int
    shared_after: int
    moves: array[int]


@dataclass(frozen=True, slots=True)
class Tables:
    """The steps of row `r` are those from `offsets[r]` to `offsets[r + 1]`; `faults` has a byte a label."""

    locals: int
    shared: int
    start: int
    offsets: array[int]
    targets: array[int]
    labels: array[int]
    faults: bytes
    joints: tuple[Joint, ...] = ()

    def span(self, digits: int) -> int:
        """How many values `digits` local states have together."""
        span = 1
        for _ in range(digits):
            span *= self.locals
        return span

    def steps(self, row: int) -> range:
        return range(self.offsets[row], self.offsets[row + 1])


def tables(
    locals: int,
    shared: int,
    start: int,
    steps: Iterable[Iterable[tuple[int, int]]],
    faults: bytes,
    joints: tuple[Joint, ...] = (),
) -> Tables:
    """`steps` gives, row by row, the pairs of target row and label."""
    offsets, targets, labels = array("I", [0]), array("I"), array("I")
    for row in steps:
        for target, label in row:
            targets.append(target)
            labels.append(label)
        offsets.append(len(targets))
    return Tables(locals, shared, start, offsets, targets, labels, faults, joints)


class Unbounded(Exception):
    """The closure has more states than the limit allows; it holds the last that were met."""

    def __init__(self, states: Sequence[object]) -> None:
        super().__init__()
        self.states = states


@dataclass(frozen=True, slots=True)
class Closure(Generic[T]):
    """What can be reached, in the order in which it was first met, and the steps."""

    states: tuple[T, ...]
    index: dict[T, int]
    offsets: array[int]
    targets: array[int]
    labels: array[int]


def close(
    starts: Iterable[T],
    successors: Callable[[T], Iterable[tuple[T, int]]],
    limit: int,
) -> Closure[T]:
    """Everything that `successors` (state and label) makes out of `starts`."""
    index: dict[T, int] = {}
    states: list[T] = []
    for state in starts:
        if state not in index:
            index[state] = len(states)
            states.append(state)
    offsets, targets, labels = array("I", [0]), array("I"), array("I")
    at = 0
    while at < len(states):
        for state, label in successors(states[at]):
            number = index.get(state)
            if number is None:
                number = index[state] = len(states)
                if number >= limit:
                    raise Unbounded(states[-SAMPLE:])
                states.append(state)
            targets.append(number)
            labels.append(label)
        offsets.append(len(targets))
        at += 1
    return Closure(tuple(states), index, offsets, targets, labels)
