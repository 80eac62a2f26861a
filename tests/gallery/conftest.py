"""The gallery, built once by the real command and importable."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from deedbox.__main__ import main

ROOT = Path(__file__).parents[2]
SPECS = str(ROOT / "specs")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    out = tmp_path_factory.mktemp("gallery")
    assert main(["build", SPECS, "--out", str(out)]) == 0
    sys.path.insert(0, str(out))
    yield out
    sys.path.remove(str(out))


@pytest.fixture(scope="session")
def rebuild(built: Path) -> Callable[..., int]:
    """The same build once more; extra words go to the command."""

    def again(*words: str) -> int:
        return main(["build", SPECS, "--out", str(built), *words])

    return again


@pytest.fixture(scope="session")
def generated(built: Path) -> Callable[[str], Any]:
    """A generated module by its name, such as `sync.sync_retry`."""
    assert built.is_dir()
    return importlib.import_module
