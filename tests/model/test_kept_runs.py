"""Each specimen's kept test fails on its mistake, in the words of the property, and passes without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import black
import pytest
from deedbox_checker.counterexample.claims import UNASKED
from deedbox_checker.counterexample.command import written
from deedbox_checker.counterexample.kept_test import kept
from deedbox_checker.listing import SAYS

from .kept_specimens import SPECIMENS, found
from .specimens import ROOT

PATHS = [str(ROOT / name) for name in ("checker", "dsl", "generator", "runtime")]
OUTCOME = re.compile(
    r"^(PASSED|FAILED|ERROR) (?:.*/)?test_(\w+)\.py::test_\w+\[(\w+)\](.*)$", re.M
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """All specimens side by side, with their mistakes and without, and their tests."""
    broken, mended = (
        tmp_path_factory.mktemp("broken"),
        tmp_path_factory.mktemp("mended"),
    )
    for number, each in enumerate(SPECIMENS):
        made = found(each, f"k{number}")
        used = {
            type(step.action).__name__
            for step in kept(made.subject, made.verdict).steps
        }
        assert each.steps <= used, each.name
        test = written("pytest", made.subject, made.verdict, each.spec)
        for folder, files in ((broken, made.broken), (mended, made.mended)):
            fill(folder, {f"test_{each.name}.py": test, "pytest.ini": "", **files})
    return broken, mended


def fill(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(folder), *PATHS])
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "MYPYPATH": paths, "COLUMNS": "250"},
        capture_output=True,
        text=True,
        check=False,
    )


def outcomes(folder: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """For each specimen and place how its test went, and in what words."""
    done = run(folder, "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider")
    return {
        (name, where): (status, words.removeprefix(" - "))
        for status, name, where, words in OUTCOME.findall(done.stdout)
    }


def test_a_kept_test_fails_on_the_mistake_and_passes_without_it(
    folders: tuple[Path, Path],
) -> None:
    broken, mended = folders
    wrong, right = outcomes(broken), outcomes(mended)
    for each in SPECIMENS:
        for where in ("memory", "sqlite"):
            status, words = wrong[each.name, where]
            assert (status, words[:16]) == ("FAILED", "AssertionError: "), each.name
            after = wrong[each.name, where] if each.assumed else ("PASSED", "")
            assert right[each.name, where] == after, each.name


def test_kept_tests_are_typed_and_in_the_one_layout(
    folders: tuple[Path, Path],
) -> None:
    broken, mended = folders
    tests = sorted(file.name for file in broken.glob("test_*.py"))
    for name in tests:
        text = (broken / name).read_text()
        assert black.format_str(text, mode=black.Mode()) == text
    done = run(mended, "mypy", "--strict", *tests)
    assert done.returncode == 0, done.stdout
    done = run(mended, "ruff", "check", "--isolated", *tests)
    assert done.returncode == 0, done.stdout


# ---- the tables ------------------------------------------------------------------


def test_every_property_and_every_step_has_a_specimen() -> None:
    stated = {"one_charge", "keeps_money", "money_returns", "only_later", "drains"}
    assert {each.property for each in SPECIMENS} >= {*UNASKED, *SAYS, *stated}
    used = {step for each in SPECIMENS for step in each.steps}
    assert used == {
        "Answers",
        "Begin",
        "Comes",
        "Crash",
        "Decides",
        "Early",
        "Fires",
        "HandedOut",
        "Late",
        "Passes",
        "Raises",
        "Tell",
        "Waits",
    }
