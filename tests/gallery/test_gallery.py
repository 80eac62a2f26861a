"""Every spec of `specs/`: it compiles clean, and its lowered form is the same machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from deedbox_dsl import Program, compile, core, syntax
from deedbox_dsl.format import format_text, format_tree
from deedbox_dsl.parse import parse
from deedbox_dsl.source import Text
from deedbox_generator.emit import emit

ROOT = Path(__file__).parents[2]
PATHS = tuple(
    path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("specs/*/*.deed"))
)
SHAPES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in sorted(ROOT.glob("specs/.shapes/*.json"))
}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {path: (ROOT / path).read_text() for path in PATHS}


@pytest.fixture(scope="module")
def program(texts: dict[str, str]) -> Program:
    return compile(texts, SHAPES)


def test_the_gallery_compiles_without_a_problem(program: Program) -> None:
    assert program.problems == ()
    assert tuple(sorted(module.path for module in program.modules)) == PATHS


def test_the_gallery_is_written_in_the_one_layout(texts: dict[str, str]) -> None:
    for path, text in texts.items():
        assert format_text(Text.of(path, text)) == text, path


def test_every_machine_tells_its_story(program: Program) -> None:
    """What can go wrong, and which line answers it: more than a line of it."""
    told = ("shop", "fleet")  # the two that the tour explains line by line
    for module in program.modules:
        for machine in module.machines:
            if module.path.split("/")[1] not in told:
                assert machine.doc is not None, machine.name
                assert machine.doc.count("\n- *") >= 1, machine.name


# ---- the lowered form ------------------------------------------------------------------


def _lowered(
    path: str, text: str, machines: Mapping[tuple[str, str], syntax.Machine]
) -> str:
    """The spec with each kind replaced by the machine it means, as `show --lowered` prints it."""
    module, problems = parse(Text.of(path, text))
    assert problems == ()
    return format_tree(
        replace(
            module,
            declarations=tuple(
                machines[path, declared.name.text]
                if isinstance(declared, syntax.Retry | syntax.Scan | syntax.Saga)
                else declared
                for declared in module.declarations
            ),
        )
    )


def _plain(machine: core.Machine) -> core.Machine:
    return replace(machine, kind="machine")


def _meaning(python: str) -> str:
    """A generated module without what only says where it comes from: spec lines and hash."""
    tree = ast.parse(python)
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name("Transition"), args=[*_, ast.Constant() as line]
            ):
                line.value = 0
            case ast.keyword(arg="spec_hash", value=ast.Constant() as digest):
                digest.value = ""
            case _:
                pass
    return ast.unparse(tree)


def test_the_lowered_form_of_every_spec_is_the_same_machine(
    texts: dict[str, str], program: Program
) -> None:
    """B8: it parses, checks, and gives the same core and the same Python.

    Only what a saga or a scan says of its parts is not said of a plain machine.
    """
    again = compile(
        {path: _lowered(path, text, program.lowered) for path, text in texts.items()},
        SHAPES,
    )
    assert again.problems == ()
    for module, other in zip(program.modules, again.modules, strict=True):
        assert tuple(map(_plain, module.machines)) == other.machines
    plain = tuple(
        replace(module, machines=tuple(map(_plain, module.machines)))
        for module in program.modules
    )
    first, second = emit(plain, program.texts), emit(again.modules, again.texts)
    for path in first:
        for name, python in first[path].items():
            assert _meaning(python) == _meaning(second[path][name]), name


def test_what_is_lowered_again_stays_as_it_is(
    texts: dict[str, str], program: Program
) -> None:
    for path, text in texts.items():
        once = _lowered(path, text, program.lowered)
        assert format_text(Text.of(path, once)) == once, path


def test_the_list_of_the_gallery_names_every_spec_and_its_machines(
    program: Program,
) -> None:
    listed = dict(
        re.findall(
            r"^\| \[`.+`\]\((\S+)\) \| (.*?)\|",
            (ROOT / "specs" / "README.md").read_text(),
            re.MULTILINE,
        )
    )
    assert {f"specs/{path}" for path in listed} == set(PATHS)
    for module in program.modules:
        names = ", ".join(f"`{machine.name}`" for machine in module.machines)
        assert listed[module.path.removeprefix("specs/")].strip() == names
