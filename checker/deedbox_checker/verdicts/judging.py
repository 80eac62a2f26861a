"""Verdicts: on what a spec states, on what it need not, and on what no run reaches.

Nothing passes for want of a case: a premise that never happens is no proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from deedbox_dsl import core

from ..engine.several import Several
from ..engine.tables import Unbounded
from ..environment.labels import ENDING, Kind
from ..expressions.evaluate import phase
from ..liveness.graph import Fair, Graph
from ..liveness.temporal import refute
from ..properties.stated import Predicate, predicate
from ..properties.unasked import (
    acts_unstored,
    asks_too_often,
    ends_uncleanly,
    is_owed,
    row_unawaited,
    unasked_of,
    waits_unjustified,
)
from ..search.runs import first_spin, first_state, first_step, lasso_trace
from ..search.searching import LIMIT, Searched
from ..search.within import overdue
from ..traces.trace import Trace
from ..upgrades.takeover import SAID, UPGRADES


@dataclass(frozen=True, slots=True)
class Verdict:
    """`broken` says why it does not hold, empty when it does; `stated` None: not asked for."""

    name: str
    says: str
    broken: str = ""
    trace: Trace | None = None
    stated: core.Property | None = None

    @property
    def holds(self) -> bool:
        return not self.broken


def unasked(searched: Searched) -> Iterator[Verdict]:
    """The checks that need no spec author."""
    made = searched.model
    states = {
        "rows_are_awaited": row_unawaited(made),
        "waits_are_justified": waits_unjustified(made),
        "ends_are_clean": ends_uncleanly(made),
        "effects_are_stored": acts_unstored,
    }
    for name, says in unasked_of(made.spec).items():
        if name in states:
            trace = first_state(searched, states[name])
        elif name == "no_spin":
            trace = first_step(searched, name) or first_spin(searched)
        elif name == "issues_are_bounded":
            trace = asked_too_often(searched)
        elif name == "owed_is_handed_out":
            trace = never_handed_out(searched)
        else:
            trace = first_step(searched, name)
        yield Verdict(name, says, "BROKEN" if trace else "", trace)


def asked_too_often(searched: Searched) -> Trace | None:
    """An older version may have asked as often as it allows; nobody counts anew."""
    strict, older = asks_too_often(searched.model), searched.environment.older
    if older is None:
        return first_state(searched, strict)
    lenient, native = asks_too_often(searched.model, older.allowed()), searched.native()
    return first_state(
        searched, lambda world: lenient(world) or (strict(world) and world in native)
    ) or first_step(searched, "issues_are_bounded")


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


def upgraded(searched: Searched, lost: Iterable[str]) -> Verdict:
    """Whether all that older versions store becomes something; `lost`: what does not, by its shape."""
    trace = first_step(searched, UPGRADES)
    if trace is not None:
        return Verdict(UPGRADES, SAID, "BROKEN", trace)
    reason = next(iter(lost), "")
    return Verdict(UPGRADES, SAID, f"BROKEN: {reason}" if reason else "")


def asked(searched: Searched) -> Iterator[Verdict]:
    """What the spec states."""
    for stated in searched.model.spec.properties:
        match stated.word:
            case "invariant" | "never":
                yield bounded(searched, stated)
            case "across":
                yield crossed(searched, stated)
            case "sometimes":
                yield possible(searched, stated)
            case "eventually" | "leads":
                yield temporal(searched, stated)


def says(stated: core.Property) -> str:
    if stated.within is None:
        return f"{stated.word} {stated.name}"
    return f"{stated.word} {stated.name} (within: wakes on time)"


def bounded(searched: Searched, stated: core.Property) -> Verdict:
    wanted = predicate(searched.model, stated.pred)
    if stated.word == "never":
        trace = first_state(searched, wanted.holds)
        exercised = not stated.pred.states or searched.some(wanted.applies)
    else:
        trace = first_state(
            searched, lambda world: wanted.applies(world) and not wanted.holds(world)
        )
        exercised = searched.some(wanted.applies)
    return judged(stated, trace, exercised)


def judged(stated: core.Property, trace: Trace | None, exercised: bool) -> Verdict:
    broken = (
        "BROKEN" if trace else "" if exercised else "VACUOUS: its premise never happens"
    )
    return Verdict(stated.name, says(stated), broken, trace, stated)


def crossed(searched: Searched, stated: core.Property) -> Verdict:
    trace = first_step(searched, stated.name)
    return judged(stated, trace, stated.name in searched.environment.reactions.met)


def possible(searched: Searched, stated: core.Property) -> Verdict:
    wanted = predicate(searched.model, stated.pred)
    happens = searched.some(wanted.holds)
    broken = "" if happens else "BROKEN: no run gets there"
    return Verdict(stated.name, says(stated), broken, None, stated)


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


def independent(product: Several) -> Verdict:
    says = "instances reach every combination of what each of them reaches"
    broken = "" if product.independent else "BROKEN: they are not independent"
    return Verdict("instances_are_independent", says, broken)


def uncovered(searched: Searched) -> Iterator[str]:
    """States and lines of the spec that no run reaches."""
    spec = searched.model.spec
    reached = {
        phase(world.state) for world in searched.closure.states if searched.own(world)
    }
    for state in spec.states:
        if state.name not in reached:
            yield f"state {state.name}"
    followed = searched.environment.reactions.followed
    alive = {spec.clauses[number].span for number in followed}
    dead: dict[int, None] = {}
    for clause in spec.clauses:
        refuses = clause.body is None or isinstance(clause.body.exit, core.Reject)
        if not refuses and clause.span not in alive:
            dead[clause.span.line] = None
    for line in dead:
        yield f"line {line}"
