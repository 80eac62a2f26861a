"""A saga as a machine: steps forward, undos back, and `Cancel` at any time.

Each step becomes `XRunning` (asked, not answered), `XBackoff` (an answer is
retried), `XSilent` (silence is retried, under the same deed) and, on the way
back, `XUndoing`, `XUndoBackoff`, `XUndoSilent`.  `plan` has decided what each
must carry; this module writes the states and their clauses, in the order of the
steps.  A remembered `Cancel` acts when the running step answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import syntax
from ..names import Scope
from ..problems import Problem, has_errors
from ..source import Span
from . import asking, rules, trees
from .finals import finals
from .ghosts import in_plain_words
from .saga_plan import Plan, Step, Undo, plan, turns_back_with_undo
from .trees import Maker

REASON = "cancelled: "


def lower_saga(
    saga: syntax.Saga, scope: Scope
) -> tuple[syntax.Machine | None, tuple[Problem, ...]]:
    """The machine that the saga means, when nothing is wrong with it."""
    found, problems = plan(saga, scope)
    if found is None or has_errors(problems):
        return None, tuple(problems)
    ends, wrong = finals(found)
    ghosts, wrong_ghosts = in_plain_words(found)
    problems += [*wrong, *wrong_ghosts]
    if has_errors(problems):
        return None, tuple(problems)
    work = _Work(found, _names(found))
    forward = [part for step in found.steps for part in _forward(step, work)]
    back = [
        part
        for step in reversed(found.steps)
        if step.undo is not None and step.number in found.undone_from
        for part in _backward(step, step.undo, work)
    ]
    states = [state for state, _ in (*forward, *back)]
    blocks = [
        syntax.Inside((state.name,), tuple(clauses), state.span)
        for state, clauses in (*forward, *back)
        if clauses
    ]
    span = saga.name.span
    rest = rules.common(saga.items)
    items: list[syntax.MachineItem] = [
        *(item for item in rest if isinstance(item, syntax.Key)),
        *(item for item in rest if isinstance(item, syntax.Given)),
        *states,
        *ends,
        syntax.Message(
            trees.name("Cancel", span),
            (trees.field("reason", "text", span),),
            None,
            span,
        ),
        *_commands(found),
        syntax.Start(_enter(found.steps[0], {}, work, span), span),
        *blocks,
        *_cancels(found, states),
        *rules.in_class_order(
            [*(item for item in rest if not isinstance(item, syntax.Property)), *ghosts]
        ),
    ]
    machine = syntax.Machine(saga.name, saga.version, tuple(items), saga.doc, saga.span)
    return machine, tuple(problems)


@dataclass(frozen=True, slots=True)
class _Work:
    """The plan, and the names by which clauses call an outcome (`out`) and a message (`m`)."""

    plan: Plan
    names: tuple[str, str]

    @property
    def out(self) -> str:
        return self.names[0]

    @property
    def m(self) -> str:
        return self.names[1]


def _names(found: Plan) -> tuple[str, str]:
    taken = {part.name.text for part in (*found.key, *found.given)}
    taken |= {name for step in found.steps for name in (*step.captured, step.deed)}
    return asking.unused("out", taken), asking.unused("m", taken)


def _commands(found: Plan) -> Iterator[syntax.Command]:
    for step in found.steps:
        yield rules.command(step.do)
        if step.undo is not None:
            yield rules.command(step.undo.attempt)
    yield from (item for item in found.saga.items if isinstance(item, syntax.Command))


# ---- fields of states ---------------------------------------------------------------------


def _running_fields(step: Step, work: _Work) -> list[syntax.Field]:
    span = step.name.span
    return [
        *asking.loop_fields(step.loop, span),
        *asking.silent_field(step.loop, span),
        *_carried(step, work, back=False),
        *_cancelled_field(work.plan.cancellable, span),
    ]


def _waiting_fields(step: Step, work: _Work) -> list[syntax.Field]:
    span = step.name.span
    return [
        *asking.loop_fields(step.loop, span),
        trees.field("due", "instant", span),
        trees.field("cause", "text", span),
        *_carried(step, work, back=False),
    ]


def _silent_fields(step: Step, work: _Work) -> list[syntax.Field]:
    remembers = _remembers_in_silence(step, work.plan)
    return [
        *_waiting_fields(step, work),
        *_cancelled_field(remembers, step.name.span),
    ]


def _remembers_in_silence(step: Step, found: Plan) -> bool:
    blind = step.undo is not None and step.undo.blind
    return found.cancellable and not blind


def _undoing_fields(step: Step, undo: Undo, work: _Work) -> list[syntax.Field]:
    span = undo.attempt.command.span
    return [
        *asking.loop_fields(undo.loop, span),
        *asking.silent_field(undo.loop, span),
        trees.field("cause", "text", span),
        *_carried(step, work, back=True),
    ]


def _undo_waiting_fields(step: Step, undo: Undo, work: _Work) -> list[syntax.Field]:
    span = undo.attempt.command.span
    return [
        *asking.loop_fields(undo.loop, span),
        trees.field("cause", "text", span),
        trees.field("due", "instant", span),
        trees.field("error", "text", span),
        *_carried(step, work, back=True),
    ]


def _cancelled_field(remembered: bool, span: Span) -> Iterator[syntax.Field]:
    if remembered:
        kind = trees.optional(trees.type_name("text", span))
        yield trees.field("cancelled", kind, span)


def _carried(step: Step, work: _Work, *, back: bool) -> list[syntax.Field]:
    """Captured values, then deeds: of the first step first, on the way back of the last."""
    found = work.plan
    live = found.undoing[step.number] if back else found.running[step.number]
    steps: Sequence[Step] = found.steps[::-1] if back else found.steps
    fields: list[syntax.Field] = []
    for other in steps:
        for own, kind in other.captured.items():
            if own in live:
                unknown = back and other is step and step.number in found.blindly
                fields.append(
                    trees.field(
                        own, trees.optional(kind) if unknown else kind, kind.span
                    )
                )
    fields += [
        trees.field(other.deed, "text", other.name.span)
        for other in steps
        if other.deed in live
    ]
    return fields


# ---- what names stand for -----------------------------------------------------------------


def _in_state(work: _Work, step: Step, *, back: bool) -> dict[str, Maker]:
    """Every carried name is a field of the state."""
    return {
        f.name.text: trees.itself(f.name.text) for f in _carried(step, work, back=back)
    }


def _brought(
    step: Step,
    work: _Work,
    rule: syntax.Rule | syntax.SilenceRule | None,
    *,
    known: bool,
) -> dict[str, Maker]:
    """What the step itself brings as it is left: its outcome's fields, or nothing known."""
    answered = known and isinstance(rule, syntax.Rule)
    own: dict[str, Maker] = {
        name: trees.of(work.out, name) if answered else trees.nothing
        for name in step.captured
    }
    own[step.deed] = trees.itself("deed")
    return own


# ---- ways out -------------------------------------------------------------------------------


def _enter(
    step: Step, meanings: Mapping[str, Maker], work: _Work, span: Span
) -> syntax.Block:
    """Ask for the step's command for the first time."""
    bound = {**meanings, "attempt": trees.one}
    do = syntax.Do(
        trees.name(step.do.command.text, span),
        trees.bound_arguments(step.do.params, bound),
        span,
    )
    fields = _running_fields(step, work)
    values = asking.first_values(step.loop, span)
    values |= _meant(fields, meanings, values, span)
    if work.plan.cancellable:
        values["cancelled"] = syntax.NoneLit(span)
    exit_ = trees.goto(f"{step.title}Running", fields, values, span)
    return syntax.Block((), (do,), exit_, span)


def _meant(
    fields: Sequence[syntax.Field],
    meanings: Mapping[str, Maker],
    without: Mapping[str, syntax.Expr],
    span: Span,
) -> dict[str, syntax.Expr]:
    return {
        f.name.text: meanings[f.name.text](span)
        for f in fields
        if f.name.text in meanings and f.name.text not in without
    }


def _turn_back(
    step: Step,
    own: bool,
    meanings: Mapping[str, Maker],
    cause: syntax.Expr,
    work: _Work,
    span: Span,
) -> syntax.Block:
    """Begin the way back from `step`, with its own undo or with those before it."""
    return _undo(work.plan.back(step.number, own=own), meanings, cause, work, span)


def _undo(
    step: Step | None,
    meanings: Mapping[str, Maker],
    cause: syntax.Expr,
    work: _Work,
    span: Span,
) -> syntax.Block:
    """Ask for the step's undo for the first time; without one, the saga is undone."""
    if step is None or step.undo is None:
        end = work.plan.undone
        exit_ = asking.finish(end.state, end.init, {"cause": lambda _: cause}, span)
        return syntax.Block((), (), exit_, span)
    undo = step.undo
    bound = {**meanings, "attempt": trees.one}
    if step.deed in meanings:
        bound["deed"] = meanings[step.deed]
    do = syntax.Do(
        trees.name(undo.attempt.command.text, span),
        trees.bound_arguments(undo.attempt.params, bound),
        span,
    )
    fields = _undoing_fields(step, undo, work)
    values = asking.first_values(undo.loop, span)
    values["cause"] = cause
    values |= _meant(fields, meanings, values, span)
    exit_ = trees.goto(f"{step.title}Undoing", fields, values, span)
    return syntax.Block((), (do,), exit_, span)


# ---- the way forward ---------------------------------------------------------------------


_Part = tuple[syntax.State, list[syntax.Clause]]


def _forward(step: Step, work: _Work) -> Iterator[_Part]:
    span, title = step.name.span, step.title
    running = asking.state(
        f"{title}Running", _running_fields(step, work), step.do.command, span
    )
    yield (
        replace(running, doc=step.doc),
        [clause for rule in step.do.rules for clause in _answers(step, rule, work)],
    )
    if step.loop.answer_retried:
        yield (
            asking.state(f"{title}Backoff", _waiting_fields(step, work), None, span),
            [*_cancel_waiting(step, work, own=False), _again(step, work, silent=False)],
        )
    if step.loop.silence_retried:
        cancels: list[syntax.Clause] = []
        if not _remembers_in_silence(step, work.plan):
            cancels = list(_cancel_waiting(step, work, own=True))
        yield (
            asking.state(f"{title}Silent", _silent_fields(step, work), None, span),
            [*cancels, _again(step, work, silent=True)],
        )


def _answers(
    step: Step, rule: syntax.Rule | syntax.SilenceRule, work: _Work
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
    said = trees.binary(
        "+", trees.text(REASON, span), trees.var("cancelled", span), span
    )
    cancelled = trees.not_none("cancelled", span)
    own = turns_back_with_undo(step, rule)
    advances = any(isinstance(leaf.action, syntax.Next) for leaf in found)
    first = found[0]
    if not advances and _turns_alike(
        step, first.action, own, work, alone=len(found) == 1
    ):
        why = syntax.Conditional(cancelled, said, cause, span)
        guard = first.guard
        if guard is not None:
            guard = trees.binary("or", cancelled, guard, span)
        block = _leaf(step, rule, first.action, why, work)
        yield asking.clause(step.do.command, rule, guard, block, work.out)
        found = found[1:]
    elif not advances:
        block = _turn_back(
            step, own, _left(step, rule, work, known=False), said, work, span
        )
        yield asking.clause(step.do.command, rule, cancelled, block, work.out)
    last = step.number == len(work.plan.steps) - 1
    for leaf in found:
        if advances and not (last and isinstance(leaf.action, syntax.Next)):
            undone = isinstance(leaf.action, syntax.Next)
            meanings = _left(step, rule, work, known=undone)
            block = _turn_back(step, undone or own, meanings, said, work, span)
            guard = trees.all_of((cancelled, leaf.guard), span)
            yield asking.clause(step.do.command, rule, guard, block, work.out)
        block = _leaf(step, rule, leaf.action, cause, work)
        yield asking.clause(step.do.command, rule, leaf.guard, block, work.out)


def _turns_alike(
    step: Step,
    action: rules.Terminal | rules.Later,
    own: bool,
    work: _Work,
    *,
    alone: bool,
) -> bool:
    """Whether a cancel takes the way that the action takes by itself."""
    if not isinstance(action, syntax.Abort) or action.with_undo is not own:
        return False
    return alone or work.plan.back(step.number, own=own) is not None


def _left(
    step: Step,
    rule: syntax.Rule | syntax.SilenceRule | None,
    work: _Work,
    *,
    known: bool,
) -> dict[str, Maker]:
    """What names stand for as `XRunning` is left."""
    return {
        **_in_state(work, step, back=False),
        **_brought(step, work, rule, known=known),
    }


def _leaf(
    step: Step,
    rule: syntax.Rule | syntax.SilenceRule,
    action: rules.Terminal | rules.Later,
    cause: syntax.Expr,
    work: _Work,
) -> syntax.Block:
    span = rule.span
    match action:
        case rules.Later():
            silent = isinstance(rule, syntax.SilenceRule)
            values = {"due": trees.later(action.wait, action.span), "cause": cause}
            fields = _waiting_fields(step, work)
            if silent:
                fields = _silent_fields(step, work)
                if _remembers_in_silence(step, work.plan):
                    values["cancelled"] = syntax.NoneLit(span)
            state = f"{step.title}{'Silent' if silent else 'Backoff'}"
            return asking.wait(
                rule,
                action,
                state,
                fields,
                values,
                _running_fields(step, work),
                work.out,
            )
        case syntax.Abort(with_undo=own):
            return _turn_back(
                step, own, _left(step, rule, work, known=False), cause, work, span
            )
        case _:
            meanings = _left(step, rule, work, known=True)
            if step.number + 1 < len(work.plan.steps):
                return _enter(work.plan.steps[step.number + 1], meanings, work, span)
            end = work.plan.done
            return syntax.Block(
                (), (), asking.finish(end.state, end.init, meanings, span), span
            )


def _again(step: Step, work: _Work, *, silent: bool) -> syntax.Clause:
    """When the wait is over: ask anew, or after silence for the same deed."""
    span = step.do.command.span
    meanings = _in_state(work, step, back=False) | {"attempt": trees.next_attempt}
    arguments = trees.bound_arguments(step.do.params, meanings)
    issue: syntax.Issue = syntax.Do(step.do.command, arguments, span)
    before = _waiting_fields(step, work)
    if silent:
        issue = syntax.Repeat(step.do.command, arguments, span)
        before = _silent_fields(step, work)
    values = asking.next_values(step.loop, span)
    remembered = silent and _remembers_in_silence(step, work.plan)
    if work.plan.cancellable and not remembered:
        values["cancelled"] = syntax.NoneLit(span)
    exit_ = trees.goto(
        f"{step.title}Running",
        _running_fields(step, work),
        values,
        span,
        asking.names_of(before),
    )
    block = syntax.Block((), (issue,), exit_, span)
    return syntax.At(trees.name("due", span), None, block, span)


# ---- the way back ------------------------------------------------------------------------


def _backward(step: Step, undo: Undo, work: _Work) -> Iterator[_Part]:
    span, title = undo.attempt.command.span, step.title
    undoing = _undoing_fields(step, undo, work)
    yield (
        asking.state(f"{title}Undoing", undoing, undo.attempt.command, span),
        [
            c
            for rule in undo.attempt.rules
            for c in _undo_answers(step, undo, rule, work)
        ],
    )
    waiting = _undo_waiting_fields(step, undo, work)
    if undo.loop.answer_retried:
        yield (
            asking.state(f"{title}UndoBackoff", waiting, None, span),
            [_undo_again(step, undo, work, silent=False)],
        )
    if undo.loop.silence_retried:
        yield (
            asking.state(f"{title}UndoSilent", waiting, None, span),
            [_undo_again(step, undo, work, silent=True)],
        )


def _undo_answers(
    step: Step, undo: Undo, rule: syntax.Rule | syntax.SilenceRule, work: _Work
) -> Iterator[syntax.Clause]:
    span = rule.span
    silent = isinstance(rule, syntax.SilenceRule)
    for leaf in rules.leaves(rule.action, work.plan.scope, work.out):
        action = leaf.action
        if isinstance(action, rules.Later):
            values = {
                "due": trees.later(action.wait, action.span),
                "error": rules.last_error(rule, work.out, work.plan.scope),
            }
            state = f"{step.title}{'UndoSilent' if silent else 'UndoBackoff'}"
            fields = _undo_waiting_fields(step, undo, work)
            before = _undoing_fields(step, undo, work)
            block = asking.wait(rule, action, state, fields, values, before, work.out)
        else:
            meanings = _in_state(work, step, back=True)
            cause = trees.var("cause", span)
            block = _turn_back(step, False, meanings, cause, work, span)
        yield asking.clause(undo.attempt.command, rule, leaf.guard, block, work.out)


def _undo_again(step: Step, undo: Undo, work: _Work, *, silent: bool) -> syntax.Clause:
    span, command = undo.attempt.command.span, undo.attempt.command
    meanings = _in_state(work, step, back=True) | {
        "attempt": trees.next_attempt,
        "deed": trees.itself(step.deed),
    }
    arguments = trees.bound_arguments(undo.attempt.params, meanings)
    issue: syntax.Issue = syntax.Do(command, arguments, span)
    if silent:
        issue = syntax.Repeat(command, arguments, span)
    exit_ = trees.goto(
        f"{step.title}Undoing",
        _undoing_fields(step, undo, work),
        asking.next_values(undo.loop, span),
        span,
        asking.names_of(_undo_waiting_fields(step, undo, work)),
    )
    block = syntax.Block((), (issue,), exit_, span)
    return syntax.At(trees.name("due", span), None, block, span)


# ---- Cancel ---------------------------------------------------------------------------------


def _cancel_waiting(step: Step, work: _Work, *, own: bool) -> Iterator[syntax.Clause]:
    """While nothing is asked, a cancel acts at once."""
    if not work.plan.cancellable:
        return
    span = step.name.span
    cause = trees.binary(
        "+", trees.text(REASON, span), trees.member(work.m, "reason", span), span
    )
    meanings = _left(step, None, work, known=False)
    block = _turn_back(step, own, meanings, cause, work, span)
    yield trees.on(_cancel(span), work.m, None, block, span)


def _cancel(span: Span) -> syntax.Trigger:
    return syntax.Trigger(trees.name("Cancel", span), None, span)


def _cancels(found: Plan, states: Sequence[syntax.State]) -> Iterator[syntax.Inside]:
    """What every running state, and every undo, does with a cancel."""
    if found.no_cancel is not None:
        span = found.no_cancel.span
        block = syntax.Block((), (), syntax.Reject(found.no_cancel.reason, span), span)
        clause: syntax.Clause = syntax.On(_cancel(span), None, None, block, span)
        yield syntax.Inside(tuple(state.name for state in states), (clause,), span)
        return
    span = found.saga.name.span
    remembering = tuple(
        state.name
        for state in states
        if any(f.name.text == "cancelled" for f in state.fields)
    )
    bound = _names(found)[1]
    reason = syntax.Set(
        trees.name("cancelled", span), trees.member(bound, "reason", span), span
    )
    stay = syntax.Stay(syntax.Init((syntax.CarryOver(span), reason), span), span)
    block = syntax.Block((), (), stay, span)
    yield syntax.Inside(
        remembering, (trees.on(_cancel(span), bound, None, block, span),), span
    )
    undoing = tuple(
        trees.name(f"{step.title}{ending}", span)
        for step in reversed(found.steps)
        if step.undo is not None and step.number in found.undone_from
        for ending, there in (
            ("Undoing", True),
            ("UndoBackoff", step.undo.loop.answer_retried),
            ("UndoSilent", step.undo.loop.silence_retried),
        )
        if there
    )
    if undoing:
        yield syntax.Inside(undoing, (syntax.Ignore((_cancel(span),), span),), span)
