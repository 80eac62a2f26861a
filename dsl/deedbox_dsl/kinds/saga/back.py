"""The way back: each undo's states, and what its answers and silence lead to."""

from __future__ import annotations

from collections.abc import Iterator

from ... import syntax
from .. import asking, rules, trees
from ..asking import Part
from .carried import Work, in_state, undo_waiting_fields, undoing_fields
from .steps import Step, Undo
from .ways import turn_back


def backward(step: Step, undo: Undo, work: Work) -> Iterator[Part]:
    attempt, span = undo.attempt, undo.loop.span
    undoing = undoing_fields(step, undo, work)
    yield (
        asking.state(f"{step.title}Undoing", undoing, attempt.command, span),
        [c for rule in attempt.rules for c in _answers(step, undo, rule, work)],
    )
    waiting = undo_waiting_fields(step, undo, work)
    for title, silent in undo.loop.waits(*_waits(step)):
        again = asking.again(
            undo.loop,
            f"{step.title}Undoing",
            undoing,
            waiting,
            {**in_state(work, step, back=True), "deed": trees.itself(step.deed)},
            {},
            silent=silent,
        )
        yield asking.state(title, waiting, None, span), [again]


def undo_states(step: Step, undo: Undo) -> list[str]:
    """The states in which a step is being undone."""
    waits = (title for title, _ in undo.loop.waits(*_waits(step)))
    return [f"{step.title}Undoing", *waits]


def _waits(step: Step) -> tuple[str, str]:
    return f"{step.title}UndoBackoff", f"{step.title}UndoSilent"


def _answers(
    step: Step, undo: Undo, rule: syntax.Rule | syntax.SilenceRule, work: Work
) -> Iterator[syntax.Clause]:
    span = rule.span
    for leaf in rules.leaves(rule.action, work.plan.scope, work.out):
        action = leaf.action
        if isinstance(action, rules.Later):
            values = {
                "due": trees.later(action.wait, action.span),
                "error": rules.last_error(rule, work.out, work.plan.scope),
            }
            title = _waits(step)[isinstance(rule, syntax.SilenceRule)]
            fields = undo_waiting_fields(step, undo, work)
            before = undoing_fields(step, undo, work)
            block = asking.wait(rule, action, title, fields, values, before, work.out)
        else:
            meanings = in_state(work, step, back=True)
            cause = trees.var("cause", span)
            block = turn_back(step, False, meanings, cause, work, span)
        yield asking.clause(undo.attempt.command, rule, leaf.guard, block, work.out)
