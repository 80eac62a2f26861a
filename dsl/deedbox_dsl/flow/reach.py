"""What is reached from `start`, and from where an end is reached.

Two searches of the graph of states, forward from the start and backward from the
finals; guards are taken to be possible.  A state that awaits what nobody asks for
is no news here: `flights` says why nothing leads there.  A property whose premise speaks only of
states that are never reached holds for no reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from .. import core
from ..check.facts import Facts
from ..check.learning import learn
from ..problems import Problem


def reach(machine: core.Machine) -> list[Problem]:
    forward: dict[str, set[str]] = defaultdict(set)
    backward: dict[str, set[str]] = defaultdict(set)
    for clause in machine.clauses:
        if clause.body is not None and isinstance(clause.body.exit, core.Goto):
            forward[clause.state].add(clause.body.exit.state)
            backward[clause.body.exit.state].add(clause.state)
    assert isinstance(machine.start.exit, core.Goto), "a whole machine"
    reached = _closure([machine.start.exit.state], forward)
    ending = _closure([state.name for state in machine.states if state.final], backward)
    return [
        *_unreached(machine, reached),
        *_endless(machine, reached - ending),
        *_vacuous(machine, reached),
    ]


def _closure(roots: Iterable[str], ways: Mapping[str, set[str]]) -> set[str]:
    seen = set(roots)
    waiting = list(seen)
    while waiting:
        for state in ways.get(waiting.pop(), ()):
            if state not in seen:
                seen.add(state)
                waiting.append(state)
    return seen


def _unreached(machine: core.Machine, reached: set[str]) -> Iterator[Problem]:
    asked = {
        issue.command
        for body in (machine.start, *(clause.body for clause in machine.clauses))
        for issue in (body.issues if body is not None else ())
        if isinstance(issue, core.Do | core.Repeat)
    }
    for state in machine.states:
        never_asked = state.awaits is not None and state.awaits not in asked
        if state.name not in reached and not never_asked:
            yield Problem("DEED405", state.span, f"nothing leads to `{state.name}`")


def _endless(machine: core.Machine, endless: set[str]) -> Iterator[Problem]:
    found = [state for state in machine.states if state.name in endless]
    if found:
        names = ", ".join(f"`{state.name}`" for state in found[:6])
        names += ", …" if len(found) > 6 else ""
        hint = 'If that is meant: `allow DEED406 "why it never ends"`.'
        text = f"nothing leads to an end from {names}"
        yield Problem("DEED406", found[0].span, text, hints=(hint,))


def _vacuous(machine: core.Machine, reached: set[str]) -> Iterator[Problem]:
    for item in machine.properties:
        if item.word != "leads":
            continue
        start = Facts(phases={"phase": frozenset(item.pred.states or reached)})
        facts = learn(start, item.pred.expr, True)
        if facts.impossible or not facts.phases.get("phase", frozenset()) & reached:
            text = f"`{item.name}` holds for no reason: its premise never happens"
            yield Problem("DEED702", item.span, text)
