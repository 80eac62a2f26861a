"""Specs compiled, and the problems that concern those which were asked for."""

from __future__ import annotations

from deedbox_dsl import Program, compile
from deedbox_dsl.problems import Problem, severity

from .project import Project


def compiled(specs: Project) -> tuple[Program, tuple[Problem, ...]]:
    """Problems of a spec that merely lies beside are shown only when they are in the way."""
    program = compile(specs.texts, specs.shapes)
    chosen = set(specs.chosen)
    sound = {module.path: module for module in program.modules}
    if chosen <= sound.keys():
        concerned = {path for each in chosen for path in sound[each].sources}
    else:
        concerned = set(chosen)
    concerned |= specs.shapes.keys()
    own = tuple(each for each in program.problems if each.span.path in concerned)
    if chosen <= sound.keys() or any(severity(each.code) == "error" for each in own):
        return program, own
    return program, program.problems


def summary(problems: tuple[Problem, ...]) -> str:
    """`2 errors, 1 warning`."""
    counts = [severity(each.code) for each in problems]
    return ", ".join(
        f"{counts.count(word)} {word}{'' if counts.count(word) == 1 else 's'}"
        for word in ("error", "warning")
        if word in counts
    )
