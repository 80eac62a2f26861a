"""The machines that somebody names by paths: the one place where the checker reads specs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deedbox_dsl.problems import has_errors
from deedbox_dsl.render import to_text
from deedbox_generator.cli.compiled import compiled
from deedbox_generator.cli.project import Project, Unreadable, project

from .subjects import Subject, subjects


def read(paths: Sequence[Path]) -> tuple[Project, tuple[Subject, ...]]:
    """The project around these paths, and every machine of the specs at them."""
    specs = project(paths)
    program, problems = compiled(specs)
    if has_errors(problems):
        text = to_text(problems, program.texts, called=specs.called)
        raise Unreadable(f"the specs have problems\n{text}")
    found = subjects(program, specs.shapes, specs.kept)
    return specs, tuple(each for each in found if each.path in specs.chosen)


def chosen(paths: Sequence[Path], machine: str | None) -> tuple[Subject, ...]:
    """Every machine of the specs at `paths`, or the one of that name."""
    _, found = read(paths)
    return tuple(each for each in found if machine in (None, each.machine.name))
