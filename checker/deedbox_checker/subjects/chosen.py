"""The machines that a command line names: the one place where commands read specs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deedbox_dsl.problems import has_errors
from deedbox_dsl.render import to_text
from deedbox_generator.cli.compiled import compiled
from deedbox_generator.cli.project import Unreadable, project

from .subjects import Subject, subjects


def chosen(paths: Sequence[Path], machine: str | None) -> tuple[Subject, ...]:
    """Every machine of the specs at `paths`, or the one of that name."""
    specs = project(paths)
    program, problems = compiled(specs)
    if has_errors(problems):
        text = to_text(problems, program.texts, called=specs.called)
        raise Unreadable(f"the specs have problems\n{text}")
    return tuple(
        subject
        for subject in subjects(program, specs.shapes, specs.kept)
        if subject.path in specs.chosen and machine in (None, subject.machine.name)
    )
