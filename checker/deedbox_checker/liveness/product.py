"""The product of instances as one labelled graph, and its debts settled with numpy.

For liveness of several instances at once.  The graph is that of `temporal`; here only
what visits every state is done on whole arrays: which groups are enabled, who owes,
and the peeling.  Components, fairness and the run are left to `temporal`, and have
little to do: most of the time nothing is left to split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engine.digits import start_cell
from ..engine.levels import FIRST, Explored
from . import temporal
from .graph import Fair, Graph, Lasso, label_masks

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Product:
    """`cells[state]` is the number that the exploration gave a state.

    The label of a step of instance `i` is `i * labels + label`; of a joint step,
    `instances * labels + label`.
    """

    graph: Graph
    cells: Numbers


def product(explored: Explored, ends: bytes) -> Product:
    """The reached states and every step between them; `ends` has a byte a label."""
    tables, instances = explored.tables, explored.instances
    level = np.frombuffer(explored.level, dtype=np.uint32)
    cells = np.flatnonzero(level >= FIRST)
    numbers = np.zeros(len(level), dtype=np.int64)
    numbers[cells] = np.arange(len(cells))
    size, whole = tables.locals, tables.span(instances)
    sources: list[Numbers] = []
    targets: list[Numbers] = []
    labels: list[Numbers] = []

    def add(at: Numbers, after: Numbers, label: Numbers) -> None:
        sources.append(at)
        targets.append(numbers[after])
        labels.append(label)

    offsets = np.array(tables.offsets, dtype=np.int64)
    ahead = np.array(tables.targets, dtype=np.int64)
    named = np.array(tables.labels, dtype=np.int64)
    many = len(ends)
    for instance in range(instances):
        stride = tables.span(instances - 1 - instance)
        rows = cells // whole * size + cells // stride % size
        degrees = offsets[rows + 1] - offsets[rows]
        at = np.repeat(np.arange(len(cells)), degrees)
        edge = edges_of(offsets, rows)
        after, row = ahead[edge], np.repeat(rows, degrees)
        change = (after // size - row // size) * whole
        change += (after % size - row % size) * stride
        add(at, cells[at] + change, named[edge] + instance * many)
    for joint in tables.joints:
        moves = np.array(joint.moves, dtype=np.int64)
        at = np.flatnonzero(cells // whole == joint.shared)
        change = np.zeros(len(at), dtype=np.int64)
        for place in range(instances):
            local = cells[at] // tables.span(place) % size
            change += (moves[local] - local) * tables.span(place)
        moved = np.flatnonzero(change)
        shift = (joint.shared_after - joint.shared) * whole
        label = np.full(len(moved), joint.label + instances * many, dtype=np.int64)
        add(at[moved], cells[at[moved]] + change[moved] + shift, label)
    source = np.concatenate(sources)
    order = np.argsort(source, kind="stable")
    counts = np.bincount(source, minlength=len(cells))
    graph = Graph(
        int(numbers[start_cell(tables, instances)]),
        begins(counts).data,
        np.concatenate(targets)[order].data,
        np.concatenate(labels)[order].data,
        tables.faults * (instances + 1),
        ends * (instances + 1),
    )
    return Product(graph, cells)


def begins(counts: Numbers) -> Numbers:
    """Where each row begins, and the last one ends, when rows have so many edges."""
    found = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=found[1:])
    return found


def edges_of(offsets: Numbers, rows: Numbers) -> Numbers:
    """All edges of these rows, one row after the other."""
    many = offsets[rows + 1] - offsets[rows]
    # An edge is as far behind the first of its row as it is behind the first of all,
    # less the edges of the rows before.
    shift: Numbers = np.repeat(offsets[rows] - np.cumsum(many) + many, many)
    return shift + np.arange(len(shift))


def refute(
    graph: Graph, premise: bytes, target: bytes, fairness: Sequence[Fair]
) -> Lasso | None:
    """What `temporal.refute` says, for graphs of which every state is reached."""
    offsets = np.array(graph.offsets, dtype=np.int64)
    ahead = np.array(graph.targets, dtype=np.int64)
    labels = np.array(graph.labels, dtype=np.int64)
    source = np.repeat(np.arange(graph.size), np.diff(offsets))
    changes = ahead != source
    masks = np.array(label_masks(graph, fairness) or [0], dtype=np.int64)
    enabled = np.zeros(graph.size, dtype=np.int64)
    np.bitwise_or.at(enabled, source[changes], masks[labels[changes]])
    owes = owing(graph.size, offsets, ahead, premise, target)
    ends = np.frombuffer(graph.ends, dtype=np.uint8)[labels] != 0
    lasting = changes & ~ends & owes[source] & owes[ahead]
    left, stuck = peeled(owes, source[lasting], ahead[lasting])
    if enabled[stuck].all() and not left.any():
        return None
    return temporal.refute(graph, premise, target, fairness)


def owing(
    size: int, offsets: Numbers, ahead: Numbers, premise: bytes, target: bytes
) -> NDArray[np.bool_]:
    """The states in which something is owed, level by level."""
    met = np.frombuffer(target, dtype=np.uint8) != 0
    owes: NDArray[np.bool_] = (np.frombuffer(premise, dtype=np.uint8) != 0) & ~met
    frontier = np.flatnonzero(owes)
    while len(frontier):
        after = ahead[edges_of(offsets, frontier)]
        after = after[~owes[after] & ~met[after]]
        fresh = np.zeros(size, dtype=np.bool_)
        fresh[after] = True
        owes |= fresh
        frontier = np.flatnonzero(fresh)
    return owes


def peeled(
    owes: NDArray[np.bool_], source: Numbers, ahead: Numbers
) -> tuple[NDArray[np.bool_], Numbers]:
    """What may go on for ever, and the states that were peeled off (Kahn, backwards)."""
    size = len(owes)
    degree = np.bincount(source, minlength=size)
    order = np.argsort(ahead, kind="stable")
    before = source[order]
    begin = begins(np.bincount(ahead, minlength=size))
    left = owes.copy()
    ready = np.flatnonzero(owes & (degree == 0))
    gone: list[Numbers] = []
    while len(ready):
        gone.append(ready)
        left[ready] = False
        touched = before[edges_of(begin, ready)]
        np.subtract.at(degree, touched, 1)
        touched = np.unique(touched)
        ready = touched[(degree[touched] == 0) & left[touched]]
    return left, np.concatenate(gone) if gone else np.empty(0, dtype=np.int64)
