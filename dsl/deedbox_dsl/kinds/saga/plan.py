"""What a saga is before it becomes states: its steps, and what each must remember.

`steps` says what each step asks for and brings, `liveness` which states must carry it,
`unfit` what does not fit together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ... import syntax
from ...names import Scope
from ...problems import Problem
from ...reserved import CAPTURES
from ..unfit import named_like_its_own, twice
from .liveness import entries_of, liveness, undone_steps
from .steps import Step, Undo, step_back, steps_of
from .unfit import captures, finish_reads, never_undone, step_problems


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

    @property
    def undos(self) -> Iterator[tuple[Step, Undo]]:
        """The undos that may run, in the order of the way back."""
        for step in reversed(self.steps):
            if step.undo is not None and step.number in self.undone_from:
                yield step, step.undo

    def back(self, number: int, *, own: bool) -> Step | None:
        """The step whose undo runs next; None: there is nothing to undo."""
        return step_back(self.steps, number, own=own)


def plan(saga: syntax.Saga, scope: Scope) -> tuple[Plan | None, list[Problem]]:
    """The plan, or the problems that leave none."""
    problems: list[Problem] = []
    steps = tuple(steps_of(saga, scope, problems))
    done = [item for item in saga.items if isinstance(item, syntax.SagaDone)]
    undone = [item for item in saga.items if isinstance(item, syntax.SagaUndone)]
    name = saga.name
    for word, found in (("step", steps), ("done", done), ("undone", undone)):
        if not found:
            text = f"the saga `{name.text}` has no `{word}`"
            problems.append(Problem("DEED304", name.span, text))
    problems += [*twice("done", done), *twice("undone", undone)]
    if problems or not steps:
        return None, problems
    key = _fields_of(saga, syntax.Key)
    given = _fields_of(saga, syntax.Given)
    own = {part.name.text: part.name.span for part in (*key, *given)}
    problems += named_like_its_own((*key, *given), "saga", CAPTURES)
    problems += captures(steps, own)
    for step in steps:
        problems += step_problems(step, steps, own, scope)
    problems += finish_reads(done[0], undone[0], steps, own)
    no_cancel = next((i for i in saga.items if isinstance(i, syntax.NoCancel)), None)
    entries = entries_of(steps, no_cancel is None)
    running, undoing = liveness(steps, done[0], entries)
    undone_from = undone_steps(steps, entries)
    problems += never_undone(steps, undone_from)
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
        frozenset(each.number for each in entries if each.own and not each.known),
    )
    return found_plan, problems


def _fields_of(
    saga: syntax.Saga, sort: type[syntax.Key] | type[syntax.Given]
) -> tuple[syntax.Field, ...]:
    return next((item.fields for item in saga.items if isinstance(item, sort)), ())
