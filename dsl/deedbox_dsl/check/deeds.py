"""Which deed is open in each state, and which states must store its number.

A deed is open in the state that awaits its command, and in the states entered by
leaving that state other than by an answer.  The forward pass collects, for each
state, what may be open on the ways in (a may-analysis to its fixed point); a
deed may be named only where every way agrees.  The backward pass stores its
number only where a later `repeat` or `deed` still reads it.
It reads the syntax tree, because typing a block needs the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .. import syntax
from ..walk import nodes


@dataclass(frozen=True, slots=True)
class Edge:
    """One way from `source` (None: from `start`) to `target`, and what it does to a deed."""

    source: str | None
    target: str
    answer: bool
    reads: bool


@dataclass(frozen=True, slots=True)
class Deeds:
    """`open`: the command whose deed every way into the state leaves open.  `stored`: where its number is kept."""

    open: Mapping[str, str]
    stored: frozenset[str]


def deeds(awaits: Mapping[str, str | None], edges: Iterable[Edge]) -> Deeds:
    """The deeds of a machine whose states await these commands."""
    ways = tuple(edges)
    found = _forward(awaits, ways)
    readable: dict[str, str] = {}
    for state, possible in found.items():
        only = next(iter(possible)) if len(possible) == 1 else None
        if only is not None:
            readable[state] = only
    return Deeds(readable, _backward(awaits, ways, readable))


def edges(machine: syntax.Machine) -> list[Edge]:
    """The ways of a machine, as written."""
    found: list[Edge] = []
    for item in machine.items:
        match item:
            case syntax.Start(block=syntax.Block(exit=syntax.Goto(state=target))):
                found.append(Edge(None, target.text, answer=False, reads=False))
            case syntax.Inside(states=states, clauses=clauses):
                for clause in clauses:
                    found += _of_clause(clause, [state.text for state in states])
            case _:
                pass
    return found


def _of_clause(clause: syntax.Clause, states: list[str]) -> list[Edge]:
    if isinstance(clause, syntax.Ignore):
        return []
    answer = isinstance(clause, syntax.On) and clause.trigger.outcome is not None
    reads = any(
        isinstance(node, syntax.Repeat)
        or (isinstance(node, syntax.Var) and node.name == "deed")
        for node in nodes((clause.guard, clause.block))
    )
    target = clause.block.exit
    return [
        Edge(
            state,
            target.state.text if isinstance(target, syntax.Goto) else state,
            answer,
            reads,
        )
        for state in states
    ]


def _forward(
    awaits: Mapping[str, str | None], ways: tuple[Edge, ...]
) -> dict[str, set[str | None]]:
    leaving: dict[str, list[Edge]] = defaultdict(list)
    found: dict[str, set[str | None]] = {
        state: set() if command is None else {command}
        for state, command in awaits.items()
    }
    waiting: list[str] = [state for state, command in awaits.items() if command]
    for way in ways:
        if way.source is None:
            if awaits.get(way.target, "") is None:
                found[way.target].add(None)
                waiting.append(way.target)
        else:
            leaving[way.source].append(way)
    while waiting:
        state = waiting.pop()
        for way in leaving[state]:
            if awaits.get(way.target, "") is not None:
                continue
            carried = {None} if way.answer else found[state]
            if not carried <= found[way.target]:
                found[way.target] |= carried
                waiting.append(way.target)
    return found


def _backward(
    awaits: Mapping[str, str | None],
    ways: tuple[Edge, ...],
    readable: Mapping[str, str],
) -> frozenset[str]:
    entering: dict[str, list[str]] = defaultdict(list)
    stored = {state for state, command in awaits.items() if command is not None}
    waiting: list[str] = []
    for way in ways:
        if way.source is None or awaits.get(way.source, "") is not None:
            continue
        if way.reads and way.source in readable:
            waiting.append(way.source)
        if awaits.get(way.target, "") is None:
            entering[way.target].append(way.source)
    while waiting:
        state = waiting.pop()
        if state not in stored and state in readable:
            stored.add(state)
            waiting += entering[state]
    return frozenset(stored)
