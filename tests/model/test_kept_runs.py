"""Each specimen's kept test fails on its mistake, in the words of the property, and passes without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import black
import pytest
from deedbox_checker.counterexample.command import written
from deedbox_checker.counterexample.kept_test import kept, wording
from deedbox_checker.counterexample.steps import REFUSED, STEPS
from deedbox_checker.counterexample.unasked_claims import UNASKED
from deedbox_checker.counterexample.unmapped import Unmapped
from deedbox_checker.environment.labels import Kind
from deedbox_checker.environment.promises import Promises
from deedbox_checker.properties.unasked import UNASKED as CHECKED
from deedbox_checker.scans.listing import SAYS
from deedbox_checker.subjects.subjects import subjects
from deedbox_checker.upgrades.takeover import UPGRADES
from deedbox_checker.verdicts.verify import verify

from .kept_specimens import LEASE, SHOWCASE, SPECIMENS, as_built, found
from .specimens import ROOT, lease, program, subject

PATHS = [str(ROOT / name) for name in ("checker", "dsl", "generator", "runtime")]
INTERPRETERS = {
    "effects_are_stored",
    "handed_out_once",
    "history_is_linear",
    "owed_is_handed_out",
    "total",
}
"""What the interpreter keeps and the compiler sees to, whatever the machine does."""
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
    mine = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**mine, "PYTHONPATH": paths, "MYPYPATH": paths, "COLUMNS": "250"},
        capture_output=True,
        text=True,
        check=False,
    )


def outcomes(folder: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """For each specimen and place how its test went, and in what words."""
    done = run(folder, "pytest", "-q", "-n", "2", "-rA", "--tb=no")
    return {
        (name, where): (status, words.removeprefix(" - "))
        for status, name, where, words in OUTCOME.findall(done.stdout)
    }


@pytest.mark.timeout(900)  # some seventy tests on each side, half of them in processes
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


@pytest.mark.parametrize("name", ["skips_a_record", "takes_a_record_twice"])
def test_a_scan_is_kept_with_the_pages_that_its_machine_takes(
    name: str, tmp_path: Path
) -> None:
    """Explored with pages of 2, it runs with pages of 32: NE-21, NE-23."""
    each = next(specimen for specimen in SPECIMENS if specimen.name == name)
    made = found(each, "k")
    subject = replace(made.subject, built=32)
    test = written("pytest", subject, made.verdict, each.spec)
    assert '"limit": 33' in test
    for folder, files in zip(("broken", "mended"), as_built(each, "k"), strict=True):
        place = tmp_path / folder
        fill(place, {"test_scan.py": test, "pytest.ini": "", **files})
        done = run(place, "pytest", "-q", "test_scan.py")
        assert ("2 failed" if folder == "broken" else "2 passed") in done.stdout
        done = run(place, "mypy", "--strict", "test_scan.py")
        assert done.returncode == 0, done.stdout


def test_a_subject_knows_of_how_many_records_its_pages_are() -> None:
    built = {each.machine.name: each.built for each in subjects(program(SHOWCASE))}
    assert built["Showcase"] == 32
    assert set(built.values()) == {0, 32}


def test_a_scan_without_due_times_is_not_kept_with_other_pages() -> None:
    each = next(one for one in SPECIMENS if one.name == "skips_a_record")
    made = found(each, "k")
    trace = made.verdict.trace
    assert trace is not None
    assert trace.run is not None
    listing = trace.run.environment.model.listing
    assert listing is not None
    always = replace(listing, scanning=replace(listing.scanning, due=None))
    subject = replace(made.subject, built=32)
    with pytest.raises(Unmapped, match="the machine takes 32"):
        wording(subject, always, "showcase")


# ---- the tables ------------------------------------------------------------------


def test_every_kind_of_step_has_its_row_or_its_reason() -> None:
    """An upgrade is none: with what it leaves a test begins (`versions/test_kept_upgrades.py`)."""
    assert set(STEPS) | set(REFUSED) == set(Kind) - {Kind.UPGRADE}
    assert not set(STEPS) & set(REFUSED)


def test_every_property_that_is_checked_unasked_has_its_row() -> None:
    assert set(UNASKED) == {*CHECKED, UPGRADES}
    assert not set(UNASKED) & set(SAYS)


def refused(name: str) -> Mapping[str, object]:
    return {"promises": Promises(**{name: False})}


@pytest.mark.parametrize(
    ("name", "how", "why"),
    [
        ("rows_are_awaited", refused("withdraws"), "not the one that runs"),
        ("effects_are_stored", refused("stores_first"), "not the one that runs"),
    ],
)
def test_a_wrong_interpreter_makes_no_test(
    name: str, how: Mapping[str, Any], why: str
) -> None:
    """The real one has no such fault, so the test could not fail."""
    each = lease()
    report = verify(each.machine, each.module, **how)
    verdict = next(known for known in report.verdicts if known.name == name)
    assert not verdict.holds
    with pytest.raises(Unmapped, match=why):
        written("pytest", each, verdict, each.path)


def test_what_no_run_does_makes_no_test() -> None:
    each = subject(
        LEASE,
        "Lease",
        rewrite=(
            "leads drains: phase is Draining to phase is Free | Retired within 30s",
            "sometimes crowded: phase is Held and renewals > 200",
        ),
    )
    report = verify(each.machine, each.module, faults=())
    verdict = next(known for known in report.verdicts if known.name == "crowded")
    with pytest.raises(Unmapped, match="by there being none"):
        written("pytest", each, verdict, each.path)


def test_every_property_and_every_step_has_a_specimen() -> None:
    stated = {"one_charge", "keeps_money", "money_returns", "only_later", "drains"}
    own = {name for name in UNASKED if name not in (*INTERPRETERS, UPGRADES)}
    assert {each.property for each in SPECIMENS} >= {*own, *SAYS, *stated}
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
