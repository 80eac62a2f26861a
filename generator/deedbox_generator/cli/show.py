"""`deedbox show`: the machines of one spec, in a view."""

from __future__ import annotations

import sys
from pathlib import Path

from deedbox_dsl import Program, core
from deedbox_dsl.format import format_machine
from deedbox_dsl.problems import has_errors
from deedbox_dsl.render import to_text

from ..views import mermaid, table, waits
from .compiled import compiled
from .project import Unreadable, project


def show(spec: Path, view: str) -> int:
    if spec.is_dir():
        raise Unreadable(f"{spec} is a folder; `show` takes one spec")
    specs = project([spec])
    program, problems = compiled(specs)
    if has_errors(problems):
        print(to_text(problems, program.texts), file=sys.stderr)
        return 1
    (path,) = specs.chosen
    module = next(each for each in program.modules if each.path == path)
    if not module.machines:
        print(f"deedbox: {path} declares no machine", file=sys.stderr)
        return 1
    print("\n\n".join(_view(program, module, each, view) for each in module.machines))
    return 0


def _view(
    program: Program, module: core.Module, machine: core.Machine, view: str
) -> str:
    match view:
        case "lowered":
            lowered = program.lowered[module.path, machine.name]
            return format_machine(lowered).rstrip("\n")
        case "diagram":
            return mermaid(machine).rstrip("\n")
        case "waits":
            return waits(machine).rstrip("\n")
        case _:
            return table(machine).rstrip("\n")
