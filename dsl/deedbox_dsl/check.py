"""From a machine as written to a machine that is resolved and typed.

`check` reads the declarations first (`Outline`), then every block in the scope
of the state it stands in.  It decides what single expressions, fields and names
mean; what the machine does as a whole (is every message handled, is every state
reached) is decided by `flow` on the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal, assert_never

from . import core, syntax
from .blocks import Outline, body, init
from .deeds import Deeds, deeds, edges
from .expressions import check_phases, condition, new_local
from .intervals import NOTHING, Facts, Subject, learn
from .names import (
    Scope,
    check_fields,
    did_you_mean,
    named_pascal,
    named_snake,
    resolve_type,
    taken,
)
from .place import Binding, Place
from .problems import Problem
from .reserved import why_no_field, why_reserved
from .source import Span
from .suggest import nearest
from .types import INSTANT, Maybe, Type, base_of, mentions_error
from .walk import nodes

Word = Literal["machine", "retry", "scan", "saga"]


def check(
    machine: syntax.Machine, kind: Word, scope: Scope
) -> tuple[core.Machine, list[Problem]]:
    """The typed machine; it is whole only when no problem is an error."""
    problems: list[Problem] = []
    outline = _outline(machine, kind, scope, problems)
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
            start=_start(machine, outline),
            again=tuple(_again(machine, outline)),
            clauses=clauses,
            properties=tuple(_properties(machine, outline)),
            bounds=_bounds(machine, outline),
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


# ---- declarations ------------------------------------------------------------------


def _outline(
    machine: syntax.Machine, kind: Word, scope: Scope, problems: list[Problem]
) -> Outline:
    problems += named_pascal(machine.name, kind)
    states: dict[str, core.State] = {}
    messages: dict[str, core.Message] = {}
    commands: dict[str, core.Command] = {}
    key: tuple[core.Field, ...] = ()
    given: tuple[core.Field, ...] = ()
    once: dict[type[object], Span] = {}
    seen: dict[str, Span] = {}
    twice = "DEED202" if kind == "machine" else "DEED208"

    def first_of_its_name(name: syntax.Name) -> bool:
        if name.text in seen:
            problem = taken(name.text, name.span, seen[name.text])
            problems.append(replace(problem, code=twice))
            return False
        seen[name.text] = name.span
        return True

    for item in machine.items:
        match item:
            case syntax.Key() | syntax.Given() | syntax.Start() | syntax.Check():
                if type(item) in once:
                    word = type(item).__name__.lower()
                    text = f"`{word}` is written twice; a machine has one"
                    problems.append(taken(word, item.span, once[type(item)], text))
                    continue
                once[type(item)] = item.span
                match item:
                    case syntax.Key(fields=fields):
                        key = _fields(fields, scope, problems)
                    case syntax.Given(fields=fields):
                        given = _fields(fields, scope, problems)
                    case _:
                        pass
            case syntax.State(name=name):
                if first_of_its_name(name):
                    problems += named_pascal(name, "state")
                    states[name.text] = _state(item, scope, problems)
            case syntax.Message(name=name):
                if first_of_its_name(name):
                    problems += named_pascal(name, "message")
                    messages[name.text] = core.Message(
                        name.text,
                        _fields(item.fields, scope, problems),
                        item.doc,
                        name.span,
                    )
            case syntax.Command(name=name):
                if first_of_its_name(name):
                    problems += named_snake(name, "command", why_reserved(name.text))
                    commands[name.text] = _command(item, scope, problems)
            case _:
                pass
    if not key:
        text = f"`{machine.name.text}` has no key, so its instances have no identity"
        hint = "Write `key name: Type` first."
        problems.append(Problem("DEED304", machine.name.span, text, hints=(hint,)))
    _distinct_fields(key, given, states.values(), problems)
    for state in machine.items:
        if isinstance(state, syntax.State) and state.awaits is not None:
            _awaited(state, state.awaits, commands, problems)
    known = {
        name: state if state.awaits in commands else replace(state, awaits=None)
        for name, state in states.items()
    }
    return Outline(scope, problems, key, given, known, messages, commands)


def _fields(
    written: tuple[syntax.Field, ...],
    scope: Scope,
    problems: list[Problem],
    *,
    params: bool = False,
) -> tuple[core.Field, ...]:
    problems += check_fields(written, params=params)
    found: dict[str, core.Field] = {}
    for item in written:
        kind = resolve_type(item.type, scope, problems)
        name = item.name.text
        found.setdefault(name, core.Field(name, kind, item.doc, item.name.span))
    return tuple(found.values())


def _state(state: syntax.State, scope: Scope, problems: list[Problem]) -> core.State:
    return core.State(
        name=state.name.text,
        fields=_fields(state.fields, scope, problems),
        final=state.final,
        awaits=None if state.awaits is None else state.awaits.text,
        open_deed=None,
        deadlines=(),
        doc=state.doc,
        span=state.name.span,
    )


def _command(
    command: syntax.Command, scope: Scope, problems: list[Problem]
) -> core.Command:
    outcomes: dict[str, core.Outcome] = {}
    for outcome in command.outcomes:
        name = outcome.name
        if name.text in outcomes:
            problems.append(taken(name.text, name.span, outcomes[name.text].span))
            continue
        problems += named_snake(name, "outcome", why_no_field(name.text))
        fields = _fields(outcome.fields, scope, problems)
        outcomes[name.text] = core.Outcome(name.text, fields, name.span)
    return core.Command(
        name=command.name.text,
        params=_fields(command.params, scope, problems, params=True),
        outcomes=tuple(outcomes.values()),
        unrepeatable=command.unrepeatable,
        deadline=False,
        doc=command.doc,
        span=command.name.span,
    )


def _awaited(
    state: syntax.State,
    name: syntax.Name,
    commands: Mapping[str, core.Command],
    problems: list[Problem],
) -> None:
    command = commands.get(name.text)
    if command is None:
        hints = did_you_mean(nearest(name.text, commands))
        text = f"there is no command `{name.text}` to await"
        problems.append(Problem("DEED201", name.span, text, hints=hints))
    elif state.final:
        text = f"`{state.name.text}` is final, so it cannot await an answer"
        problems.append(Problem("DEED409", name.span, text))
    elif not command.outcomes:
        text = f"`{name.text}` declares no outcomes, so no answer of it can be awaited"
        problems.append(Problem("DEED452", name.span, text))


def _distinct_fields(
    key: tuple[core.Field, ...],
    given: tuple[core.Field, ...],
    states: Iterable[core.State],
    problems: list[Problem],
) -> None:
    """Key and given are fields of every state and message, so no own field repeats them."""
    seen = {part.name: part.span for part in key}
    for part in given:
        if part.name in seen:
            problems.append(taken(part.name, part.span, seen[part.name]))
        seen.setdefault(part.name, part.span)
    for state in states:
        for own in state.fields:
            if own.name in seen:
                text = f"`{own.name}` is a field of every state already"
                problems.append(taken(own.name, own.span, seen[own.name], text))


# ---- blocks --------------------------------------------------------------------------


def _own_names(outline: Outline) -> dict[str, core.Expr]:
    names: dict[str, core.Expr] = {}
    for part in outline.key:
        names[part.name] = core.Read("key", part.name, part.type, part.span)
    for part in outline.given:
        names[part.name] = core.Read("given", part.name, part.type, part.span)
    return names


def _start(machine: syntax.Machine, outline: Outline) -> core.Body:
    for item in machine.items:
        if isinstance(item, syntax.Start):
            place = Place(outline.scope, outline.problems, _own_names(outline))
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
            hints = did_you_mean(nearest(name.text, outline.states))
            text = f"there is no state `{name.text}`"
            outline.problems.append(Problem("DEED201", name.span, text, hints=hints))
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
    names = _own_names(outline)
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
            if clause.bind is not None and new_local(clause.bind, place):
                fields = {part.name: part.type for part in found[2]}
                place = replace(
                    place, binding=Binding(clause.bind.text, found[1], fields)
                )
            yield _guarded(clause, found[0], clause.trigger.span, state, place, outline)
        case syntax.At():
            deadline = _deadline(clause.deadline, state, place)
            if deadline is not None:
                span = clause.deadline.span
                yield _guarded(clause, deadline, span, state, place, outline)
        case _:
            assert_never(clause)


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
        hints = did_you_mean(nearest(name.text, outline.messages))
        if name.text in outline.commands:
            hints = (f"An outcome is written `{name.text}.outcome`.",)
        text = f"there is no message `{name.text}`"
        problems.append(Problem("DEED201", name.span, text, hints=hints))
        return None
    command = outline.commands.get(name.text)
    if command is None:
        hints = did_you_mean(nearest(name.text, outline.commands))
        text = f"there is no command `{name.text}`"
        problems.append(Problem("DEED201", name.span, text, hints=hints))
        return None
    outcomes = {outcome.name: outcome for outcome in command.outcomes}
    outcome = outcomes.get(trigger.outcome.text)
    if outcome is None:
        hints = did_you_mean(nearest(trigger.outcome.text, outcomes))
        text = f"`{name.text}` does not end with `{trigger.outcome.text}`"
        problems.append(Problem("DEED201", trigger.outcome.span, text, hints=hints))
        return None
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
        hints = did_you_mean(nearest(name.text, fields))
        text = f"`{state.name}` has no field `{name.text}`"
        place.problems.append(Problem("DEED303", name.span, text, hints=hints))
        return None
    kind: Type = own.type.item if isinstance(own.type, Maybe) else own.type
    if mentions_error(kind):
        return None
    if base_of(kind) is not INSTANT:
        text = f"`{name.text}` is no instant, so `at` cannot wait for it"
        place.report("DEED501", name.span, text)
        return None
    return core.AtDeadline(name.text)


# ---- on start again --------------------------------------------------------------------


def _again(machine: syntax.Machine, outline: Outline) -> Iterator[core.Again]:
    place = Place(
        outline.scope,
        outline.problems,
        _own_names(outline),
        subjects=frozenset({"phase"}),
        phases=frozenset(outline.states),
    )
    anew = {part.name: part.type for part in (*outline.key, *outline.given)}
    for item in machine.items:
        if not isinstance(item, syntax.Again):
            continue
        here = place
        if item.bind is not None and new_local(item.bind, place):
            here = replace(
                place, binding=Binding(item.bind.text, "the new start", anew)
            )
        facts: Facts = NOTHING
        guard: core.Expr | None = None
        if item.guard is not None:
            guard = condition(item.guard, here, facts, "after `when`")
            facts = learn(facts, guard, True)
        match item.exit:
            case syntax.Keep():
                yield core.Again(guard, core.Keep(), item.span)
            case syntax.Replace(init=written, span=span):
                overrides: tuple[core.Set, ...] = ()
                if written is not None:
                    fields = _replaceable(written, machine, outline)
                    owner = "the state that `start` goes to"
                    overrides = init(written, fields, owner, here, facts, {}, span)
                yield core.Again(guard, core.Replace(overrides), item.span)
            case _:
                assert_never(item.exit)


def _replaceable(
    written: syntax.Init, machine: syntax.Machine, outline: Outline
) -> tuple[core.Field, ...]:
    """The named ones of the given and of the first state; the others come from `start`."""
    named = {
        item.name.text
        for item in written.items
        if isinstance(item, syntax.Set | syntax.Pun)
    }
    first: tuple[core.Field, ...] = ()
    for item in machine.items:
        match item:
            case syntax.Start(block=syntax.Block(exit=syntax.Goto(state=name))):
                state = outline.states.get(name.text)
                first = state.fields if state is not None else ()
            case _:
                pass
    return tuple(part for part in (*outline.given, *first) if part.name in named)


# ---- properties and bounds ----------------------------------------------------------------


def _properties(machine: syntax.Machine, outline: Outline) -> Iterator[core.Property]:
    fields = {
        state.name: {own.name: own.type for own in state.fields}
        for state in outline.states.values()
    }
    ghosts = {
        command.name: frozenset(outcome.name for outcome in command.outcomes)
        for command in outline.commands.values()
    }
    place = Place(
        outline.scope,
        outline.problems,
        _own_names(outline),
        now=False,
        subjects=frozenset({"phase"}),
        phases=frozenset(outline.states),
        states=fields,
        ghosts=ghosts,
    )
    sides: frozenset[Subject] = frozenset({"old", "new"})
    seen: dict[str, Span] = {}
    for item in machine.items:
        if not isinstance(item, syntax.Property):
            continue
        name = item.name
        if name.text in seen:
            outline.problems.append(taken(name.text, name.span, seen[name.text]))
            continue
        seen[name.text] = name.span
        outline.problems.extend(named_snake(name, "property", why_reserved(name.text)))
        here = place
        if item.word == "across":
            here = replace(place, subjects=sides, now=True)
        yield core.Property(
            item.word,
            name.text,
            _pred(item.pred, here),
            None if item.target is None else _pred(item.target, here),
            None if item.within is None else item.within.milliseconds,
            item.span,
        )


def _pred(pred: syntax.Pred, place: Place) -> core.Pred:
    facts: Facts = NOTHING
    states = tuple(name.text for name in pred.states)
    if states and check_phases(pred.states, place):
        facts = Facts(phases={"phase": frozenset(states)})
    return core.Pred(states, condition(pred.expr, place, facts, "by a property"))


def _bounds(machine: syntax.Machine, outline: Outline) -> core.Bounds:
    bounds = core.Bounds()
    for item in machine.items:
        if not isinstance(item, syntax.Check):
            continue
        for bound in item.bounds:
            match bound:
                case syntax.Bound(word="instances", value=value):
                    bounds = replace(bounds, instances=value)
                case syntax.Bound(word="messages", value=value):
                    bounds = replace(bounds, messages=value)
                case syntax.Bound(value=value):
                    bounds = replace(bounds, page=value)
                case syntax.Faults(excepted=names):
                    excepted = tuple(name.text for name in names)
                    bounds = replace(bounds, excepted_faults=excepted)
                case syntax.Assume():
                    pair = _assumed(bound, outline)
                    if pair is not None:
                        bounds = replace(bounds, assumed=(*bounds.assumed, pair))
                case _:
                    assert_never(bound)
    return bounds


def _assumed(bound: syntax.Assume, outline: Outline) -> tuple[str, str] | None:
    command = outline.commands.get(bound.command.text)
    if command is None:
        name, known, what = bound.command, list(outline.commands), "command"
    else:
        known = [outcome.name for outcome in command.outcomes]
        name, what = bound.outcome, f"outcome of `{command.name}`"
        if name.text in known:
            return command.name, name.text
    text = f"there is no {what} `{name.text}`"
    hints = did_you_mean(nearest(name.text, known))
    outline.problems.append(Problem("DEED201", name.span, text, hints=hints))
    return None


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
