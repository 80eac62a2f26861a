"""Is every event decided in every state, once: exhaustiveness, shadowing, dead guards.

For each state that is not final: each message, each outcome of the awaited
command and each deadline needs clauses of which the last has no guard.  Guards
are compared by intervals; what cannot be decided is left alone.  Where a name of an
event or of a state means nothing, that is said already, and it may be what is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .. import core, syntax
from ..check.facts import NOTHING
from ..check.learning import decide, learn
from ..problems import Fix, Label, Problem
from ..source import Span
from . import offers
from .unread import unread_events

_Table = Mapping[str, Mapping[core.Trigger, list[core.Clause]]]


@dataclass(frozen=True, slots=True)
class _Here:
    """A state with the clauses of each event, and where they begin."""

    machine: core.Machine
    written: syntax.Machine
    state: core.State
    decided: Mapping[core.Trigger, list[core.Clause]]
    place: Span

    def offer(self, event: str, fields: tuple[core.Field, ...], name: str) -> str:
        """A clause to paste."""
        return offers.clause(event, fields, name, self.state, self.machine)

    def fixes(self, offered: list[tuple[str, list[str]]]) -> tuple[Fix, ...]:
        return offers.fixes(self.state, self.written, offered)


def coverage(machine: core.Machine, written: syntax.Machine) -> list[Problem]:
    table: dict[str, dict[core.Trigger, list[core.Clause]]] = defaultdict(dict)
    for clause in machine.clauses:
        table[clause.state].setdefault(clause.trigger, []).append(clause)
    places = _places(machine, written)
    commands = {command.name: command for command in machine.commands}
    unread = unread_events(machine, written)
    problems: list[Problem] = []
    for state in machine.states:
        if state.final:
            continue
        decided = table.get(state.name, {})
        here = _Here(machine, written, state, decided, places[state.name])
        if state.name not in unread.messages:
            problems += _missing_messages(here)
        if state.awaits is not None and state.name not in unread.outcomes:
            problems += _missing_outcomes(here, commands[state.awaits])
        for clauses in decided.values():
            problems += _guards(clauses)
    problems += _always_ignored(machine, table)
    problems += _restarts(machine)
    return problems


def _places(machine: core.Machine, written: syntax.Machine) -> dict[str, Span]:
    """Where each state's clauses begin, or where it is declared."""
    found = {state.name: state.span for state in machine.states}
    for item in reversed(written.items):
        if isinstance(item, syntax.Inside):
            found.update((name.text, name.span) for name in item.states)
    return found


def _missing_messages(here: _Here) -> Iterator[Problem]:
    messages = here.machine.messages
    missing = [m for m in messages if core.OnMessage(m.name) not in here.decided]
    if not missing:
        return
    names = ", ".join(f"`{message.name}`" for message in missing)
    every = len(messages)
    clauses = [here.offer(m.name, m.fields, "m") for m in missing]
    ignore = f"ignore {', '.join(message.name for message in missing)}"
    hint = _listed("Add one of:", [*clauses, ignore])
    if len(missing) > 1:
        hint = f"{_listed('Add:', clauses)}\n{_listed('  or:', [ignore])}"
    offered = [(f"Ignore {names}", [ignore]), (f"Decide {names}", clauses)]
    yield Problem(
        "DEED401",
        here.place,
        f"`{here.state.name}` does not say what happens on {names}",
        label=f"{every - len(missing)} of {every} messages are handled here",
        others=tuple(Label(message.span, "declared here") for message in missing),
        hints=(hint,),
        fixes=here.fixes(offered),
    )


def _missing_outcomes(here: _Here, command: core.Command) -> Iterator[Problem]:
    missing = [
        outcome
        for outcome in command.outcomes
        if core.OnOutcome(command.name, outcome.name) not in here.decided
    ]
    if not missing:
        return
    names = ", ".join(f"`{outcome.name}`" for outcome in missing)
    clauses = [
        here.offer(f"{command.name}.{each.name}", each.fields, "out")
        for each in missing
    ]
    yield Problem(
        "DEED451",
        here.place,
        f"`{command.name}` can end with {names}, and `{here.state.name}` does not handle that",
        label=f"awaits `{command.name}`",
        others=tuple(Label(outcome.span, "declared here") for outcome in missing),
        hints=(_listed("Add:", clauses),),
        fixes=here.fixes([(f"Decide {names}", clauses)]),
    )


def _listed(lead: str, lines: list[str]) -> str:
    """The lines below each other, after the lead."""
    indent = " " * (len(lead) + 3)
    return f"{lead}   " + f"\n{indent}".join(lines)


def _guards(clauses: list[core.Clause]) -> Iterator[Problem]:
    """The clauses of one event in one state: first match wins, the last one always does."""
    facts = NOTHING
    open_end = True
    for clause in clauses:
        if not open_end or facts.impossible:
            yield Problem(
                "DEED403",
                clause.span,
                f"this clause can never run in `{clause.state}`",
                label="an earlier clause takes every case",
                others=(Label(clauses[0].span, "the first clause for this event"),),
            )
            continue
        if clause.guard is None:
            open_end = False
            continue
        certain = decide(clause.guard, NOTHING)
        if certain is not None:
            word = "true" if certain else "false"
            text = f"this guard is always {word}"
            yield Problem("DEED404", clause.guard.span, text)
        elif decide(clause.guard, facts) is False:
            text = f"this clause can never run in `{clause.state}`"
            label = "the guards before it take every such case"
            yield Problem("DEED403", clause.guard.span, text, label=label)
        facts = learn(facts, clause.guard, False)
    if open_end:
        last = clauses[-1]
        yield Problem(
            "DEED402",
            last.span,
            f"the last clause of `{last.state}` for {event_text(last.trigger)} has a guard",
            label="and when the guard does not hold, nothing is said",
            hints=("Write one more clause without `when` after it.",),
        )


def event_text(trigger: core.Trigger) -> str:
    match trigger:
        case core.OnMessage(message=name):
            return f"`{name}`"
        case core.OnOutcome(command=command, outcome=outcome):
            return f"`{command}.{outcome}`"
        case core.AtDeadline(field=name):
            return f"`at {name}`"


def _always_ignored(machine: core.Machine, table: _Table) -> Iterator[Problem]:
    live = [state.name for state in machine.states if not state.final]
    for message in machine.messages:
        trigger = core.OnMessage(message.name)
        found = [table.get(name, {}).get(trigger) for name in live]
        ignored = [
            clauses is not None and all(clause.body is None for clause in clauses)
            for clauses in found
        ]
        if ignored and all(ignored):
            text = f"`{message.name}` is ignored in every state"
            yield Problem("DEED408", message.span, text)


def _restarts(machine: core.Machine) -> Iterator[Problem]:
    facts = NOTHING
    for number, again in enumerate(machine.again):
        before = machine.again[:number]
        if facts.impossible or any(earlier.guard is None for earlier in before):
            text = "this clause can never run: an earlier one takes every start"
            yield Problem("DEED403", again.span, text)
        elif again.guard is not None:
            certain = decide(again.guard, facts)
            if certain is not None:
                word = "true" if certain else "false"
                text = f"this guard is always {word}"
                yield Problem("DEED404", again.guard.span, text)
            facts = learn(facts, again.guard, False)
