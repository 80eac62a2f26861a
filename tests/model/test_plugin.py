"""The pytest plugin, run as a user runs it: in a process of its own."""

from __future__ import annotations

import json
import os
import re
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
    """Another pytest, which knows nothing of the one that runs this."""
    mine = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, *arguments],
        cwd=folder,
        env={**mine, "PYTHONPATH": os.pathsep.join(PATHS)},
        capture_output=True,
        text=True,
        check=False,
    )


def items(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """How each item went, by its node id."""
    found = re.findall(r"^(\S+\.deed::\S+) ([A-Z]+)", done.stdout, re.MULTILINE)
    found += [
        (name, word)
        for word, name in re.findall(
            r"^\[gw\d+\] \[ *\d+%\] ([A-Z]+)(?: \(.*?\))? (\S+) *$",
            done.stdout,
            re.MULTILINE,
        )
    ]
    return dict(found)


@pytest.mark.parametrize(
    ("spec", "says"),
    [(b"machine {", "error DEED"), (b"\xff\xfe", "this file is in UTF-16")],
    ids=["it has problems", "it is no text"],
)
def test_a_spec_that_cannot_be_compiled_is_an_error_of_its_collection(
    project: Path, spec: bytes, says: str
) -> None:
    (project / "broken.deed").write_bytes(spec)
    done = pytest_in(project, "broken.deed")
    assert "ERROR broken.deed" in done.stdout
    assert says in done.stdout
    assert "Traceback" not in done.stdout
    assert "Unreadable" not in done.stdout


def test_each_property_is_an_item_and_a_failure_is_its_counterexample(
    project: Path,
) -> None:
    done = pytest_in(project, "-v", "door.deed")
    assert done.returncode == 1
    went = items(done)
    assert went["door.deed::Door::closes[faults=all]"] == "PASSED"
    assert went["door.deed::Door::locks[faults=all]"] == "FAILED"
    assert list(went)[:2] == [
        "door.deed::Door::explored[faults=all]",
        "door.deed::Door::reached[faults=all]",
    ]
    assert list(went)[-2:] == [
        "door.deed::Door::locks[faults=all]",
        "door.deed::Door::closes[faults=all]",
    ]
    assert "door.deed:18: never locks  BROKEN" in done.stdout
    assert "phase: Closed -> Locked" in done.stdout
    assert re.search(
        r"closes\S+ PASSED \(3 states, 3 steps, 3 deep, \S+ s\)", done.stdout
    )
    id = re.findall(r"deedbox trace (\w+) --pytest", done.stdout)[0]
    node = "door.deed::Door::locks[faults=all]"
    assert f'replay: pytest "{node}" --deed-replay {id}' in done.stdout


def test_the_items_and_their_order_are_the_same_every_time(project: Path) -> None:
    first = pytest_in(project, "--collect-only", "-q", "door.deed")
    again = pytest_in(project, "--collect-only", "-q", "door.deed")
    assert first.stdout.splitlines()[:-1] == again.stdout.splitlines()[:-1]
    assert "door.deed::Door::locks[faults=all]" in first.stdout


def test_only_the_faults_that_are_asked_for(project: Path) -> None:
    """A fault that is not there has no part in the name of what is explored."""
    faults = ("--deed-fault", "crash", "--deed-fault", "raise")
    done = pytest_in(project, "-v", *faults, "-k", "explored", "door.deed")
    assert items(done) == {"door.deed::Door::explored[faults=crash+raise]": "PASSED"}
    done = pytest_in(
        project, "-v", "--deed-without", "crash", "-k", "explored", "door.deed"
    )
    assert items(done) == {"door.deed::Door::explored[faults=all-crash]": "PASSED"}


def test_a_fault_that_does_not_exist_is_a_usage_error(project: Path) -> None:
    done = pytest_in(project, "--deed-fault", "lightning", "door.deed")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "there is no fault lightning" in done.stderr


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_limit_that_is_no_number_of_states_is_a_usage_error(
    project: Path, number: str
) -> None:
    (project / "pytest.ini").write_text(f"[pytest]\ndeed_limit = {number}\n")
    done = pytest_in(project, "door.deed")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"a number of states, and not {number}" in done.stderr


def test_what_the_options_say_may_stand_in_the_file(project: Path) -> None:
    (project / "pytest.ini").write_text(
        "[pytest]\ndeed_fault = crash\ndeed_deep = true\ndeed_limit = 1000\n"
    )
    done = pytest_in(project, "-v", "-k", "explored or independent", "door.deed")
    assert items(done) == {
        "door.deed::Door::explored[faults=crash,instances=2]": "PASSED",
        "door.deed::Door::instances_are_independent[faults=crash,instances=2]": "PASSED",
    }
    done = pytest_in(
        project, "-v", "--deed-fault", "raise", "-k", "explored", "door.deed"
    )
    assert list(items(done)) == ["door.deed::Door::explored[faults=raise,instances=2]"]


def test_two_instances_are_explored_beside_each_other(project: Path) -> None:
    done = pytest_in(project, "-v", "--deed-deep", "-k", "independent", "door.deed")
    name = "instances_are_independent[faults=all,instances=2]"
    assert items(done) == {f"door.deed::Door::{name}": "PASSED"}


def test_a_run_is_written_in_the_format_of_other_tools(project: Path) -> None:
    done = pytest_in(project, "--deed-trace", "out.json", "door.deed")
    whole = json.loads((project / "out.json").read_text())
    assert whole["#meta"]["format"] == "ITF"
    assert [state["step"] for state in whole["states"]] == [
        "-",
        "Start",
        "Close",
        "Lock",
    ]
    assert "the run of door.deed::Door::locks[faults=all] is in out.json" in done.stdout


def test_the_runs_of_several_processes_do_not_overwrite_each_other(
    project: Path,
) -> None:
    """The same items with the same ids, one search, and a file for each run."""
    spec = project / "door.deed"
    spec.write_text(
        spec.read_text().replace(
            "never locks", "never closed: phase is Closed\n  never locks"
        )
    )
    alone = pytest_in(project, "-v", "--deed-trace", "alone.json", "door.deed")
    for file in (project / ".deedbox-cache" / "verify").iterdir():
        file.unlink()
    both = pytest_in(project, "-v", "-n", "2", "--deed-trace", "both.json", "door.deed")
    assert items(both) == items(alone)
    assert len(items(both)) > 20
    (known,) = (project / ".deedbox-cache" / "verify").glob("*.json")
    assert known.stat().st_size
    for name in (".json", "-2.json"):
        left, right = project / f"alone{name}", project / f"both{name}"
        assert json.loads(left.read_text()) == json.loads(right.read_text())


def test_a_search_that_was_made_is_not_made_again(project: Path) -> None:
    pytest_in(project, "-k", "explored", "door.deed")
    (file,) = (project / ".deedbox-cache" / "verify").glob("*.json")
    known = json.loads(file.read_text())
    known["summary"] = "Door: holds; as many states as it says here"
    file.write_text(json.dumps(known))
    done = pytest_in(project, "-v", "-k", "explored", "door.deed")
    assert "PASSED (as many states as it says here)" in done.stdout
    done = pytest_in(project, "-v", "--deed-no-cache", "-k", "explored", "door.deed")
    assert "as many states" not in done.stdout


def test_a_run_is_carried_out_on_the_interpreter(project: Path) -> None:
    first = pytest_in(project, "-k", "locks", "door.deed")
    id = re.findall(r"deedbox trace (\w+) --pytest", first.stdout)[0]
    done = pytest_in(project, "-v", "--deed-replay", id[:5], "door.deed")
    assert "on the interpreter, in memory:" in done.stdout
    assert "   3  Tell       Locked" in done.stdout
    assert "so it goes this way to its end" in done.stdout
    went = items(done)
    assert went.pop("door.deed::Door::locks[faults=all]") == "FAILED"
    assert went["door.deed::Door::closes[faults=all]"] == "SKIPPED"


def test_without_the_plugin_a_spec_is_no_test(project: Path) -> None:
    name = PLUGIN[1] if PLUGIN else "deedbox"
    done = pytest_in(project, "-p", f"no:{name}", ".")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout


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
