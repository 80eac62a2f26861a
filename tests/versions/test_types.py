"""Types that a later version does not have: the older version's module declares them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest
from deedbox.codec import Codec
from deedbox.documents import text

from tests.versions.made import SPECS, imported, picks

ROOT = Path(__file__).parents[2]
CRATES = [(SPECS / f"crate_{n}.deed").read_text("utf-8") for n in (1, 2)]
HIDDEN = {"crate": 7, "shelf": "a", "born": 1, "issued": 0}
BOX = {"side": 4, "lid": "oak"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("crates")


@pytest.fixture(scope="module")
def crate(folder: Path) -> Iterator[ModuleType]:
    """Version 2."""
    with imported(folder, "crate", *CRATES) as modules:
        yield modules[1]


def upcast(crate: ModuleType, document: Mapping[str, object]) -> dict[str, object]:
    codec = Codec(crate.machine)
    found = codec.state(1, json.dumps({**document, **HIDDEN}), 0).state
    made: dict[str, object] = json.loads(text(found))
    return {name: value for name, value in made.items() if name not in HIDDEN}


def test_fields_of_an_older_record_and_variants_of_an_older_choice_are_read(
    crate: ModuleType,
) -> None:
    older = {
        "type": "Full",
        "box": BOX,
        "size": {"type": "Large", "factor": 2},
        "ratio": 9,
        "boxes": [BOX, {"side": 5, "lid": None}, {"side": 6, "lid": None}],
        "owner": "mira",
    }
    assert upcast(crate, older) == {
        "type": "Full",
        "side": 4,
        "big": True,
        "ratio": 5,
        "count": 2,
        "owner": "mira",
        "box": None,
    }
    assert not upcast(crate, {**older, "size": {"type": "Small"}})["big"]


@pytest.mark.parametrize(("box", "lid"), [(BOX, "of a box of 4"), (None, "none")])
def test_an_older_optional_is_asked_before_it_is_read(
    crate: ModuleType, box: object, lid: str
) -> None:
    assert upcast(crate, {"type": "Open", "box": box})["lid"] == lid


def test_the_generated_migrations_are_strictly_typed(
    folder: Path, crate: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Every package of these tests, and those of the three picks, under mypy --strict."""
    del crate
    others = tmp_path_factory.mktemp("picks")
    with imported(others, "pick", *picks()):
        pass
    packages = [path for root in (folder, others) for path in root.glob("version_*")]
    assert len(packages) == 5
    for root in (folder, others):
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "mypy",
                "--strict",
                "--config-file=",
                f"--cache-dir={root / 'cache'}",
                *(str(path) for path in root.glob("version_*")),
            ],
            env={**os.environ, "MYPYPATH": str(ROOT / "runtime")},
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
