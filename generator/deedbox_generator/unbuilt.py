"""What the language has and the generator does not make yet: said, never left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deedbox_dsl import core
from deedbox_dsl.problems import Problem


def unbuilt(modules: Iterable[core.Module]) -> list[Problem]:
    """A problem for each `tell` and `begin`: code without them would drop what is owed."""
    return [
        Problem(
            "DEED101",
            issue.span,
            f"`{word}` is not generated yet",
            hints=(
                "Until it is, ask for a command, and send the message in its handler.",
            ),
        )
        for module in modules
        for machine in module.machines
        for body in _bodies(machine)
        for issue in body.issues
        if (word := _word(issue)) is not None
    ]


def _bodies(machine: core.Machine) -> Iterator[core.Body]:
    yield machine.start
    for clause in machine.clauses:
        if clause.body is not None:
            yield clause.body


def _word(issue: core.Issue) -> str | None:
    match issue:
        case core.Tell():
            return "tell"
        case core.Begin():
            return "begin"
        case core.Do() | core.Repeat():
            return None
