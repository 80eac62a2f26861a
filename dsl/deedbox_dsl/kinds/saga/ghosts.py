"""`did(step)`, `undid(step)` and `aborted` in plain words.

They speak of the world, not of what the machine has heard: a step is done when
the far side ended its deed with an outcome that leads to `next`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from ... import syntax
from ...naming import unknown
from ...problems import Problem
from ...source import Span
from .. import trees
from ..rules import chain
from .back import undo_states
from .plan import Plan


def in_plain_words(found: Plan) -> tuple[list[syntax.Property], list[Problem]]:
    """The saga's properties with these words replaced."""
    problems: list[Problem] = []
    done: list[syntax.Property] = []
    for item in found.saga.items:
        if isinstance(item, syntax.Property):
            target = (
                None if item.target is None else _pred(item.target, found, problems)
            )
            pred = _pred(item.pred, found, problems)
            done.append(replace(item, pred=pred, target=target))
    return done, problems


def _pred(pred: syntax.Pred, found: Plan, problems: list[Problem]) -> syntax.Pred:
    return replace(pred, expr=_plain(pred.expr, found, problems))


def _plain(expr: syntax.Expr, found: Plan, problems: list[Problem]) -> syntax.Expr:
    match expr:
        case syntax.Unary(operator="not", operand=syntax.Call() as call) if _word(call):
            return _happened(call, found, problems, expr.span, truth=False)
        case syntax.Call() if _word(expr):
            return _happened(expr, found, problems, expr.span, truth=True)
        case syntax.Var(name="aborted", span=span):
            return syntax.Is(
                trees.var("phase", span), tuple(_aborting(found, span)), span
            )
        case syntax.Unary(operand=operand):
            return replace(expr, operand=_plain(operand, found, problems))
        case syntax.Binary(left=left, right=right):
            return replace(
                expr,
                left=_plain(left, found, problems),
                right=_plain(right, found, problems),
            )
        case syntax.Conditional(test=test, yes=yes, no=no):
            return replace(
                expr,
                test=_plain(test, found, problems),
                yes=_plain(yes, found, problems),
                no=_plain(no, found, problems),
            )
        case (
            syntax.Var()
            | syntax.IntLit()
            | syntax.DurationLit()
            | syntax.TextLit()
            | syntax.BoolLit()
            | syntax.NoneLit()
            | syntax.Now()
            | syntax.EmptyList()
            | syntax.Member()
            | syntax.Call()
            | syntax.Is()
        ):
            return expr
        case _:
            assert_never(expr)


def _word(call: syntax.Call) -> bool:
    return isinstance(call.target, syntax.Var) and call.target.name in ("did", "undid")


def _happened(
    call: syntax.Call,
    found: Plan,
    problems: list[Problem],
    whole: Span,
    *,
    truth: bool,
) -> syntax.Expr:
    """`whole`: the call, with a `not` before it where there is one."""
    span = call.span
    word = call.target.name if isinstance(call.target, syntax.Var) else ""
    steps = {step.name.text: step for step in found.steps}
    match call.arguments:
        case (syntax.Var(name=name),) if name in steps:
            step = steps[name]
        case (syntax.Var(name=name, span=at),):
            text = f"there is no step `{name}`"
            problems.append(unknown("DEED201", syntax.Name(name, at), text, steps))
            return call
        case _:
            text = f"`{word}` takes the name of one step"
            problems.append(Problem("DEED308", span, text))
            return call
    attempt = step.do
    if word == "undid":
        if step.undo is None:
            text = f"`{name}` has no undo, so it is never undone"
            problems.append(Problem("DEED601", span, text))
            return call
        attempt = step.undo.attempt
    outcomes = [
        rule.outcome.name.text
        for rule in attempt.rules
        if isinstance(rule, syntax.Rule)
        and any(isinstance(part, syntax.Next) for part in chain(rule.action))
    ]
    return _counted(attempt.command.text, outcomes, whole, truth=truth)


def _counted(
    command: str, outcomes: list[str], span: Span, *, truth: bool
) -> syntax.Expr:
    total: syntax.Expr | None = None
    for outcome in outcomes:
        count = trees.call("count", trees.member(command, outcome, span), span=span)
        total = count if total is None else trees.binary("+", total, count, span)
    if total is None:
        return syntax.BoolLit(not truth, span)
    return trees.binary(">" if truth else "==", total, trees.number(0, span), span)


def _aborting(found: Plan, span: Span) -> list[syntax.Name]:
    """An undo phase, or the `undone` final."""
    undoing = [title for step, undo in found.undos for title in undo_states(step, undo)]
    return [trees.name(each, span) for each in (*undoing, found.undone.state.text)]
