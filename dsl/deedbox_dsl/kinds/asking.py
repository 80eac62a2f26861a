"""A command that is asked for until it is answered: the fields and blocks all kinds share.

The awaiting state counts its issues (`attempt`), knows when silence is over
(`silent_at`), and, where a rule reads them, when the run of attempts began
(`since`) and whether someone was told (`told`).  A waiting state keeps the same
fields beside `due`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import syntax
from ..source import Span
from . import rules, trees
from .trees import Meanings, Values

Part = tuple[syntax.State, list[syntax.Clause]]
"""A state of a lowered machine, and what happens in it."""


def loop_fields(loop: rules.Loop, span: Span) -> Iterator[syntax.Field]:
    if loop.counted:
        yield trees.field("attempt", "int", span)
    if loop.since:
        yield trees.field("since", "instant", span)
    if loop.told:
        yield trees.field("told", "bool", span)


def silent_field(loop: rules.Loop, span: Span) -> Iterator[syntax.Field]:
    if loop.silence is not None:
        yield trees.field("silent_at", "instant", span)


def first_values(loop: rules.Loop, span: Span) -> dict[str, syntax.Expr]:
    values: dict[str, syntax.Expr] = {}
    if loop.counted:
        values["attempt"] = trees.number(1, span)
    if loop.since:
        values["since"] = syntax.Now(span)
    if loop.told:
        values["told"] = syntax.BoolLit(False, span)
    if loop.silence is not None:
        values["silent_at"] = trees.later(loop.silence.after, span)
    return values


def next_values(loop: rules.Loop, span: Span) -> dict[str, syntax.Expr]:
    values: dict[str, syntax.Expr] = {"attempt": trees.plus_one("attempt", span)}
    if loop.silence is not None:
        values["silent_at"] = trees.later(loop.silence.after, span)
    return values


def state(
    title: str, fields: Sequence[syntax.Field], awaits: syntax.Name | None, span: Span
) -> syntax.State:
    return syntax.State(
        trees.name(title, span), tuple(fields), awaits, final=False, doc=None, span=span
    )


def wait(
    rule: syntax.Rule | syntax.SilenceRule,
    action: rules.Later,
    state: str,
    fields: Sequence[syntax.Field],
    values: dict[str, syntax.Expr],
    before: Sequence[syntax.Field],
    out: str,
) -> syntax.Block:
    """Go to a waiting state, telling someone first where it is time to."""
    issues: tuple[syntax.Issue, ...] = ()
    if action.escalate is not None:
        told = action.escalate
        outcome = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
        meanings = {f.name.text: trees.of(out, f.name.text) for f in outcome}
        arguments = tuple(trees.substitute(each, meanings) for each in told.arguments)
        issues = (syntax.Do(told.command, arguments, told.span),)
        values["told"] = syntax.BoolLit(True, told.span)
    exit_ = trees.goto(state, fields, values, rule.span, names_of(before))
    return syntax.Block((), issues, exit_, rule.span)


def names_of(fields: Sequence[syntax.Field]) -> list[str]:
    return [f.name.text for f in fields]


def first(
    loop: rules.Loop,
    awaiting: str,
    fields: Sequence[syntax.Field],
    meanings: Meanings,
    values: Values,
    span: Span,
) -> syntax.Block:
    """Ask for the first time of a run of attempts, and go to the state that awaits it."""
    attempt = loop.attempt
    arguments = trees.bound_arguments(
        attempt.params, {**meanings, "attempt": trees.one}
    )
    do = syntax.Do(trees.name(attempt.command.text, span), arguments, span)
    exit_ = trees.goto(awaiting, fields, {**first_values(loop, span), **values}, span)
    return syntax.Block((), (do,), exit_, span)


def again(
    loop: rules.Loop,
    awaiting: str,
    fields: Sequence[syntax.Field],
    before: Sequence[syntax.Field],
    meanings: Meanings,
    values: Values,
    *,
    silent: bool,
) -> syntax.Clause:
    """When the wait is over: ask anew, or after silence for the same deed."""
    attempt, span = loop.attempt, loop.span
    bound = {**meanings, "attempt": trees.next_attempt}
    arguments = trees.bound_arguments(attempt.params, bound)
    issue: syntax.Issue = syntax.Do(attempt.command, arguments, span)
    if silent:
        issue = syntax.Repeat(attempt.command, arguments, span)
    updated = {**next_values(loop, span), **values}
    exit_ = trees.goto(awaiting, fields, updated, span, names_of(before))
    return at_due(syntax.Block((), (issue,), exit_, span), span)


def at_due(block: syntax.Block, span: Span) -> syntax.Clause:
    return syntax.At(trees.name("due", span), None, block, span)


def clause(
    command: syntax.Name,
    rule: syntax.Rule | syntax.SilenceRule,
    guard: syntax.Expr | None,
    block: syntax.Block,
    out: str,
) -> syntax.Clause:
    if isinstance(rule, syntax.SilenceRule):
        return syntax.At(trees.name("silent_at", rule.span), guard, block, rule.span)
    span = rule.outcome.name.span
    trigger = syntax.Trigger(trees.name(command.text, span), rule.outcome.name, span)
    return trees.on(trigger, out, guard, block, span)


def unused(name: str, taken: set[str]) -> str:
    """The name, or one made from it that nobody has."""
    return name if name not in taken else unused(f"{name}1", taken)


def finish(
    state: syntax.Name,
    init: syntax.Init | None,
    meanings: Meanings,
    span: Span,
) -> syntax.Goto:
    """To a final, with what its names stand for here."""
    items = [
        trees.assign(own.text, trees.substitute(value, meanings), own.span)
        for own, value in trees.settings(init)
    ]
    return syntax.Goto(trees.name(state.text, span), trees.init(items, span), span)
