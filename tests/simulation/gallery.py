"""The machines of the gallery, generated in memory from their specs, each spec once."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from deedbox.step import AnyMachine
from deedbox_checker.scans.pages import paged
from deedbox_checker.subjects.load import load, of_machine
from deedbox_checker.subjects.subjects import Subject, subjects
from deedbox_dsl import compile
from deedbox_dsl.program import Program
from deedbox_dsl.spelling import snake
from deedbox_generator.emit import emit

SPECS: Final = Path(__file__).parents[2] / "specs"
GROUPS: Final = (
    ("Account", "Transfer", "StandingOrder"),
    ("Subscription",),
    ("SyncRetry",),
    ("Leader",),
    ("Importer",),
    ("Lease",),
    ("Delivery",),
    ("Sequence",),
    ("Indexer", "Showcase", "Landing"),
    ("Indexer",),
    ("Showcase",),
    ("Landing",),
    ("NightlyExport",),
    ("Order",),
    ("Trip", "Onboarding"),
    ("Trip",),
    ("Onboarding",),
)
"""What runs in one process: machines that stand in one spec, and some of them alone."""


@lru_cache(maxsize=1)
def compiled() -> Program:
    return compile(_texts("*/*.deed"), _texts(".shapes/*.json"))


def _texts(pattern: str) -> dict[str, str]:
    paths = sorted(SPECS.glob(pattern))
    return {path.relative_to(SPECS).as_posix(): path.read_text() for path in paths}


def one_module(name: str) -> Program:
    """The program of the spec in which a machine stands, and of no other."""
    program = compiled()
    own = tuple(
        module
        for module in program.modules
        if any(machine.name == name for machine in module.machines)
    )
    if not own:
        raise LookupError(name)
    return replace(program, modules=own)


@lru_cache(maxsize=32)
def subjects_in(path: str) -> dict[str, Subject]:
    """The machines of one spec, by name."""
    program = compiled()
    own = tuple(module for module in program.modules if module.path == path)
    found = subjects(replace(program, modules=own))
    return {subject.machine.name: subject for subject in found}


def subject(name: str) -> Subject:
    """A machine of the gallery, by its name."""
    return subjects_in(one_module(name).modules[0].path)[name]


def machine(name: str) -> AnyMachine:
    return cast(AnyMachine, subject(name).module.machine)


def machines(group: tuple[str, ...]) -> list[AnyMachine]:
    return [machine(name) for name in group]


def miswritten(name: str, old: str, new: str, more: str) -> AnyMachine:
    """The machine with each place of its code that is `old` changed, and `more` behind it.

    A function that `more` defines stands for the generated one of its name.
    """
    program = one_module(name)
    modules = [
        replace(module, machines=tuple(map(paged, module.machines)))
        for module in program.modules
    ]
    files = {
        path: text
        for texts in emit(modules, program.texts, nested=True).values()
        for path, text in texts.items()
    }
    own = next(path for path in files if path.endswith(f"/{snake(name)}.py"))
    assert old in files[own], old
    files[own] = files[own].replace(old, new) + more
    module = of_machine(load(files), modules[0].path, name)
    return cast(AnyMachine, module.machine)
