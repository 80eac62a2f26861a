"""A graph of numbered states, and what its steps are bound to.

A step that changes nothing is no step: it neither enables a group nor takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Graph:
    """States by number; `faults` and `ends` have a byte a label: it is a fault, it is taken only finitely often."""

    start: int
    offsets: Sequence[int]
    targets: Sequence[int]
    labels: Sequence[int]
    faults: bytes
    ends: bytes

    @property
    def size(self) -> int:
        return len(self.offsets) - 1

    def steps(self, state: int) -> range:
        return range(self.offsets[state], self.offsets[state + 1])


@dataclass(frozen=True, slots=True)
class Fair:
    """Steps with one of these labels do not wait for ever.

    Weak: not while one is possible all the time.  Strong: not while one is possible
    again and again.
    """

    name: str
    labels: frozenset[int]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    label: int
    state: int


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run that breaks the property: `prefix` once, then `loop` for ever.

    An empty `loop` stays in the last state for ever.  `owing` counts the steps of the
    prefix after which the premise held.  `excused` says of each group why the run is
    fair to it although it never leaves the loop.
    """

    prefix: tuple[Hop, ...]
    loop: tuple[Hop, ...]
    owing: int
    excused: tuple[tuple[str, str], ...]


def label_masks(graph: Graph, fairness: Sequence[Fair]) -> list[int]:
    """For each label the set of groups, as bits, that it takes."""
    return [
        sum(1 << bit for bit, fair in enumerate(fairness) if label in fair.labels)
        for label in range(len(graph.ends))
    ]


def enabled_groups(graph: Graph, fairness: Sequence[Fair]) -> list[int]:
    """For each state the set of groups, as bits, of which a step that changes it is possible."""
    masks = label_masks(graph, fairness)
    enabled = [0] * graph.size
    for state in range(graph.size):
        groups = 0
        for edge in graph.steps(state):
            if graph.targets[edge] != state:
                groups |= masks[graph.labels[edge]]
        enabled[state] = groups
    return enabled


def reachable(graph: Graph) -> list[int]:
    seen = bytearray(graph.size)
    seen[graph.start] = 1
    found = [graph.start]
    for state in found:
        for edge in graph.steps(state):
            after = graph.targets[edge]
            if not seen[after]:
                seen[after] = 1
                found.append(after)
    return found


def inner_edges(graph: Graph, component: frozenset[int]) -> Iterator[tuple[int, int]]:
    """State and edge of every lasting step within the component."""
    for state in sorted(component):
        for edge in graph.steps(state):
            if (
                graph.targets[edge] in component
                and graph.targets[edge] != state
                and not graph.ends[graph.labels[edge]]
            ):
                yield state, edge
