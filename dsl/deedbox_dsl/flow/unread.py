"""Events whose names mean nothing: a state that has one may decide more than it seems to."""

from __future__ import annotations

from dataclasses import dataclass

from .. import core, syntax


@dataclass(frozen=True, slots=True)
class Unread:
    """The states of which it is not known which messages, or which outcomes, they decide."""

    messages: frozenset[str]
    outcomes: frozenset[str]


def unread_events(machine: core.Machine, written: syntax.Machine) -> Unread:
    states = {state.name for state in machine.states}
    messages = {message.name for message in machine.messages}
    answers = {(c.name, each.name) for c in machine.commands for each in c.outcomes}
    silent = set(states)
    lost = False
    unread_messages: set[str] = set()
    unread_outcomes: set[str] = set()
    for item in written.items:
        if not isinstance(item, syntax.Inside):
            continue
        named = {name.text for name in item.states}
        silent -= named
        lost = lost or not named <= states
        for trigger in _triggers(item):
            name = trigger.name.text
            if trigger.outcome is not None:
                if (name, trigger.outcome.text) not in answers:
                    unread_outcomes |= named
            elif name not in messages:
                unread_messages |= named
    nowhere = silent if lost else set[str]()
    return Unread(
        frozenset(unread_messages | nowhere), frozenset(unread_outcomes | nowhere)
    )


def _triggers(item: syntax.Inside) -> list[syntax.Trigger]:
    found: list[syntax.Trigger] = []
    for clause in item.clauses:
        match clause:
            case syntax.On(trigger=trigger):
                found.append(trigger)
            case syntax.Ignore(triggers=triggers):
                found += triggers
            case syntax.At():
                pass
    return found
