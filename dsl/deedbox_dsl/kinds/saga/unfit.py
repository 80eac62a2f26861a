"""What does not fit together in a saga.

Names that two steps bring, values that are read before anyone has them, undos that may
give up or tell no one, and aborts that leave something undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ... import syntax
from ...names import Scope
from ...naming import reserved, taken, unknown
from ...problems import Label, Problem
from ...reserved import CAPTURES
from ...source import Span
from .. import trees
from ..rules import chain
from ..stands import Stand, misplaced
from ..unfit import copies_nothing, unfit
from .steps import Step


def captures(steps: tuple[Step, ...], own: Mapping[str, Span]) -> Iterator[Problem]:
    seen = dict(own)
    for step in steps:
        for rule in step.do.rules:
            if not isinstance(rule, syntax.Rule):
                continue
            for part in rule.outcome.fields:
                name = part.name
                if name.text not in step.captured or not any(
                    isinstance(each, syntax.Next) for each in chain(rule.action)
                ):
                    continue
                if name.text in CAPTURES:
                    yield reserved(name, "a field that a saga has by itself")
                elif name.text in seen and seen[name.text] != step.name.span:
                    yield taken(name.text, name.span, seen[name.text])
                seen[name.text] = step.name.span


def step_problems(
    step: Step, steps: tuple[Step, ...], own: Mapping[str, Span], scope: Scope
) -> Iterator[Problem]:
    attempts: list[tuple[syntax.Attempt, Stand]] = [(step.do, "step")]
    if step.undo is not None:
        attempts.append((step.undo.attempt, "undo"))
    for attempt, stand in attempts:
        yield from unfit(attempt, scope)
        for rule in attempt.rules:
            if stand == "undo":
                yield from _gives_up(attempt, rule)
            else:
                yield from misplaced(rule.action, stand)
    yield from _bound(step.do, step, steps, own, undo=False)
    if step.undo is not None:
        yield from _bound(step.undo.attempt, step, steps, own, undo=True)
        yield from _tells_no_one(step.undo.attempt)
    yield from _aborts(step)


def never_undone(
    steps: tuple[Step, ...], undone_from: frozenset[int]
) -> Iterator[Problem]:
    for step in steps:
        if step.undo is not None and step.number not in undone_from:
            text = (
                f"the undo of `{step.name.text}` never runs: nothing can fail after it"
            )
            hint = 'Write `no undo "it is the last step"` in its place.'
            span = step.undo.attempt.command.span
            yield Problem("DEED455", span, text, hints=(hint,))


def _gives_up(
    undo: syntax.Attempt, rule: syntax.Rule | syntax.SilenceRule
) -> Iterator[Problem]:
    silent = isinstance(rule, syntax.SilenceRule)
    for part in chain(rule.action):
        gives_up = isinstance(part, syntax.RetryThen | syntax.Abort) or (
            silent and isinstance(part, syntax.Next)
        )
        if gives_up:
            text = f"`{undo.command.text}` may give up here, and then nobody undoes it"
            hint = "Write `retry P forever escalate after 1h do …`."
            yield Problem("DEED603", part.span, text, hints=(hint,))
            return
    yield from misplaced(rule.action, "undo")


def _tells_no_one(undo: syntax.Attempt) -> Iterator[Problem]:
    for rule in undo.rules:
        for part in chain(rule.action):
            if isinstance(part, syntax.RetryForever) and part.escalate is None:
                text = f"`{undo.command.text}` may go on for ever, and nobody is told"
                hint = "Add `escalate after 1h do …`."
                yield Problem("DEED505", part.span, text, hints=(hint,))


def _aborts(step: Step) -> Iterator[Problem]:
    for rule in step.do.rules:
        for part in chain(rule.action):
            if not isinstance(part, syntax.Abort):
                continue
            silent = isinstance(rule, syntax.SilenceRule)
            if part.with_undo and step.undo is None:
                text = f"`{step.name.text}` has no undo to abort with"
                yield Problem("DEED601", part.span, text)
            elif part.with_undo and step.undo is not None and not step.undo.blind:
                yield from _not_blind(step, step.undo.attempt, part.span)
            elif silent and not part.with_undo and step.undo is not None:
                text = (
                    f"`{step.do.command.text}` may have taken effect although it is silent, "
                    "and this abort does not undo it"
                )
                yield Problem(
                    "DEED604", part.span, text, hints=("Write `abort with undo`.",)
                )


def _not_blind(step: Step, undo: syntax.Attempt, span: Span) -> Iterator[Problem]:
    label = Label(span, "aborts before it is known")
    if "deed" not in trees.params_read(undo.params):
        text = f"`{undo.command.text}` must know which deed it undoes"
        hint = "Add the parameter `deed: text`."
        yield Problem(
            "DEED602", undo.command.span, text, others=(label,), hints=(hint,)
        )
    for param in undo.params:
        read = trees.params_read((param,)) & set(step.captured)
        blind = isinstance(param.type, syntax.OptionalType) and param.value is None
        if read and not blind:
            text = f"`{param.name.text}` is not known when `{step.name.text}` aborts with undo"
            hint = f"Declare it optional: `{param.name.text}: …?`, and go by `deed`."
            yield Problem("DEED602", param.span, text, others=(label,), hints=(hint,))


def _bound(
    attempt: syntax.Attempt,
    step: Step,
    steps: tuple[Step, ...],
    own: Mapping[str, Span],
    *,
    undo: bool,
) -> Iterator[Problem]:
    """Every parameter is bound to something that is known by then."""
    until = step.number + 1 if undo else step.number
    known = {*own, "attempt", *(("deed",) if undo else ())}
    known |= {name for other in steps[:until] for name in other.captured}
    later = {
        name: other
        for other in steps[until:]
        for name in (*other.captured, other.deed)
        if name not in known
    }
    for param in attempt.params:
        for name in sorted(trees.params_read((param,)) - known):
            if name in later:
                yield _not_yet(name, later[name], param.span, undo=undo)
            elif param.value is None:
                text = f"there is nothing called `{name}` to bind `{attempt.command.text}` to"
                own_name = syntax.Name(name, param.name.span)
                yield unknown("DEED201", own_name, text, known, repairs=False)
    for rule in attempt.rules:
        fields = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
        answered = {part.name.text for part in fields}
        for part in chain(rule.action):
            if isinstance(part, syntax.RetryForever) and part.escalate is not None:
                for argument in part.escalate.arguments:
                    for name in sorted(trees.names_in(argument) - answered):
                        if name in later:
                            yield _not_yet(name, later[name], argument.span, undo=undo)


def _not_yet(name: str, later: Step, span: Span, *, undo: bool) -> Problem:
    """A value that only a later step brings."""
    text = f"`{name}` is not known by then"
    there = f"step `{later.name.text}` brings it"
    hints: tuple[str, ...] = ()
    if undo:
        hints = ("An undo knows what its own step brought, and the steps before it.",)
    return Problem(
        "DEED602" if undo else "DEED201",
        span,
        text,
        label="nobody has it yet",
        others=(Label(later.do.command.span, there),),
        hints=hints,
    )


def finish_reads(
    done: syntax.SagaDone,
    undone: syntax.SagaUndone,
    steps: tuple[Step, ...],
    own: Mapping[str, Span],
) -> Iterator[Problem]:
    brought = {name for step in steps for name in step.captured}
    for init, known, what in (
        (done.init, {*own, *brought}, "done"),
        (undone.init, {*own, "cause"}, "undone"),
    ):
        yield from copies_nothing(what, init)
        for item in init.items if init is not None else ():
            match item:
                case syntax.CarryOver():
                    continue
                case syntax.Pun(name=name):
                    read = {name.text: name.span}
                case syntax.Set(value=value):
                    read = dict.fromkeys(trees.names_in(value), value.span)
            for own_name, span in sorted(read.items()):
                if own_name in known:
                    continue
                if own_name in brought:
                    text = f"`{own_name}` may not be known when the saga is undone"
                    yield Problem("DEED602", span, text)
                elif isinstance(item, syntax.Pun):
                    text = f"there is nothing called `{own_name}` here"
                    yield unknown("DEED201", item.name, text, known)
