"""Versions of one spec, each compiled with the shapes of those before it, and imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import ModuleType

from deedbox_dsl import Program, compile
from deedbox_dsl.versions.written_shapes import text_of
from deedbox_generator.emit import emit

SPECS = Path(__file__).parent / "specs"
_numbers = count()


def shapes_of(program: Program) -> dict[str, str]:
    """What `deedbox release` would record, by the names of files."""
    return {
        f"{shape.machine}.{shape.version}.json": text_of(shape)
        for shape in program.shapes.values()
    }


def compiled(*texts: str) -> Program:
    """The last of the texts, with the shapes of the others."""
    shapes: dict[str, str] = {}
    program = compile({})
    for text in texts:
        program = compile({"specs/made.deed": text}, shapes)
        shapes |= shapes_of(program)
    return program


def codes(*texts: str) -> list[str]:
    return [problem.code for problem in compiled(*texts).problems]


@contextmanager
def imported(folder: Path, module: str, *texts: str) -> Generator[list[ModuleType]]:
    """The module of the machine in every version, oldest first."""
    shapes: dict[str, str] = {}
    modules: list[ModuleType] = []
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        for text in texts:
            package = f"version_{next(_numbers)}"
            path = f"specs/{package}.deed"
            program = compile({path: text}, shapes)
            assert program.problems == ()
            shapes |= shapes_of(program)
            for name, content in emit(program.modules, program.texts)[path].items():
                file = folder / name
                file.parent.mkdir(exist_ok=True)
                file.write_text(content, "utf-8")
            modules.append(importlib.import_module(f"{package}.{module}"))
        yield modules
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if name.startswith("version_"):
                del sys.modules[name]


def picks() -> list[str]:
    """The three versions of the machine `Pick`."""
    return [(SPECS / f"pick_{n}.deed").read_text("utf-8") for n in (1, 2, 3)]
