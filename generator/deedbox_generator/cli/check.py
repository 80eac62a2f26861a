"""`deedbox check`: everything that is wrong with specs, for people or for tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from deedbox_dsl.problems import has_errors, in_order
from deedbox_dsl.render import to_github, to_json, to_text

from ..stems import unfit
from .compiled import compiled, summary
from .project import project


def check(paths: Sequence[Path], format: str) -> int:
    specs = project(paths)
    program, found = compiled(specs)
    chosen = set(specs.chosen)
    modules = [each for each in program.modules if each.path in chosen]
    problems = in_order([*found, *unfit(modules, nested=True)])
    match format:
        case "json":
            print(to_json(problems, program.texts))
        case "github":
            print(to_github(problems, program.texts, specs.in_repository), end="")
        case _:
            if problems:
                print(to_text(problems, program.texts, called=specs.called))
                print(summary(problems))
            else:
                count = len(specs.chosen)
                print(f"{count} spec{'' if count == 1 else 's'}, no problems")
    sys.stdout.flush()
    return 1 if has_errors(problems) else 0
