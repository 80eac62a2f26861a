"""`Cancel`, the message that every saga takes: why it was sent, and who remembers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import syntax
from ...source import Span
from .. import trees
from .back import undo_states
from .carried import Work


def message(span: Span) -> syntax.Message:
    fields = (trees.field("reason", "text", span),)
    return syntax.Message(trees.name("Cancel", span), fields, None, span)


def cancel(span: Span) -> syntax.Trigger:
    return syntax.Trigger(trees.name("Cancel", span), None, span)


def reason(said: syntax.Expr, span: Span) -> syntax.Expr:
    """The cause of a saga that was cancelled."""
    return trees.binary("+", trees.text("cancelled: ", span), said, span)


def cancels(states: Sequence[syntax.State], work: Work) -> Iterator[syntax.Inside]:
    """What every running state, and every undo, does with a cancel."""
    found = work.plan
    if found.no_cancel is not None:
        span = found.no_cancel.span
        block = syntax.Block((), (), syntax.Reject(found.no_cancel.reason, span), span)
        clause: syntax.Clause = syntax.On(cancel(span), None, None, block, span)
        yield syntax.Inside(tuple(state.name for state in states), (clause,), span)
        return
    span = found.saga.name.span
    remembering = tuple(
        state.name
        for state in states
        if any(f.name.text == "cancelled" for f in state.fields)
    )
    said = trees.assign("cancelled", trees.member(work.message, "reason", span), span)
    stay = syntax.Stay(syntax.Init((syntax.CarryOver(span), said), span), span)
    block = syntax.Block((), (), stay, span)
    remember = trees.on(cancel(span), work.message, None, block, span)
    yield syntax.Inside(remembering, (remember,), span)
    undoing = tuple(
        trees.name(title, span)
        for step, undo in found.undos
        for title in undo_states(step, undo)
    )
    if undoing:
        yield syntax.Inside(undoing, (syntax.Ignore((cancel(span),), span),), span)
