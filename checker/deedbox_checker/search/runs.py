"""The run that shows it: to a state, by a step, into a loop; always a cheapest.

Levels are ordered by faults and then steps, so the first place where something is
found is one that needs the fewest of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from ..engine import levels, walk
from ..engine.tables import Tables
from ..environment.labels import COUNTED, Kind, Label
from ..expressions.evaluate import phase
from ..instance.world import World
from ..liveness.components import components
from ..liveness.graph import Lasso
from ..traces.trace import Run, Trace, lines
from .searching import Searched

Excuse: TypeAlias = tuple[str, str]
"""Something fair, and why it does not help."""
FREE: Final = "free, and every time"
"""So begins the reason of what nothing binds."""


def run_trace(searched: Searched, cell: int, *after: int) -> Trace:
    """The cheapest run to a state, and then by the edges `after`."""
    moves = walk.run(searched.explored, cell)
    numbers = [searched.tables.start, *(move.cell for move in moves)]
    labels = [searched.labels[move.label] for move in moves]
    for edge in after:
        numbers.append(searched.tables.targets[edge])
        labels.append(searched.labels[searched.tables.labels[edge]])
    worlds = [searched.closure.states[number] for number in numbers]
    return Trace(
        lines(searched.environment, worlds, labels),
        fault_count(labels),
        run=Run(searched.environment, tuple(worlds), tuple(labels)),
    )


def fault_count(labels: Sequence[Label]) -> int:
    return sum(label.kind in COUNTED for label in labels)


def first_state(searched: Searched, wanted: Callable[[World], bool]) -> Trace | None:
    rows = [
        n
        for n, world in enumerate(searched.closure.states)
        if searched.own(world) and wanted(world)
    ]
    cell = walk.first(searched.explored, rows)
    return None if cell is None else run_trace(searched, cell)


def first_step(searched: Searched, name: str) -> Trace | None:
    """The cheapest run that ends in a step which breaks `name`."""
    guilty = {n for n, label in enumerate(searched.labels) if name in label.broken}
    if not guilty:
        return None
    tables, level = searched.tables, searched.explored.level
    best: tuple[int, int, int] | None = None
    for row in range(tables.locals):
        for edge in tables.steps(row):
            label = tables.labels[edge]
            if label in guilty:
                costs = (tables.faults[label], level[row], edge)
                here = searched.explored.levels[level[row] - levels.FIRST]
                costs = (here.faults + costs[0], here.steps, edge)
                if best is None or costs < best:
                    best = costs
    if best is None:
        return None
    edge = best[2]
    return run_trace(searched, source_of(tables, edge), edge)


def source_of(tables: Tables, edge: int) -> int:
    low, high = 0, tables.locals - 1
    while low < high:
        middle = (low + high) // 2
        if tables.offsets[middle + 1] <= edge:
            low = middle + 1
        else:
            high = middle
    return low


def first_spin(searched: Searched) -> Trace | None:
    """A cycle of deadlines that fire at one time without a change of phase."""
    tables, worlds = searched.tables, searched.closure.states
    fires: dict[int, tuple[int, ...]] = {}
    for row in range(tables.locals):
        fires[row] = tuple(
            target
            for edge in tables.steps(row)
            if searched.labels[tables.labels[edge]].kind is Kind.DUE
            and searched.own(worlds[row])
            and phase(worlds[target := tables.targets[edge]].state)
            == phase(worlds[row].state)
        )
    spinning = [
        row
        for component in components(set(fires), fires)
        for row in component
        if len(component) > 1
    ]
    cell = walk.first(searched.explored, spinning)
    return (
        None
        if cell is None
        else run_trace(searched, cell, *round_of(searched, cell, set(spinning)))
    )


def round_of(searched: Searched, cell: int, spinning: set[int]) -> list[int]:
    """The edges of the shortest round of deadlines from this state back to it."""
    tables = searched.tables
    ways: dict[int, list[int]] = {cell: []}
    for row in (waiting := [cell]):
        for edge in tables.steps(row):
            after = tables.targets[edge]
            if (
                searched.labels[tables.labels[edge]].kind is Kind.DUE
                and after in spinning
            ):
                if after == cell:
                    return [*ways[row], edge]
                if after not in ways:
                    ways[after] = [*ways[row], edge]
                    waiting.append(after)
    raise AssertionError("it is one of a component")


def lasso_trace(searched: Searched, lasso: Lasso) -> Trace:
    """The run into the loop, and the loop."""
    hops = (*lasso.prefix, *lasso.loop)
    numbers = [searched.tables.start, *(hop.state for hop in hops)]
    labels = [searched.labels[hop.label] for hop in hops]
    worlds = [searched.closure.states[number] for number in numbers]
    told = lines(searched.environment, worlds, labels)
    cut = len(lasso.prefix)
    return Trace(
        told[:cut],
        fault_count(labels),
        told[cut:],
        not lasso.loop,
        (*lasso.excused, *free_answers(searched, labels[cut:])),
        Run(searched.environment, tuple(worlds), tuple(labels)),
    )


def free_answers(searched: Searched, loop: Sequence[Label]) -> Iterator[Excuse]:
    """What the far side chose every time round, and what a spec may say against it."""
    given: dict[str, set[str]] = {}
    for label in loop:
        if label.kind is Kind.FAR_SIDE:
            command, _, outcome = label.subject.partition(".")
            given.setdefault(command, set()).add(outcome)
    for command, outcomes in given.items():
        others = {
            answer.outcome: f"`assume {command}.{answer.outcome} in the end`"
            for answer in searched.model.answers[command]
            if answer.outcome not in outcomes
        }
        if others:
            always = f"{FREE} {' or '.join(sorted(outcomes))}"
            ruled_out = f"ruled out by {' or '.join(others.values())}"
            yield f"which answer {command} gets", f"{always}; {ruled_out}"
