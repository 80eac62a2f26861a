"""The ways between the steps of a saga: into a step, and back from one."""

from __future__ import annotations

from collections.abc import Sequence

from ... import syntax
from ...source import Span
from .. import asking
from ..trees import Meanings
from .carried import Work, running_fields, undoing_fields
from .steps import Step


def enter(step: Step, meanings: Meanings, work: Work, span: Span) -> syntax.Block:
    """Ask for the step's command for the first time."""
    fields = running_fields(step, work)
    values = _meant(fields, meanings, span) | not_cancelled(work, span)
    running = f"{step.title}Running"
    return asking.first(step.loop, running, fields, meanings, values, span)


def not_cancelled(work: Work, span: Span) -> dict[str, syntax.Expr]:
    """A step that is asked anew remembers no `Cancel` yet."""
    return {"cancelled": syntax.NoneLit(span)} if work.plan.cancellable else {}


def turn_back(
    step: Step,
    own: bool,
    meanings: Meanings,
    cause: syntax.Expr,
    work: Work,
    span: Span,
) -> syntax.Block:
    """Begin the way back from `step`, with its own undo or with those before it."""
    return _undo(work.plan.back(step.number, own=own), meanings, cause, work, span)


def _undo(
    step: Step | None, meanings: Meanings, cause: syntax.Expr, work: Work, span: Span
) -> syntax.Block:
    """Ask for the step's undo for the first time; without one, the saga is undone."""
    if step is None or step.undo is None:
        end = work.plan.undone
        exit_ = asking.finish(end.state, end.init, {"cause": lambda _: cause}, span)
        return syntax.Block((), (), exit_, span)
    fields = undoing_fields(step, step.undo, work)
    values = {**_meant(fields, meanings, span), "cause": cause}
    bound = {**meanings}
    if step.deed in meanings:
        bound["deed"] = meanings[step.deed]
    undoing = f"{step.title}Undoing"
    return asking.first(step.undo.loop, undoing, fields, bound, values, span)


def _meant(
    fields: Sequence[syntax.Field], meanings: Meanings, span: Span
) -> dict[str, syntax.Expr]:
    return {
        f.name.text: meanings[f.name.text](span)
        for f in fields
        if f.name.text in meanings
    }
