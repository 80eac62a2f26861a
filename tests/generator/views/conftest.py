"""Machines to look at: compiled from a text, and those of the gallery."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from deedbox_dsl import compile, core

SPECS = Path(__file__).parents[3] / "specs"


def _machines(sources: dict[str, str]) -> dict[str, core.Machine]:
    """Those of the modules without an error."""
    shapes = {path.name: path.read_text() for path in SPECS.glob(".shapes/*.json")}
    return {
        machine.name: machine
        for module in compile(sources, shapes).modules
        for machine in module.machines
    }


@pytest.fixture(scope="session")
def compiled() -> Callable[[str], core.Machine]:
    """The only machine of a spec."""

    def only(text: str) -> core.Machine:
        (machine,) = _machines({"view.deed": text}).values()
        return machine

    return only


@pytest.fixture(scope="session")
def gallery() -> dict[str, core.Machine]:
    paths = sorted(SPECS.glob("*/*.deed"))
    return _machines(
        {path.relative_to(SPECS.parent).as_posix(): path.read_text() for path in paths}
    )
