"""Which states of a saga must carry what.

A captured value is carried in exactly the states from which a later `do`, `undo` or
`done` still reads it: a backward liveness analysis, in closed form because a saga is
a line with a way back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ... import syntax
from .. import trees
from ..rules import chain, is_retried
from .steps import Step, step_back


@dataclass(frozen=True, slots=True)
class Entry:
    """A way on which step `number` turns back: with its `own` undo, its answer `known`."""

    number: int
    own: bool
    known: bool


def entries_of(steps: tuple[Step, ...], cancellable: bool) -> frozenset[Entry]:
    return frozenset(
        Entry(step.number, own, known)
        for step in steps
        for own, known in _entries(
            step, cancellable, last=step.number == len(steps) - 1
        )
    )


def _entries(
    step: Step, cancellable: bool, *, last: bool
) -> Iterator[tuple[bool, bool]]:
    for rule in step.do.rules:
        parts = list(chain(rule.action))
        for part in parts:
            if isinstance(part, syntax.Abort):
                yield part.with_undo, False
        if not cancellable:
            continue
        if any(isinstance(part, syntax.Next) for part in parts) and not last:
            yield True, isinstance(rule, syntax.Rule)
        if is_retried(rule.action):
            yield turns_back_with_undo(step, rule), False
    if cancellable and step.loop.answer_retried:
        yield False, False
    if cancellable and step.loop.silence_retried and step.undo and step.undo.blind:
        yield True, False


def turns_back_with_undo(step: Step, rule: syntax.Rule | syntax.SilenceRule) -> bool:
    """Whether a cancelled step runs its own undo when this answer, or silence, comes."""
    aborts = [part for part in chain(rule.action) if isinstance(part, syntax.Abort)]
    if aborts:
        return any(part.with_undo for part in aborts)
    silent = isinstance(rule, syntax.SilenceRule)
    return silent and step.undo is not None and step.undo.blind


def undone_steps(steps: tuple[Step, ...], entries: frozenset[Entry]) -> frozenset[int]:
    """The steps whose undo may run at all."""
    found: set[int] = set()
    for entry in entries:
        step = step_back(steps, entry.number, own=entry.own)
        while step is not None:
            found.add(step.number)
            step = step_back(steps, step.number, own=False)
    return frozenset(found)


# ---- what is read later --------------------------------------------------------------------


def liveness(
    steps: tuple[Step, ...], done: syntax.SagaDone, entries: frozenset[Entry]
) -> tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]:
    """For each step the names that its states carry: on the way forward, and back."""
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
        for entry in entries:
            back = step_back(steps, step.number, own=entry.own)
            if entry.number == step.number and back is not None:
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
    return frozenset[str]().union(
        *(trees.names_in(value) for _, value in trees.settings(init))
    )
