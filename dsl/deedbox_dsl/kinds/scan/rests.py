"""Between pages and between passes: pauses, rests, and what shortens them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import syntax
from ...policies import duration_text
from ...source import Span
from .. import asking, rules, trees, waking
from ..trees import Maker
from .fields import pausing_fields, resting_fields, waiting_fields
from .plan import Plan


def wait(
    rule: syntax.Rule | syntax.SilenceRule,
    action: rules.Later,
    prefix: str,
    asked: rules.Loop,
    fields: Sequence[syntax.Field],
    found: Plan,
) -> syntax.Block:
    values = {
        "due": trees.later(action.wait, action.span),
        "error": rules.last_error(rule, found.out, found.scope),
    }
    silent = isinstance(rule, syntax.SilenceRule)
    title = f"{prefix}{'Silent' if silent else 'Waiting'}"
    waiting = waiting_fields(asked, fields)
    return asking.wait(rule, action, title, waiting, values, fields, found.out)


def pause(found: Plan, after: syntax.Expr, span: Span) -> syntax.Block:
    values = {found.cursor.name.text: after, "due": trees.later(found.pause, span)}
    if found.wakes:
        values["woken"] = trees.var("woken", span)
    exit_ = trees.goto("Pausing", pausing_fields(found, span), values, span)
    return syntax.Block((), (), exit_, span)


def rest(found: Plan, cursor: Maker, span: Span) -> syntax.Block:
    """Rest until the idle time is over, or shortly when a wake came meanwhile."""
    wait: syntax.Expr = found.idle
    if found.wakes:
        soon = min(_delay(wake) for wake in found.wakes)
        short = syntax.DurationLit(soon, duration_text(soon), span)
        wait = syntax.Conditional(trees.var("woken", span), short, wait, span)
    values = {found.cursor.name.text: cursor(span), "due": trees.later(wait, span)}
    exit_ = trees.goto("Resting", resting_fields(found, span), values, span)
    return syntax.Block((), (), exit_, span)


def _delay(wake: syntax.WakeOn) -> int:
    return 0 if wake.after is None else wake.after.milliseconds


def woken(found: Plan) -> Iterator[syntax.Clause]:
    return map(waking.remembered, found.wakes)


def woken_at_rest(found: Plan) -> Iterator[syntax.Clause]:
    for wake in found.wakes:
        span = wake.span
        soon = _delay(wake)
        sooner = trees.later(syntax.DurationLit(soon, duration_text(soon), span), span)
        due = trees.call("earliest", trees.var("due", span), sooner, span=span)
        items = (syntax.CarryOver(span), trees.assign("due", due, span))
        stay = syntax.Stay(syntax.Init(items, span), span)
        block = syntax.Block((), (), stay, span)
        yield syntax.On(waking.message(wake), None, None, block, span)
