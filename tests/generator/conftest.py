"""Specs made into Python and imported, each under a name of its own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import ModuleType

import pytest
from deedbox_dsl import compile
from deedbox_dsl.problems import has_errors
from deedbox_generator.emit import emit

_numbers = count()


def files(text: str, path: str = "specs/made.deed") -> dict[str, str]:
    """What a spec without errors becomes."""
    program = compile({path: text})
    assert not has_errors(program.problems), program.problems
    return emit(program.modules, program.texts).get(path, {})


@pytest.fixture(scope="session")
def files_of() -> Callable[[str], dict[str, str]]:
    return files


@pytest.fixture
def made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str, str], ModuleType]]:
    """The module of a machine, from its spec and its name."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)

    def make(text: str, module: str) -> ModuleType:
        package = f"made_{next(_numbers)}"
        for path, content in files(text, f"specs/{package}.deed").items():
            file = tmp_path / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(content, "utf-8")
        return importlib.import_module(f"{package}.{module}")

    yield make
    for name in set(sys.modules) - before:
        if name.startswith("made_"):
            del sys.modules[name]
