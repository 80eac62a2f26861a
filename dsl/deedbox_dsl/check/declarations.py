"""The declarations of a machine: its key, states, messages and commands, typed.

Every name is checked as it is declared, and the first of two equal ones stays, so
that what follows has one meaning for each name.  Blocks are not read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from .. import core, syntax
from ..names import Scope, resolve_type
from ..naming import check_fields, named_pascal, named_snake, taken, unknown
from ..problems import Problem
from ..reserved import why_no_field, why_reserved
from ..source import Span
from ..walk import nodes
from .blocks import Outline

Word = Literal["machine", "retry", "scan", "saga"]


def outline_of(
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
            _awaited(state.awaits, commands, problems)
    known = {
        name: state if state.awaits in commands else replace(state, awaits=None)
        for name, state in states.items()
    }
    asked = frozenset(_asked(machine))
    return Outline(scope, problems, key, given, known, messages, commands, asked)


def _asked(machine: syntax.Machine) -> Iterator[tuple[str, str]]:
    for node in nodes(machine.items):
        if isinstance(node, syntax.Block) and isinstance(node.exit, syntax.Goto):
            for issue in node.issues:
                if isinstance(issue, syntax.Do | syntax.Repeat):
                    yield node.exit.state.text, issue.command.text


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
    name: syntax.Name,
    commands: Mapping[str, core.Command],
    problems: list[Problem],
) -> None:
    command = commands.get(name.text)
    if command is None:
        text = f"there is no command `{name.text}` to await"
        problems.append(unknown("DEED201", name, text, commands))
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


def own_names(outline: Outline) -> dict[str, core.Expr]:
    """Key and given, which a machine may name everywhere."""
    names: dict[str, core.Expr] = {}
    for part in outline.key:
        names[part.name] = core.Read("key", part.name, part.type, part.span)
    for part in outline.given:
        names[part.name] = core.Read("given", part.name, part.type, part.span)
    return names
