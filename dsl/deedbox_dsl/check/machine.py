"""From a machine as written to a machine that is resolved and typed.

`check` reads the declarations first (`Outline`), then every block in the scope
of the state it stands in.  It decides what single expressions, fields and names
mean; what the machine does as a whole (is every message handled, is every state
reached) is decided by `flow` on the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from .. import core, syntax
from ..names import Scope
from ..naming import taken, unknown
from ..problems import Problem
from ..source import Span
from ..told import told
from ..types import INSTANT, Maybe, Type, base_of, mentions_error
from ..walk import nodes
from .blocks import Outline, body
from .declarations import Word, outline_of, own_names
from .deeds import Deeds, deeds, edges
from .expressions import condition, new_local
from .facts import NOTHING, Facts
from .learning import learn
from .place import Binding, Place
from .properties import checking_bounds, properties, restarts


def check(
    machine: syntax.Machine, kind: Word, scope: Scope
) -> tuple[core.Machine, list[Problem]]:
    """The typed machine; it is whole only when no problem is an error."""
    problems: list[Problem] = []
    outline = outline_of(machine, kind, scope, problems)
    found = deeds(
        {name: state.awaits for name, state in outline.states.items()}, edges(machine)
    )
    clauses = tuple(_clauses(machine, outline, found))
    deadlines: dict[str, list[str]] = {name: [] for name in outline.states}
    for clause in clauses:
        if isinstance(clause.trigger, core.AtDeadline):
            waited = deadlines[clause.state]
            if clause.trigger.field not in waited:
                waited.append(clause.trigger.field)
    states = tuple(
        replace(
            state,
            deadlines=tuple(deadlines[name]),
            open_deed=found.open.get(name) if name in found.stored else None,
        )
        for name, state in outline.states.items()
    )
    start = _start(machine, outline)
    bodies = [start, *(each.body for each in clauses if each.body is not None)]
    return (
        core.Machine(
            name=machine.name.text,
            kind=kind,
            version=machine.version,
            doc=machine.doc,
            key=outline.key,
            given=outline.given,
            states=states,
            messages=tuple(outline.messages.values()),
            commands=tuple(
                replace(command, deadline=_has_deadline(command, states))
                for command in outline.commands.values()
            ),
            told=tuple(told(bodies, scope, problems)),
            start=start,
            again=tuple(restarts(machine, outline)),
            clauses=clauses,
            properties=tuple(properties(machine, outline)),
            bounds=checking_bounds(machine, outline),
            migrations=(),
            allows=tuple(
                core.Allow(item.code.text, item.reason, item.span)
                for item in machine.items
                if isinstance(item, syntax.Allow)
            ),
            ladders=tuple(_ladders(machine, scope)),
            span=machine.name.span,
        ),
        problems,
    )


def _has_deadline(command: core.Command, states: Iterable[core.State]) -> bool:
    awaiting = [state for state in states if state.awaits == command.name]
    return bool(awaiting) and all(state.deadlines for state in awaiting)


# ---- blocks --------------------------------------------------------------------------


def _start(machine: syntax.Machine, outline: Outline) -> core.Body:
    for item in machine.items:
        if isinstance(item, syntax.Start):
            place = Place(outline.scope, outline.problems, own_names(outline))
            found = body(item.block, outline, place, NOTHING, None)
            if isinstance(item.block.exit, syntax.Reject):
                text = "`start` cannot reject: an instance begins in a state"
                place.report("DEED101", item.block.exit.span, text)
            return found
    text = f"`{machine.name.text}` does not say how it starts"
    hint = "Write `start { goto State { … } }`."
    outline.problems.append(Problem("DEED304", machine.name.span, text, hints=(hint,)))
    return core.Body((), (), core.Reject(""))


def _clauses(
    machine: syntax.Machine, outline: Outline, found: Deeds
) -> Iterator[core.Clause]:
    for item in machine.items:
        if not isinstance(item, syntax.Inside):
            continue
        states = list(_named_states(item, outline))
        names, partial = _common_names(states, outline)
        place = Place(outline.scope, outline.problems, names, partial)
        for clause in item.clauses:
            for state in states:
                here = replace(place, deed=state.name in found.open)
                yield from _clause(clause, state, here, outline)


def _named_states(item: syntax.Inside, outline: Outline) -> Iterator[core.State]:
    seen: set[str] = set()
    for name in item.states:
        state = outline.states.get(name.text)
        if state is None:
            text = f"there is no state `{name.text}`"
            outline.problems.append(unknown("DEED201", name, text, outline.states))
        elif name.text in seen:
            text = f"`{name.text}` is named twice here"
            outline.problems.append(
                taken(name.text, name.span, item.states[0].span, text)
            )
        elif state.final and item.clauses:
            text = f"`{name.text}` is final: nothing more happens there"
            outline.problems.append(Problem("DEED409", name.span, text))
        else:
            seen.add(name.text)
            yield state


def _common_names(
    states: list[core.State], outline: Outline
) -> tuple[dict[str, core.Expr], dict[str, str]]:
    """What a clause for these states may name, and what only some of them have."""
    names = own_names(outline)
    partial: dict[str, str] = {}
    tables = [{own.name: own for own in state.fields} for state in states]
    for table in tables:
        for name, own in table.items():
            if name in names or name in partial:
                continue
            lacking = [
                s.name for s, t in zip(states, tables, strict=True) if name not in t
            ]
            if lacking:
                partial[name] = f"`{lacking[0]}` has no such field"
            elif any(other[name].type != own.type for other in tables):
                partial[name] = "its type is not the same in all of them"
            else:
                names[name] = core.Read("state", name, own.type, own.span)
    return names, partial


def _clause(
    clause: syntax.Clause, state: core.State, place: Place, outline: Outline
) -> Iterator[core.Clause]:
    match clause:
        case syntax.Ignore(triggers=triggers):
            for trigger in triggers:
                found = _trigger(trigger, state, outline)
                if found is not None:
                    yield core.Clause(state.name, found[0], None, None, trigger.span)
        case syntax.On():
            found = _trigger(clause.trigger, state, outline)
            if found is None:
                return
            place = replace(place, binding=_binding(clause, found, place))
            yield _guarded(clause, found[0], clause.trigger.span, state, place, outline)
        case syntax.At():
            deadline = _deadline(clause.deadline, state, place)
            if deadline is not None:
                span = clause.deadline.span
                yield _guarded(clause, deadline, span, state, place, outline)
        case _:
            assert_never(clause)


def _binding(
    clause: syntax.On,
    found: tuple[core.Trigger, str, tuple[core.Field, ...]],
    place: Place,
) -> Binding:
    """What the clause calls its message or outcome, or could call it."""
    trigger, owner, parts = found
    fields = {part.name: part.type for part in parts}
    span = clause.trigger.span
    if clause.bind is not None and new_local(clause.bind, place):
        return Binding(clause.bind.text, owner, fields, span)
    usual = "out" if isinstance(trigger, core.OnOutcome) else "m"
    return Binding(usual, owner, fields, span, bound=False)


def _guarded(
    clause: syntax.On | syntax.At,
    trigger: core.Trigger,
    span: Span,
    state: core.State,
    place: Place,
    outline: Outline,
) -> core.Clause:
    facts: Facts = NOTHING
    guard: core.Expr | None = None
    if clause.guard is not None:
        guard = condition(clause.guard, place, facts, "after `when`")
        facts = learn(facts, guard, True)
    return core.Clause(
        state.name,
        trigger,
        guard,
        body(clause.block, outline, place, facts, state),
        span,
    )


def _trigger(
    trigger: syntax.Trigger, state: core.State, outline: Outline
) -> tuple[core.Trigger, str, tuple[core.Field, ...]] | None:
    """What sets the clause off, how to call it, and its fields."""
    name, problems = trigger.name, outline.problems
    if trigger.outcome is None:
        message = outline.messages.get(name.text)
        if message is not None:
            return (
                core.OnMessage(name.text),
                f"the message `{name.text}`",
                message.fields,
            )
        known: Iterable[str] = outline.messages
        otherwise = ""
        if name.text in outline.commands:
            known, otherwise = (), f"An outcome is written `{name.text}.outcome`."
        text = f"there is no message `{name.text}`"
        problems.append(unknown("DEED201", name, text, known, otherwise=otherwise))
        return None
    command = outline.commands.get(name.text)
    if command is None:
        text = f"there is no command `{name.text}`"
        problems.append(unknown("DEED201", name, text, outline.commands))
        return None
    outcomes = {outcome.name: outcome for outcome in command.outcomes}
    outcome = outcomes.get(trigger.outcome.text)
    if outcome is None:
        text = f"`{name.text}` does not end with `{trigger.outcome.text}`"
        problems.append(unknown("DEED201", trigger.outcome, text, outcomes))
        return None
    if state.awaits != name.text and (state.name, name.text) in outline.asked:
        return None  # asked for on the way here: the state is what lacks a word
    if state.awaits != name.text:
        text = f"this clause can never run: `{state.name}` does not await `{name.text}`"
        problems.append(Problem("DEED403", trigger.span, text))
        return None
    owner = f"the outcome `{name.text}.{outcome.name}`"
    return core.OnOutcome(name.text, outcome.name), owner, outcome.fields


def _deadline(
    name: syntax.Name, state: core.State, place: Place
) -> core.AtDeadline | None:
    fields = {own.name: own for own in state.fields}
    own = fields.get(name.text)
    if own is None:
        text = f"`{state.name}` has no field `{name.text}`"
        known = [own.name for own in state.fields if _is_instant(own.type)]
        place.problems.append(unknown("DEED303", name, text, known))
        return None
    if mentions_error(own.type):
        return None
    if not _is_instant(own.type):
        text = f"`{name.text}` is no instant, so `at` cannot wait for it"
        place.report("DEED501", name.span, text)
        return None
    return core.AtDeadline(name.text)


def _is_instant(kind: Type) -> bool:
    return base_of(kind.item if isinstance(kind, Maybe) else kind) is INSTANT


def _ladders(machine: syntax.Machine, scope: Scope) -> Iterator[core.Ladder]:
    """The policies that its expressions name, in the order of the text."""
    names: dict[str, None] = {}
    for node in nodes(machine.items):
        match node:
            case syntax.Call(
                target=syntax.Var(name="wait"), arguments=(syntax.Var(name=name), _)
            ):
                names[name] = None
            case syntax.Member(
                target=syntax.Var(name=name), name=syntax.Name(text="attempts")
            ):
                names[name] = None
            case _:
                pass
    for name in names:
        ladder = scope.policies.get(name)
        if ladder is not None:
            yield ladder
