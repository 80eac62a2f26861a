"""The way forward: each step's states, and what its answers, silence and `Cancel` lead to.

A remembered `Cancel` acts when the running step answers; while nothing is asked it
acts at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ... import syntax
from .. import asking, rules, trees
from ..asking import Part
from .cancel import cancel, reason
from .carried import (
    Work,
    in_state,
    left,
    remembers_in_silence,
    running_fields,
    silent_fields,
    waiting_fields,
)
from .liveness import turns_back_with_undo
from .steps import Step
from .ways import enter, not_cancelled, turn_back


def forward(step: Step, work: Work) -> Iterator[Part]:
    span, title = step.name.span, step.title
    running = asking.state(
        f"{title}Running", running_fields(step, work), step.do.command, span
    )
    yield (
        replace(running, doc=step.doc),
        [clause for rule in step.do.rules for clause in _answers(step, rule, work)],
    )
    if step.loop.answer_retried:
        yield (
            asking.state(f"{title}Backoff", waiting_fields(step, work), None, span),
            [*_cancel_waiting(step, work, own=False), _again(step, work, silent=False)],
        )
    if step.loop.silence_retried:
        cancels: list[syntax.Clause] = []
        if not remembers_in_silence(step, work.plan):
            cancels = list(_cancel_waiting(step, work, own=True))
        yield (
            asking.state(f"{title}Silent", silent_fields(step, work), None, span),
            [*cancels, _again(step, work, silent=True)],
        )


def _answers(
    step: Step, rule: syntax.Rule | syntax.SilenceRule, work: Work
) -> Iterator[syntax.Clause]:
    """The clauses for one outcome, or for silence; first match wins."""
    found = rules.leaves(rule.action, work.plan.scope, work.out)
    span = rule.span
    cause = rules.reason(step.name.text, rule, work.out, work.plan.scope)
    if not work.plan.cancellable:
        for leaf in found:
            block = _leaf(step, rule, leaf.action, cause, work)
            yield asking.clause(step.do.command, rule, leaf.guard, block, work.out)
        return
    said = reason(trees.var("cancelled", span), span)
    cancelled = trees.not_none("cancelled", span)
    own = turns_back_with_undo(step, rule)
    advances = any(isinstance(leaf.action, syntax.Next) for leaf in found)
    least = found[0]
    if not advances and _turns_alike(
        step, least.action, own, work, alone=len(found) == 1
    ):
        why = syntax.Conditional(cancelled, said, cause, span)
        guard = least.guard
        if guard is not None:
            guard = trees.binary("or", cancelled, guard, span)
        block = _leaf(step, rule, least.action, why, work)
        yield asking.clause(step.do.command, rule, guard, block, work.out)
        found = found[1:]
    elif not advances:
        block = turn_back(
            step, own, left(step, rule, work, known=False), said, work, span
        )
        yield asking.clause(step.do.command, rule, cancelled, block, work.out)
    last = step.number == len(work.plan.steps) - 1
    for leaf in found:
        if advances and not (last and isinstance(leaf.action, syntax.Next)):
            undone = isinstance(leaf.action, syntax.Next)
            meanings = left(step, rule, work, known=undone)
            block = turn_back(step, undone or own, meanings, said, work, span)
            guard = trees.all_of((cancelled, leaf.guard), span)
            yield asking.clause(step.do.command, rule, guard, block, work.out)
        block = _leaf(step, rule, leaf.action, cause, work)
        yield asking.clause(step.do.command, rule, leaf.guard, block, work.out)


def _turns_alike(
    step: Step,
    action: rules.Terminal | rules.Later,
    own: bool,
    work: Work,
    *,
    alone: bool,
) -> bool:
    """Whether a cancel takes the way that the action takes by itself."""
    if not isinstance(action, syntax.Abort) or action.with_undo is not own:
        return False
    return alone or work.plan.back(step.number, own=own) is not None


def _leaf(
    step: Step,
    rule: syntax.Rule | syntax.SilenceRule,
    action: rules.Terminal | rules.Later,
    cause: syntax.Expr,
    work: Work,
) -> syntax.Block:
    span = rule.span
    match action:
        case rules.Later():
            silent = isinstance(rule, syntax.SilenceRule)
            values = {"due": trees.later(action.wait, action.span), "cause": cause}
            fields = waiting_fields(step, work)
            if silent:
                fields = silent_fields(step, work)
                if remembers_in_silence(step, work.plan):
                    values["cancelled"] = syntax.NoneLit(span)
            state = f"{step.title}{'Silent' if silent else 'Backoff'}"
            return asking.wait(
                rule,
                action,
                state,
                fields,
                values,
                running_fields(step, work),
                work.out,
            )
        case syntax.Abort(with_undo=own):
            return turn_back(
                step, own, left(step, rule, work, known=False), cause, work, span
            )
        case _:
            meanings = left(step, rule, work, known=True)
            if step.number + 1 < len(work.plan.steps):
                return enter(work.plan.steps[step.number + 1], meanings, work, span)
            end = work.plan.done
            return syntax.Block(
                (), (), asking.finish(end.state, end.init, meanings, span), span
            )


def _again(step: Step, work: Work, *, silent: bool) -> syntax.Clause:
    remembered = silent and remembers_in_silence(step, work.plan)
    return asking.again(
        step.loop,
        f"{step.title}Running",
        running_fields(step, work),
        silent_fields(step, work) if silent else waiting_fields(step, work),
        in_state(work, step, back=False),
        {} if remembered else not_cancelled(work, step.loop.span),
        silent=silent,
    )


def _cancel_waiting(step: Step, work: Work, *, own: bool) -> Iterator[syntax.Clause]:
    """While nothing is asked, a cancel acts at once."""
    if not work.plan.cancellable:
        return
    span = step.name.span
    cause = reason(trees.member(work.message, "reason", span), span)
    meanings = left(step, None, work, known=False)
    block = turn_back(step, own, meanings, cause, work, span)
    yield trees.on(cancel(span), work.message, None, block, span)
