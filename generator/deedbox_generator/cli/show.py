"""`deedbox show`: the machines of one spec, in a view."""

from __future__ import annotations

import sys
from pathlib import Path

from deedbox_dsl import Program, core
from deedbox_dsl.format import format_machine
from deedbox_dsl.problems import has_errors
from deedbox_dsl.render import to_text

from ..views import dot, mermaid, table, waits
from .compiled import compiled
from .drawn import svg
from .project import Unreadable, project


def show(spec: Path, view: str, picture: str, name: str | None) -> int:
    """`picture`: the form of a diagram; `name`: the only machine wanted."""
    if spec.is_dir():
        raise Unreadable(f"{spec} is a folder; `show` takes one spec")
    specs = project([spec])
    program, problems = compiled(specs)
    if has_errors(problems):
        print(to_text(problems, program.texts, called=specs.called), file=sys.stderr)
        return 1
    (path,) = specs.chosen
    module = next(each for each in program.modules if each.path == path)
    machines = [each for each in module.machines if name in (None, each.name)]
    if not machines:
        wanted = "machine" if name is None else f"machine `{name}`"
        print(f"deedbox: {spec} declares no {wanted}", file=sys.stderr)
        return 1
    if view == "diagram" and picture == "svg" and len(machines) > 1:
        raise Unreadable(f"{spec} has {len(machines)} machines; name one by --machine")
    form = picture if view == "diagram" else view
    print("\n\n".join(_view(program, module, each, form) for each in machines))
    return 0


def _view(
    program: Program, module: core.Module, machine: core.Machine, view: str
) -> str:
    match view:
        case "lowered":
            lowered = program.lowered[module.path, machine.name]
            return format_machine(lowered).rstrip("\n")
        case "mermaid":
            return mermaid(machine).rstrip("\n")
        case "dot":
            return dot(machine).rstrip("\n")
        case "svg":
            return svg(dot(machine)).rstrip("\n")
        case "waits":
            return waits(machine).rstrip("\n")
        case _:
            return table(machine).rstrip("\n")
