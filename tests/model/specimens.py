"""Specs of the gallery with one thing wrong: in the spec, in the code, or around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from deedbox_checker.scans.pages import paged
from deedbox_checker.subjects.load import load, of_machine
from deedbox_checker.subjects.subjects import Subject
from deedbox_dsl.problems import has_errors
from deedbox_dsl.program import Program, compile
from deedbox_generator.cli.compiled import compiled
from deedbox_generator.cli.project import project
from deedbox_generator.emit import emit

ROOT = Path(__file__).parents[2]
PATHS = [str(ROOT / name) for name in ("checker", "dsl", "generator", "runtime")]
SMALL = "tests/model/small/errands.deed"
SPECS = sorted(path for path in (ROOT / "specs").glob("*/*.deed"))


@cache
def program(spec: str) -> Program:
    """The spec at a path below `specs`, with what it uses."""
    found, problems = compiled(project([ROOT / "specs" / spec]))
    assert not has_errors(problems), problems
    return found


@cache
def rewritten(spec: str, old: str, new: str) -> Program:
    """The same with one place of its text changed, without its older versions."""
    texts = dict(project([ROOT / "specs" / spec]).texts)
    path = f"specs/{spec}"
    assert texts[path].count(old) == 1, old
    text = texts[path].replace(old, new)
    text = text.replace(" version 2 {", " version 1 {")
    head, migrate, tail = text.partition("\n  migrate from 1 {")
    if migrate:
        text = head + tail[tail.index("\n  }\n") + 5 :]
    found = compile({**texts, path: text})
    assert not has_errors(found.problems), found.problems
    return found


@cache
def files(spec: str, *rewrite: str) -> Mapping[str, str]:
    found = compiled_as(spec, *rewrite)
    wanted = [
        replace(module, machines=tuple(map(paged, module.machines)))
        for module in found.modules
        if module.path == f"specs/{spec}"
    ]
    return emit(wanted, found.texts, nested=True)[f"specs/{spec}"]


def compiled_as(spec: str, *rewrite: str) -> Program:
    return rewritten(spec, *rewrite) if rewrite else program(spec)


def machines(spec: str) -> list[str]:
    return [
        machine.name
        for module in program(spec).modules
        if module.path == f"specs/{spec}"
        for machine in module.machines
    ]


def subject(
    spec: str,
    name: str,
    *,
    rewrite: tuple[str, str] | tuple[()] = (),
    code: tuple[str, str] | tuple[()] = (),
) -> Subject:
    """A machine and its module, the spec or the generated code rewritten."""
    texts = dict(files(spec, *rewrite))
    if code:
        (place,) = (path for path, text in texts.items() if f'name="{name}"' in text)
        assert code[0] in texts[place], code[0]
        texts[place] = texts[place].replace(*code)
    machine = next(
        machine
        for module in compiled_as(spec, *rewrite).modules
        if module.path == f"specs/{spec}"
        for machine in module.machines
        if machine.name == name
    )
    module = of_machine(load(texts), spec, name)
    text = compiled_as(spec, *rewrite).texts[f"specs/{spec}"]
    return Subject(spec, paged(machine), module, text=text)


@cache
def small_files() -> tuple[Program, Mapping[str, str]]:
    """The machines of `errands.deed`, and what is generated for them."""
    found, problems = compiled(project([ROOT / SMALL]))
    assert not problems, problems
    return found, emit(found.modules, found.texts, nested=True)[SMALL]


def small(name: str) -> Subject:
    """A machine that has what one fault or one promise needs, and no more."""
    found, texts = small_files()
    (module,) = found.modules
    machine = next(machine for machine in module.machines if machine.name == name)
    loaded = of_machine(load(texts), SMALL, name)
    return Subject(SMALL, machine, loaded, text=found.texts[SMALL])


def order() -> Subject:
    return subject("shop/orders.deed", "Order")


def lease() -> Subject:
    return subject("fleet/lease.deed", "Lease")


def with_machine(each: Subject, **changes: Any) -> Subject:
    """The subject with functions of its machine exchanged; the module is its own copy."""
    each.module.machine = replace(each.module.machine, **changes)  # type: ignore[attr-defined]  # ours
    return each
