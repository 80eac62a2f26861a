"""Every command that is asked for is awaited, and every awaited one is asked for.

A command with outcomes belongs to the state that awaits it.  A way into such a
state asks for the command, or comes from another state that awaits it without
having been answered.  `repeat` asks again for a deed that fell silent, with the
same arguments; the compiler compares those that cannot have changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .. import core
from ..problems import Label, Problem
from ..source import Span
from ..walk import nodes
from .coverage import event_text


@dataclass(frozen=True, slots=True)
class _Machine:
    states: Mapping[str, core.State]
    commands: Mapping[str, core.Command]
    asked: Mapping[str, list[core.Do]]


def flights(machine: core.Machine) -> list[Problem]:
    bodies = [machine.start, *(c.body for c in machine.clauses if c.body is not None)]
    asked: dict[str, list[core.Do]] = {}
    repeated: set[str] = set()
    for found in bodies:
        for issue in found.issues:
            match issue:
                case core.Do(command=name):
                    asked.setdefault(name, []).append(issue)
                case core.Repeat(command=name):
                    repeated.add(name)
                case _:
                    pass
    context = _Machine(
        {state.name: state for state in machine.states},
        {command.name: command for command in machine.commands},
        asked,
    )
    problems = list(_way(machine.start, None, None, machine.span, context))
    for clause in machine.clauses:
        source = context.states[clause.state]
        if clause.body is not None:
            problems += _way(clause.body, source, clause.trigger, clause.span, context)
        elif isinstance(clause.trigger, core.OnOutcome):
            text = (
                f"`{clause.state}` would wait for ever: {event_text(clause.trigger)} "
                "is the answer that it awaits"
            )
            problems.append(Problem("DEED452", clause.span, text))
    if not problems:
        problems += _never_asked(machine, {*asked, *repeated})
    problems += _unrepeatable(machine, context)
    return problems


def _way(
    body: core.Body,
    source: core.State | None,
    trigger: core.Trigger | None,
    span: Span,
    machine: _Machine,
) -> Iterator[Problem]:
    """One block: what it asks for against the state that it goes to."""
    asked = [
        issue
        for issue in body.issues
        if isinstance(issue, core.Do | core.Repeat)
        and machine.commands[issue.command].outcomes
    ]
    match body.exit:
        case core.Goto(state=name):
            target = machine.states[name]
        case core.Stay() if source is not None:
            target = source
        case _:
            if body.issues:
                text = "a block that rejects changes nothing, so it can ask for nothing"
                yield Problem("DEED452", body.issues[0].span, text)
            return
    if len(asked) > 1:
        text = f"a block asks for one answer at most; `{asked[0].command}` is asked for already"
        label = Label(asked[0].span, "asked for here")
        yield Problem("DEED452", asked[1].span, text, others=(label,))
        return
    answer = isinstance(trigger, core.OnOutcome)
    if asked:
        yield from _asked(asked[0], target, source, answer, machine)
    elif target.awaits is not None:
        kept = source is not None and source.awaits == target.awaits and not answer
        if not kept:
            after = (
                "its answer has come" if source is not None and source.awaits else ""
            )
            yield Problem(
                "DEED452",
                span,
                f"`{target.name}` awaits `{target.awaits}`, but nothing asks for it on this way",
                label=after
                if source is not None and source.awaits == target.awaits
                else "",
                others=(Label(target.span, f"awaits `{target.awaits}`"),),
                hints=(f"Add `do {target.awaits}(…)` before this block ends.",),
            )


def _asked(
    issue: core.Do | core.Repeat,
    target: core.State,
    source: core.State | None,
    answer: bool,
    machine: _Machine,
) -> Iterator[Problem]:
    name = issue.command
    if target.awaits != name:
        awaits = (
            "awaits nothing" if target.awaits is None else f"awaits `{target.awaits}`"
        )
        yield Problem(
            "DEED452",
            issue.span,
            f"`{name}` is asked for, but `{target.name}` does not await it",
            others=(Label(target.span, awaits),),
            hints=(_awaiting(name, target),),
        )
    if not isinstance(issue, core.Repeat):
        return
    if machine.commands[name].unrepeatable:
        text = f"`{name}` is unrepeatable, so it is never asked for again"
        yield Problem("DEED101", issue.span, text)
    elif answer or source is None or source.open_deed != name:
        text = f"`repeat` asks again after silence, and here no deed of `{name}` is unanswered"
        hint = f"`do {name}(…)` opens a new deed."
        yield Problem("DEED452", issue.span, text, hints=(hint,))
    else:
        yield from _same_arguments(issue, machine)


def _awaiting(command: str, target: core.State) -> str:
    if target.awaits is not None or target.final:
        return f"Go to a state that `awaits {command}`."
    fields = " { … }" if target.fields else ""
    return f"Write `state {target.name}{fields} awaits {command}`, or go to a state that does."


def _same_arguments(repeat: core.Repeat, machine: _Machine) -> Iterator[Problem]:
    params = machine.commands[repeat.command].params
    for do in machine.asked.get(repeat.command, []):
        for first, again, param in zip(
            do.arguments, repeat.arguments, params, strict=True
        ):
            if first != again and _constant(first) and _constant(again):
                text = f"`{param.name}` differs from what the deed was opened with"
                label = Label(first.span, "opened with this")
                yield Problem("DEED308", again.span, text, others=(label,))


def _constant(expr: core.Expr) -> bool:
    """Whether it has one value between two starts."""
    return not any(
        isinstance(node, core.Now | core.Bound | core.Deed)
        or (isinstance(node, core.Read) and node.scope not in ("key", "given"))
        for node in nodes(expr)
    )


def _never_asked(machine: core.Machine, asked: set[str]) -> Iterator[Problem]:
    awaiting = {
        state.awaits: state for state in reversed(machine.states) if state.awaits
    }
    for command in machine.commands:
        if command.name in asked:
            continue
        if command.name in awaiting:
            state = awaiting[command.name]
            text = f"`{state.name}` awaits `{command.name}`, which nobody asks for"
            yield Problem("DEED453", state.span, text)
        else:
            text = f"`{command.name}` is declared and never asked for"
            yield Problem("DEED455", command.span, text)


def _unrepeatable(machine: core.Machine, context: _Machine) -> Iterator[Problem]:
    for state in machine.states:
        if state.awaits is None or not context.commands[state.awaits].unrepeatable:
            continue
        if not state.deadlines:
            name = state.awaits
            yield Problem(
                "DEED451",
                state.span,
                f"`{name}` is unrepeatable and may never answer, and `{state.name}` "
                "does not say what happens then",
                others=(Label(context.commands[name].span, "unrepeatable"),),
                hints=("Give it a deadline: silence is the one end nobody declares.",),
            )
