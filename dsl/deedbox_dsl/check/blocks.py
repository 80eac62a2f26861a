"""Blocks: `let`, what is asked for, and where the machine goes.

A block is checked once for each state it is written for, because `..` and `stay`
copy that state's own fields.  The result names every field of the state gone to,
in the order of that state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from .. import core, syntax
from ..names import Scope, to_import
from ..naming import unknown
from ..problems import Problem
from ..source import Span
from ..types import EmptyListType, NoneType, Type, mentions_error, show
from .expressions import infer, new_local
from .facts import Facts, define
from .inits import init
from .place import Place, coerce


@dataclass(frozen=True, slots=True)
class Outline:
    """The declarations of one machine, before its blocks: what a block may name."""

    scope: Scope
    problems: list[Problem]
    key: tuple[core.Field, ...]
    given: tuple[core.Field, ...]
    states: Mapping[str, core.State]
    messages: Mapping[str, core.Message]
    commands: Mapping[str, core.Command]
    asked: frozenset[tuple[str, str]] = frozenset()
    """Each state with the commands that are asked for on a way into it."""


def body(
    block: syntax.Block,
    outline: Outline,
    place: Place,
    facts: Facts,
    old: core.State | None,
) -> core.Body:
    """The typed block; `old` is the state it is written for, None in `start`."""
    lets: list[core.Let] = []
    for let in block.lets:
        value = infer(let.value, place, facts)
        if isinstance(value.type, NoneType | EmptyListType):
            text = f"the type of `{let.name.text}` cannot be told from `{show(value.type)}`"
            place.report("DEED301", let.value.span, text)
            continue
        if new_local(let.name, place):
            read = core.Read("let", let.name.text, value.type, let.name.span)
            place = replace(place, names={**place.names, let.name.text: read})
            facts = define(facts, let.name.text, value)
            lets.append(core.Let(let.name.text, value))
    issues = [ask(each, outline, place, facts) for each in block.issues]
    return core.Body(
        tuple(lets),
        tuple(each for each in issues if each is not None),
        _exit(block, outline, place, facts, old),
    )


# ---- what is asked for -----------------------------------------------------------


def ask(
    issue: syntax.Issue, outline: Outline, place: Place, facts: Facts
) -> core.Issue | None:
    match issue:
        case syntax.Do(command=name, arguments=arguments, span=span):
            found = _arguments(name, arguments, outline, place, facts, span)
            return None if found is None else core.Do(name.text, found, span)
        case syntax.Repeat(command=name, arguments=arguments, span=span):
            found = _arguments(name, arguments, outline, place, facts, span)
            return None if found is None else core.Repeat(name.text, found, span)
        case syntax.Tell() | syntax.Begin():
            return _elsewhere(issue, outline, place, facts)
        case _:
            assert_never(issue)


def _arguments(
    name: syntax.Name,
    arguments: tuple[syntax.Expr, ...],
    outline: Outline,
    place: Place,
    facts: Facts,
    span: Span,
) -> tuple[core.Expr, ...] | None:
    command = outline.commands.get(name.text)
    if command is None:
        _unknown("command", name, outline.commands, place)
        return None
    wanted = [(param.name, param) for param in command.params]
    return _in_order(f"`{name.text}`", wanted, arguments, place, facts, span)


def _in_order(
    owner: str,
    wanted: list[tuple[str, core.Field]],
    arguments: tuple[syntax.Expr, ...],
    place: Place,
    facts: Facts,
    span: Span,
) -> tuple[core.Expr, ...] | None:
    names = ", ".join(f"{name}: {show(param.type)}" for name, param in wanted)
    if len(arguments) != len(wanted):
        values = "1 value" if len(wanted) == 1 else f"{len(wanted)} values"
        given = "1 is" if len(arguments) == 1 else f"{len(arguments)} are"
        text = f"{owner} takes {values}, and {given} given"
        place.report("DEED308", span, text, hint=f"It takes ({names}).")
        return None
    found = [
        infer(argument, place, facts, param.type)
        for argument, (_, param) in zip(arguments, wanted, strict=True)
    ]
    if _in_another_order(found, [param.type for _, param in wanted]):
        text = f"the values of {owner} stand in another order"
        place.report("DEED308", span, text, hint=f"It takes ({names}).")
        return None
    return tuple(
        coerce(value, param.type, place, facts, f"for `{name}` of {owner}")
        for value, (name, param) in zip(found, wanted, strict=True)
    )


def _in_another_order(found: list[core.Expr], wanted: list[Type]) -> bool:
    """Whether each value has the type of one other place, and of no other value."""
    kinds = [value.type for value in found]
    return (
        kinds != wanted and len(set(kinds)) == len(kinds) and set(kinds) == set(wanted)
    )


def _elsewhere(
    issue: syntax.Tell | syntax.Begin, outline: Outline, place: Place, facts: Facts
) -> core.Issue | None:
    name, span = issue.machine, issue.span
    target = outline.scope.machines.get(name.text)
    if target is None:
        if not mentions_error(outline.scope.types.get(name.text, NoneType())):
            instead = to_import(name.text, outline.scope.elsewhere)
            _unknown("machine", name, outline.scope.machines, place, instead)
        return None
    wanted = [(part.name, part) for part in target.key]
    key = _in_order(f"the key of `{name.text}`", wanted, issue.key, place, facts, span)
    if isinstance(issue, syntax.Begin):
        fields = init(
            issue.init,
            target.given,
            f"the given of `{name.text}`",
            place,
            facts,
            {},
            span,
        )
        return (
            None
            if key is None
            else core.Begin(target.module, target.name, key, fields, span)
        )
    message = target.messages.get(issue.message.text)
    if message is None:
        text = f"`{name.text}` takes no message `{issue.message.text}`"
        place.problems.append(unknown("DEED201", issue.message, text, target.messages))
        return None
    fields = init(
        issue.init, message, f"`{issue.message.text}`", place, facts, {}, span
    )
    if key is None:
        return None
    return core.Tell(target.module, target.name, key, issue.message.text, fields, span)


# ---- where it goes -----------------------------------------------------------------


def _exit(
    block: syntax.Block,
    outline: Outline,
    place: Place,
    facts: Facts,
    old: core.State | None,
) -> core.Exit:
    copied = {} if old is None else {f.name: f for f in old.fields}
    match block.exit:
        case None:
            hint = 'It ends with `goto State { … }`, `stay { … }` or `reject "why"`.'
            place.report(
                "DEED407",
                block.span,
                "this block does not say where to go",
                label="nothing in it is an exit",
                hint=hint,
            )
            return core.Reject("")
        case syntax.Reject(text=text):
            return core.Reject(text)
        case syntax.Stay(init=None) if old is not None:
            return core.Stay(
                tuple(
                    core.Set(
                        f.name, core.Read("state", f.name, f.type, block.exit.span)
                    )
                    for f in old.fields
                )
            )
        case syntax.Stay(init=written, span=span):
            if old is None:
                place.report(
                    "DEED101",
                    span,
                    "`start` has no state to stay in; it ends with `goto`",
                )
                return core.Reject("")
            owner = f"`{old.name}`"
            return core.Stay(
                init(written, old.fields, owner, place, facts, copied, span)
            )
        case syntax.Goto(state=name, init=written, span=span):
            target = outline.states.get(name.text)
            if target is None:
                _unknown("state", name, outline.states, place)
                return core.Reject("")
            owner = f"`{name.text}`"
            fields = init(written, target.fields, owner, place, facts, copied, span)
            return core.Goto(name.text, fields)
        case _:
            assert_never(block.exit)


def _unknown(
    sort: str, name: syntax.Name, known: Iterable[str], place: Place, instead: str = ""
) -> None:
    text = f"there is no {sort} `{name.text}`"
    place.problems.append(unknown("DEED201", name, text, known, instead=instead))
