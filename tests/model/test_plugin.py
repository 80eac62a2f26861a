"""The pytest plugin, run as a user runs it: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from .specimens import PATHS

PLUGIN = (
    ()
    if entry_points(group="pytest11", name="deedbox")
    else ("-p", "deedbox_checker.plugin")
)
"""An installed package brings its plugin along; sources that are only on the path do not."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "door.deed").write_text(
        """\
/// A door that somebody may lock for good.
machine Door version 1 {
  key door: text
  state Open
  state Closed { since: instant }
  final Locked
  message Close
  message Lock
  start { goto Open }
  in Open {
    on Close { goto Closed { since: now } }
    ignore Lock
  }
  in Closed {
    on Lock { goto Locked }
    ignore Close
  }
  never locks: phase is Locked
  sometimes closes: phase is Closed
  allow DEED406 "it may stay open"
  allow DEED502 "since is shown to people"
}
"""
    )
    return tmp_path


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_property_is_an_item_and_a_failure_is_its_counterexample(
    project: Path,
) -> None:
    done = pytest_in(project, "-v", "door.deed")
    assert done.returncode == 1
    assert "door.deed::Door::closes PASSED" in done.stdout
    assert "door.deed::Door::locks FAILED" in done.stdout
    assert "door.deed:18: never locks  BROKEN" in done.stdout
    assert "phase: Closed -> Locked" in done.stdout


def test_a_counterexample_is_kept_as_json(project: Path) -> None:
    pytest_in(project, "-k", "locks", "--deed-trace", "runs.jsonl", "door.deed")
    kept = json.loads((project / "runs.jsonl").read_text())
    assert kept["name"] == "locks"
    assert [step["step"] for step in kept["trace"]["steps"]] == [
        "Start",
        "Close",
        "Lock",
    ]


def test_a_spec_with_a_problem_is_an_error_with_its_place(project: Path) -> None:
    spec = project / "door.deed"
    spec.write_text(spec.read_text().replace("ignore Close", ""))
    done = pytest_in(project, "door.deed")
    assert done.returncode != 0
    assert "DEED401" in done.stdout


def test_a_machine_that_is_not_explored_fails_once(project: Path) -> None:
    done = pytest_in(project, "--deed-limit", "2", "door.deed")
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    assert "INCOMPLETE, more than 2 states" in done.stdout
