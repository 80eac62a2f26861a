"""What there is to verify in a program: each machine, and its generated module, loaded.

The texts are those that `deedbox build` writes, so what is explored is what runs; only
a scan's page is replaced where its `check` block asks for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType
from typing import Final

from deedbox_dsl import core
from deedbox_dsl.program import Program
from deedbox_dsl.roles import Scan, scan
from deedbox_dsl.source import Text
from deedbox_generator.emit import emit

from ..scans.pages import paged
from .kept import Kept, kept
from .load import load, of_machine


@dataclass(frozen=True, slots=True)
class Subject:
    """A machine, the spec that it stands in, and a private copy of its module.

    `built`: of how many records a page of the scan is that runs; 0: as explored.
    `older`: the released versions before it.  `text`: of its spec.
    """

    path: str
    machine: core.Machine
    module: ModuleType
    built: int = 0
    older: tuple[Kept, ...] = ()
    text: Text | None = None


NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def subjects(
    program: Program,
    shapes: Mapping[str, str] = NOTHING,
    texts: Mapping[str, str] = NOTHING,
) -> tuple[Subject, ...]:
    """Every machine of the program's sound modules, in the order of the specs.

    `shapes` and `texts` of what was released, by their paths: older versions are explored
    too, where they are given.
    """
    explored = tuple(
        replace(module, machines=tuple(map(paged, module.machines)))
        for module in program.modules
    )
    files = emit(explored, program.texts, nested=True)
    modules = load(
        {path: text for texts in files.values() for path, text in texts.items()}
    )
    built = {
        (module.path, machine.name): found.page
        for module in program.modules
        for machine in module.machines
        if isinstance(found := scan(machine), Scan)
    }
    return tuple(
        Subject(
            module.path,
            machine,
            of_machine(modules, module.path, machine.name),
            built.get((module.path, machine.name), 0),
            kept(module.name, machine.name, machine.version, shapes, texts),
            program.texts.get(module.path),
        )
        for module in explored
        for machine in module.machines
    )
