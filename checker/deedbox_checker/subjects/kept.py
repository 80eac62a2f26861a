"""Older versions of a machine, from what `deedbox release` has kept of them.

Beside a recorded shape lie the specs as they were released; they are compiled as they
were, with the shapes of the versions before, and their generated module is loaded.
Where they are not there, or say something else than the shape, the version is known
by its shape alone, and why is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from deedbox_dsl import compile, core
from deedbox_dsl.problems import has_errors
from deedbox_dsl.versions.released import released
from deedbox_dsl.versions.shapes import shape_of
from deedbox_dsl.versions.stored import same_stored
from deedbox_generator.emit import emit

from .load import load, of_machine


@dataclass(frozen=True, slots=True)
class Kept:
    """A released version, as its machine and module, or `lost`: why they are not there."""

    version: int
    shape: core.Shape
    machine: core.Machine | None = None
    module: ModuleType | None = None
    lost: str = ""


def kept(
    module: str,
    name: str,
    version: int,
    shapes: Mapping[str, str],
    texts: Mapping[str, str],
) -> tuple[Kept, ...]:
    """The versions of a machine before `version`, the oldest first.

    `shapes` and `texts` by their paths: what a shape `order.1.json` records has its
    specs in the folder `order.1` beside it.
    """
    recorded = released(shapes)[0].get((module, name), {})
    found: list[Kept] = []
    for path, shape in recorded.items():
        if shape.version < version:
            before = {
                at: text
                for at, text in shapes.items()
                if at in recorded and recorded[at].version < shape.version
            }
            folder = f"{path.removesuffix('.json')}/"
            specs = {
                at.removeprefix(folder): text
                for at, text in texts.items()
                if at.startswith(folder)
            }
            found.append(_compiled(shape, specs, before))
    return tuple(sorted(found, key=lambda each: each.version))


def _compiled(
    shape: core.Shape, specs: Mapping[str, str], before: Mapping[str, str]
) -> Kept:
    if not specs:
        return Kept(shape.version, shape, lost="its specs are not kept")
    program = compile(specs, before)
    if has_errors(program.problems):
        first = program.problems[0]
        lost = f"its specs are kept, and no longer compile: {first.message}"
        return Kept(shape.version, shape, lost=lost)
    for module in program.modules:
        for machine in module.machines:
            if (module.name, machine.name) != (shape.module, shape.machine):
                continue
            was = shape_of(machine, module.name)
            if machine.version != shape.version or not same_stored(was, shape):
                lost = "the specs that are kept say something else than its shape"
                return Kept(shape.version, shape, lost=lost)
            files = emit(program.modules, program.texts, nested=True)
            loaded = load(
                {path: text for each in files.values() for path, text in each.items()}
            )
            own = of_machine(loaded, module.path, machine.name)
            return Kept(shape.version, shape, machine, own)
    return Kept(
        shape.version, shape, lost=f"the specs that are kept have no {shape.machine}"
    )
