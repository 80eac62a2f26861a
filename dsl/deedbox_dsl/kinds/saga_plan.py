"""What a saga is before it becomes states: its steps, and what each must remember.

A captured value is a field of a step's `next` outcome.  It is carried in exactly
the states from which a later `do`, `undo` or `done` still reads it: a backward
liveness analysis, in closed form because a saga is a line with a way back.  The
key of a step's deed is captured like a value, under the name `<step>_deed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .. import syntax
from ..names import Scope
from ..naming import named_snake, reserved, taken, unknown
from ..problems import Label, Problem
from ..reserved import CAPTURES, why_no_field
from ..source import Span
from ..spelling import pascal
from . import trees
from .rules import Loop, Stand, chain, is_retried, loop, misplaced, unfit


@dataclass(frozen=True, slots=True)
class Undo:
    """`blind`: it can run without knowing what the step brought (by the deed alone)."""

    attempt: syntax.Attempt
    loop: Loop
    blind: bool


@dataclass(frozen=True, slots=True)
class Step:
    """`captured`: the fields that every way to `next` brings, and their types."""

    number: int
    name: syntax.Name
    doc: str | None
    do: syntax.Attempt
    loop: Loop
    undo: Undo | None
    captured: Mapping[str, syntax.TypeExpr]

    @property
    def title(self) -> str:
        return pascal(self.name.text)

    @property
    def deed(self) -> str:
        return f"{self.name.text}_deed"


@dataclass(frozen=True, slots=True)
class Plan:
    """A saga whose parts fit together.

    `running[i]` and `undoing[i]`: the captured names that the states of step `i`
    carry; `blindly`: the steps whose undo is entered without what the step brought.
    """

    saga: syntax.Saga
    scope: Scope
    key: tuple[syntax.Field, ...]
    given: tuple[syntax.Field, ...]
    steps: tuple[Step, ...]
    done: syntax.SagaDone
    undone: syntax.SagaUndone
    no_cancel: syntax.NoCancel | None
    running: tuple[frozenset[str], ...]
    undoing: tuple[frozenset[str], ...]
    undone_from: frozenset[int]
    blindly: frozenset[int]

    @property
    def cancellable(self) -> bool:
        return self.no_cancel is None

    def back(self, number: int, *, own: bool) -> Step | None:
        """The step whose undo runs next; None: there is nothing to undo."""
        return step_back(self.steps, number, own=own)


def step_back(steps: tuple[Step, ...], number: int, *, own: bool) -> Step | None:
    """The nearest step with an undo, before `number`, or from it on when `own`."""
    last = number + 1 if own else number
    return next(
        (step for step in reversed(steps[:last]) if step.undo is not None), None
    )


def plan(saga: syntax.Saga, scope: Scope) -> tuple[Plan | None, list[Problem]]:
    """The plan, or the problems that leave none."""
    problems: list[Problem] = []
    steps = tuple(_steps(saga, scope, problems))
    done = [item for item in saga.items if isinstance(item, syntax.SagaDone)]
    undone = [item for item in saga.items if isinstance(item, syntax.SagaUndone)]
    name = saga.name
    for word, found in (("step", steps), ("done", done), ("undone", undone)):
        if not found:
            text = f"the saga `{name.text}` has no `{word}`"
            problems.append(Problem("DEED304", name.span, text))
    for word, ends in (("done", done[1:]), ("undone", undone[1:])):
        problems += [
            Problem("DEED202", end.span, f"`{word}` is written twice") for end in ends
        ]
    if problems or not steps:
        return None, problems
    key = _fields_of(saga, syntax.Key)
    given = _fields_of(saga, syntax.Given)
    own = {part.name.text: part.name.span for part in (*key, *given)}
    problems += _own_fields((*key, *given))
    problems += _captures(steps, own)
    for step in steps:
        problems += _step_problems(step, steps, own, scope)
    problems += _finish_reads(done[0], undone[0], steps, own)
    no_cancel = next((i for i in saga.items if isinstance(i, syntax.NoCancel)), None)
    entries = _entries(steps, no_cancel is None)
    running, undoing = _liveness(steps, done[0], entries)
    undone_from = _undone_from(steps, entries)
    problems += _never_undone(steps, undone_from)
    found_plan = Plan(
        saga,
        scope,
        key,
        given,
        steps,
        done[0],
        undone[0],
        no_cancel,
        running,
        undoing,
        undone_from,
        frozenset(
            number for number, own_too, known in entries if own_too and not known
        ),
    )
    return found_plan, problems


# ---- steps ----------------------------------------------------------------------------


def _steps(saga: syntax.Saga, scope: Scope, problems: list[Problem]) -> Iterator[Step]:
    seen: dict[str, Span] = {}
    number = 0
    for item in saga.items:
        if not isinstance(item, syntax.Step):
            continue
        name = item.name
        if name.text in seen:
            problems.append(taken(name.text, name.span, seen[name.text]))
            continue
        seen[name.text] = name.span
        problems += named_snake(name, "step", why_no_field(name.text))
        captured = _captured(item.do)
        undo: Undo | None = None
        if isinstance(item.undo, syntax.Attempt):
            undo = Undo(
                item.undo, loop(item.undo, scope), _is_blind(item.undo, captured)
            )
        yield Step(
            number, name, item.doc, item.do, loop(item.do, scope), undo, captured
        )
        number += 1


def _captured(attempt: syntax.Attempt) -> dict[str, syntax.TypeExpr]:
    """The fields that every rule which may lead to `next` brings."""
    found: dict[str, syntax.TypeExpr] | None = None
    first = {
        rule.outcome.name.text: rule
        for rule in reversed(attempt.rules)
        if isinstance(rule, syntax.Rule)
    }
    for rule in attempt.rules:
        if isinstance(rule, syntax.Rule) and first[rule.outcome.name.text] is not rule:
            continue
        if not any(isinstance(part, syntax.Next) for part in chain(rule.action)):
            continue
        fields = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
        brought = {part.name.text: part.type for part in fields}
        if found is None:
            found = brought
        else:
            found = {n: kind for n, kind in found.items() if brought.get(n) == kind}
    return found or {}


def _is_blind(undo: syntax.Attempt, captured: Mapping[str, syntax.TypeExpr]) -> bool:
    """Whether it takes the deed, and the step's own values only where they may be none."""
    optional = all(
        isinstance(param.type, syntax.OptionalType) and param.value is None
        for param in undo.params
        if trees.params_read((param,)) & set(captured)
    )
    return optional and "deed" in trees.params_read(undo.params)


def _fields_of(
    saga: syntax.Saga, sort: type[syntax.Key] | type[syntax.Given]
) -> tuple[syntax.Field, ...]:
    return next((item.fields for item in saga.items if isinstance(item, sort)), ())


# ---- how undos are entered -----------------------------------------------------------------


def _entries(steps: tuple[Step, ...], cancellable: bool) -> set[tuple[int, bool, bool]]:
    """Every way on which step `number` turns back: with its own undo?  knowing what it brought?"""
    found: set[tuple[int, bool, bool]] = set()
    for step in steps:
        last = step.number == len(steps) - 1
        for rule in step.do.rules:
            parts = list(chain(rule.action))
            found |= {
                (step.number, part.with_undo, False)
                for part in parts
                if isinstance(part, syntax.Abort)
            }
            if not cancellable:
                continue
            brings = isinstance(rule, syntax.Rule)
            if any(isinstance(part, syntax.Next) for part in parts) and not last:
                found.add((step.number, True, brings))
            if is_retried(rule.action):
                found.add((step.number, turns_back_with_undo(step, rule), False))
        if cancellable and step.loop.answer_retried:
            found.add((step.number, False, False))
        if cancellable and step.loop.silence_retried and step.undo and step.undo.blind:
            found.add((step.number, True, False))
    return found


def turns_back_with_undo(step: Step, rule: syntax.Rule | syntax.SilenceRule) -> bool:
    """Whether a cancelled step runs its own undo when this answer, or silence, comes."""
    aborts = [part for part in chain(rule.action) if isinstance(part, syntax.Abort)]
    if aborts:
        return any(part.with_undo for part in aborts)
    silent = isinstance(rule, syntax.SilenceRule)
    return silent and step.undo is not None and step.undo.blind


def _undone_from(
    steps: tuple[Step, ...], entries: set[tuple[int, bool, bool]]
) -> frozenset[int]:
    """The steps whose undo may run at all."""
    found: set[int] = set()
    for number, own, _ in entries:
        step = step_back(steps, number, own=own)
        while step is not None:
            found.add(step.number)
            step = step_back(steps, step.number, own=False)
    return frozenset(found)


# ---- liveness ----------------------------------------------------------------------------


def _liveness(
    steps: tuple[Step, ...], done: syntax.SagaDone, entries: set[tuple[int, bool, bool]]
) -> tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]:
    names = {name for step in steps for name in step.captured} | {s.deed for s in steps}
    undoing: list[frozenset[str]] = []
    entering: list[frozenset[str]] = []
    for step in steps:
        before = step_back(steps, step.number, own=False)
        need: frozenset[str] = (
            frozenset() if before is None else entering[before.number]
        )
        if step.undo is not None:
            read = _undo_reads(step, step.undo.attempt) & names
            need |= _escalation_reads(step.undo.attempt) & names
            if step.undo.loop.counted:
                need |= read
            entering.append(need | read)
        else:
            entering.append(need)
        undoing.append(need)
    running: list[frozenset[str]] = []
    after = _init_reads(done.init) & names
    for step in reversed(steps):
        own = frozenset(step.captured) | {step.deed}
        need = (after - own) | (_escalation_reads(step.do) & names)
        for number, own_too, _ in entries:
            back = step_back(steps, step.number, own=own_too)
            if number == step.number and back is not None:
                need |= entering[back.number] - own
        reads = trees.params_read(step.do.params) & names
        if step.loop.counted:
            need |= reads
        running.append(need)
        after = need | reads
    return tuple(reversed(running)), tuple(undoing)


def _undo_reads(step: Step, undo: syntax.Attempt) -> frozenset[str]:
    read = trees.params_read(undo.params)
    return (read - {"deed"}) | {step.deed} if "deed" in read else read


def _escalation_reads(attempt: syntax.Attempt) -> frozenset[str]:
    found: set[str] = set()
    for rule in attempt.rules:
        fields = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
        for part in chain(rule.action):
            if isinstance(part, syntax.RetryForever) and part.escalate is not None:
                for argument in part.escalate.arguments:
                    found |= trees.names_in(argument)
        found -= {field.name.text for field in fields}
    return frozenset(found)


def _init_reads(init: syntax.Init | None) -> frozenset[str]:
    found: set[str] = set()
    for item in init.items if init is not None else ():
        match item:
            case syntax.Pun(name=name):
                found.add(name.text)
            case syntax.Set(value=value):
                found |= trees.names_in(value)
            case syntax.CarryOver():
                pass
    return frozenset(found)


# ---- problems ------------------------------------------------------------------------------


def _own_fields(fields: tuple[syntax.Field, ...]) -> Iterator[Problem]:
    for part in fields:
        if part.name.text in CAPTURES:
            yield reserved(part.name, "a field that a saga has by itself")


def _captures(steps: tuple[Step, ...], own: Mapping[str, Span]) -> Iterator[Problem]:
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


def _step_problems(
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


def _never_undone(
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


def _finish_reads(
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
        for item in init.items if init is not None else ():
            match item:
                case syntax.CarryOver(span=span):
                    text = f"`{what}` names the fields of its state; `..` has nothing to copy"
                    yield Problem("DEED304", span, text)
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
