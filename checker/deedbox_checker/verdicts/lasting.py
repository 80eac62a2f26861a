"""Verdicts on what must happen in the end: `eventually`, `leads`, and what is owed.

Who is bound to act, and what only may happen, is said here; whether there is a run that
is fair to it and never gets there, `temporal` finds.
"""

from __future__ import annotations

from collections.abc import Sequence

from deedbox_dsl import core

from ..engine.tables import Unbounded
from ..environment.labels import ENDING, Kind
from ..liveness.graph import Fair, Graph
from ..liveness.temporal import refute
from ..properties.stated import Predicate, predicate
from ..properties.unasked import is_owed
from ..search.runs import lasso_trace
from ..search.searching import LIMIT, Searched
from ..search.within import overdue
from ..traces.trace import Trace
from .verdict import Verdict, judged, says


def never_handed_out(searched: Searched) -> Trace | None:
    """A row that stays owed for ever.

    Where each owed row can be handed out, it is: a worker goes on, whatever else happens.
    """
    tables, worlds = searched.tables, searched.closure.states
    owed = bytes(map(is_owed, worlds))
    hand_out = bytes(label.kind is Kind.HAND_OUT for label in searched.labels)
    if all(
        any(hand_out[tables.labels[edge]] for edge in tables.steps(row))
        for row, waits in enumerate(owed)
        if waits
    ):
        return None
    settled = bytes(not waits for waits in owed)
    lasso = refute(as_graph(searched), owed, settled, fairness(searched))
    return None if lasso is None else lasso_trace(searched, lasso)


def temporal(searched: Searched, stated: core.Property) -> Verdict:
    graph = as_graph(searched)
    conditions = fairness(searched)
    source: Predicate | None = None
    if stated.word == "leads" and stated.target is not None:
        source = predicate(searched.model, stated.pred)
        goal = predicate(searched.model, stated.target)
    else:
        goal = predicate(searched.model, stated.pred)
    worlds = searched.closure.states
    own = [searched.own(world) for world in worlds]
    target = bytes(
        mine and goal.holds(world) for mine, world in zip(own, worlds, strict=True)
    )
    begun = starts(searched, own, target)
    premise = bytes(
        number in begun if source is None else own[number] and source.holds(world)
        for number, world in enumerate(worlds)
    )
    if not any(premise):
        return judged(stated, None, exercised=False)
    if not conditions:
        reason = "REFUSED: no step is bound to happen"
        return Verdict(stated.name, says(stated), reason, None, stated)
    lasso = refute(graph, premise, target, conditions)
    if lasso is not None:
        return judged(stated, lasso_trace(searched, lasso), exercised=True)
    if stated.within is None:
        return judged(stated, None, exercised=True)
    try:
        trace = overdue(searched.model, stated, LIMIT)
    except Unbounded:
        reason = f"INCOMPLETE: more than {LIMIT:,} states in milliseconds"
        return Verdict(stated.name, says(stated), reason, None, stated)
    return judged(stated, trace, exercised=True)


def starts(searched: Searched, own: Sequence[bool], target: bytes) -> set[int]:
    """The states from which `eventually` is owed: those that a first start makes.

    So is what an instance of an older version becomes, unless it has met the target in
    a state before: in one of which all that it becomes meets it.
    """
    tables = searched.tables
    found: set[int] = set()
    waiting, known = [tables.start], {tables.start}
    while waiting:
        row = waiting.pop()
        after = {tables.targets[edge] for edge in tables.steps(row)}
        mine = {each for each in after if own[each]}
        if row != tables.start and mine and all(target[each] for each in mine):
            continue
        found |= mine
        waiting += after - mine - known
        known |= after
    return found


def as_graph(searched: Searched) -> Graph:
    tables = searched.tables
    return Graph(
        tables.start,
        tables.offsets,
        tables.targets,
        tables.labels,
        tables.faults,
        bytes(label.kind in ENDING for label in searched.labels),
    )


def fairness(searched: Searched) -> list[Fair]:
    """The interpreter goes on, deadlines fire, time passes, the far side answers.

    Weakly: each unless it stops being possible, as when a silence comes first.  An answer
    that is assumed in the end is asked for, given and heard, however often silence wins.
    """

    weak = {
        "commands are handed out": Kind.HAND_OUT,
        "answers are taken": Kind.TAKE,
        "deadlines fire": Kind.DUE,
        "time goes on": Kind.TIME,
        "the far side answers": Kind.FAR_SIDE,
    }
    found: list[Fair] = []
    for name, kind in weak.items():
        group = frozenset(
            number for number, label in enumerate(searched.labels) if label.kind is kind
        )
        if group:
            found.append(Fair(name, group))
    for command, outcome in searched.model.spec.bounds.assumed:
        pair = f"{command}.{outcome}"
        for kind, subject, name in (
            (Kind.HAND_OUT, command, f"{command} is handed out in the end"),
            (Kind.FAR_SIDE, pair, f"{pair} in the end"),
            (Kind.TAKE, pair, f"{pair} is heard in the end"),
        ):
            group = frozenset(
                number
                for number, label in enumerate(searched.labels)
                if label.kind is kind and label.subject == subject
            )
            found.append(Fair(name, group, strong=True))
    return found
