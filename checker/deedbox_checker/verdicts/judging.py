"""Verdicts: on what a spec states, on what it need not, and on what no run reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deedbox_dsl import core

from ..engine.several import Several
from ..expressions.evaluate import phase
from ..properties.stated import predicate
from ..properties.unasked import (
    acts_unstored,
    asks_too_often,
    ends_uncleanly,
    row_unawaited,
    unasked_of,
    waits_unjustified,
)
from ..search.runs import first_spin, first_state, first_step
from ..search.searching import Searched
from ..traces.trace import Trace
from ..upgrades.takeover import SAID, UPGRADES
from .lasting import never_handed_out, temporal
from .verdict import Verdict, judged, says


def unasked(searched: Searched) -> Iterator[Verdict]:
    """The checks that need no spec author."""
    made = searched.model
    states = {
        "rows_are_awaited": row_unawaited(made),
        "waits_are_justified": waits_unjustified(made),
        "ends_are_clean": ends_uncleanly(made),
        "effects_are_stored": acts_unstored,
    }
    for name, words in unasked_of(made.spec).items():
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
        yield Verdict(name, words, "BROKEN" if trace else "", trace)


def asked_too_often(searched: Searched) -> Trace | None:
    """An older version may have asked as often as it allows; nobody counts anew."""
    strict, older = asks_too_often(searched.model), searched.environment.older
    if older is None:
        return first_state(searched, strict)
    lenient, native = asks_too_often(searched.model, older.allowed()), searched.native()
    return first_state(
        searched, lambda world: lenient(world) or (strict(world) and world in native)
    ) or first_step(searched, "issues_are_bounded")


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


def crossed(searched: Searched, stated: core.Property) -> Verdict:
    trace = first_step(searched, stated.name)
    return judged(stated, trace, stated.name in searched.environment.reactions.met)


def possible(searched: Searched, stated: core.Property) -> Verdict:
    wanted = predicate(searched.model, stated.pred)
    happens = searched.some(wanted.holds)
    broken = "" if happens else "BROKEN: no run gets there"
    return Verdict(stated.name, says(stated), broken, None, stated)


def independent(product: Several) -> Verdict:
    words = "instances reach every combination of what each of them reaches"
    broken = "" if product.independent else "BROKEN: they are not independent"
    return Verdict("instances_are_independent", words, broken)


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
