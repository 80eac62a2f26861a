"""A saga as a machine: steps forward, undos back, and `Cancel` at any time.

Each step becomes `XRunning` (asked, not answered), `XBackoff` (an answer is
retried), `XSilent` (silence is retried, under the same deed) and, on the way
back, `XUndoing`, `XUndoBackoff`, `XUndoSilent`.  `plan` has decided what each
must carry; `forward` and `back` write the states and their clauses, in the order of
the steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import syntax
from ...names import Scope
from ...problems import Problem, has_errors
from ..assembly import assembled, command, common, insides
from .back import backward
from .cancel import cancels, message
from .carried import work_of
from .ends import finals
from .forward import forward
from .ghosts import in_plain_words
from .plan import Plan, plan
from .ways import enter


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
    work = work_of(found)
    parts = [
        *(part for step in found.steps for part in forward(step, work)),
        *(part for step, undo in found.undos for part in backward(step, undo, work)),
    ]
    states = [state for state, _ in parts]
    declared: list[syntax.MachineItem] = [
        *states,
        *ends,
        message(saga.name.span),
        *_commands(found),
    ]
    handed_on: list[syntax.CommonItem] = [
        *(item for item in common(saga.items) if not isinstance(item, syntax.Property)),
        *ghosts,
    ]
    start = enter(found.steps[0], {}, work, saga.name.span)
    blocks = [*insides(parts), *cancels(states, work)]
    return assembled(saga, handed_on, declared, start, blocks), tuple(problems)


def _commands(found: Plan) -> Iterator[syntax.Command]:
    for step in found.steps:
        yield command(step.do)
        if step.undo is not None:
            yield command(step.undo.attempt)
    yield from (item for item in found.saga.items if isinstance(item, syntax.Command))
