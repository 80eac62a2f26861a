"""`deedbox verify` as it is called: what it prints, and how it ends."""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest
from deedbox_checker.command import register

from .specimens import ROOT

LEASE = ROOT / "specs" / "fleet" / "lease.deed"


def verify(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    register(parser.add_subparsers(required=True))
    parsed = parser.parse_args(["verify", *arguments])
    status = parsed.run(parsed)
    assert isinstance(status, int)
    return status


def trace(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    register(parser.add_subparsers(required=True))
    parsed = parser.parse_args(["trace", *arguments])
    status = parsed.run(parsed)
    assert isinstance(status, int)
    return status


LIGHT = """\
machine Light version 1 {
  key light: text
  state Off
  state On
  message Press
  start { goto Off }
  in Off { on Press { goto On } }
  in On { on Press { goto Off } }
  never shines: phase is On
  allow DEED406 "it is pressed for ever"
}
"""


def test_a_machine_that_holds_ends_with_zero(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verify(str(LEASE)) == 0
    said = capsys.readouterr().out
    assert said.startswith("Lease: holds; 876 states, 1.9k steps, 106 deep")
    assert "holds   leads drains (within: wakes on time)" in said


def test_a_broken_property_ends_with_one_and_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "light.deed"
    spec.write_text(LIGHT)
    assert verify(str(spec)) == 1
    said = capsys.readouterr().out
    assert "light.deed:9: never shines  BROKEN" in said
    assert "needs no fault, 2 steps; nothing shorter exists" in said
    assert "phase: Off -> On" in said


def test_a_report_for_tools_has_every_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verify(str(LEASE), "--format", "json", "--costs") == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["machine"] == "Lease"
    assert report["costs"]["late_arrival"] >= 0
    stated = {v["name"] for v in report["verdicts"] if v["line"] is not None}
    assert stated == {"counted", "only_later", "drains"}


def test_a_limit_that_is_hit_does_not_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(str(LEASE), "--limit", "100") == 1
    assert "Lease: INCOMPLETE, more than 100 states" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--limit", "--instances"])
@pytest.mark.parametrize("number", ["0", "-3", "many"])
def test_a_number_of_things_is_one_or_more(
    option: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        verify(str(LEASE), f"{option}={number}")
    assert end.value.code == 2
    assert number in capsys.readouterr().err


def test_a_path_without_a_spec_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(str(tmp_path / "none.deed")) == 2
    assert "none.deed" in capsys.readouterr().err


def test_specs_without_a_machine_have_nothing_to_verify(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verify(str(ROOT / "specs" / "shop" / "policies.deed")) == 0
    assert "declare no machine" in capsys.readouterr().out


def test_a_machine_that_is_not_there_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verify(str(LEASE), "--machine", "Leese") == 2
    assert "there is no machine Leese" in capsys.readouterr().err


def test_as_many_instances_are_explored_as_the_spec_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "light.deed"
    spec.write_text(
        """\
machine Light version 1 {
  key light: text
  state Off
  state On
  message Press
  start { goto Off }
  in Off { on Press { goto On } }
  in On { on Press { goto Off } }
  sometimes shines: phase is On
  check { instances 2 }
  allow DEED406 "it is pressed for ever"
}
"""
    )
    assert verify(str(spec)) == 0
    said = capsys.readouterr().out
    assert "2 instances: 9 states, 6 without telling them apart" in said
    assert verify(str(spec), "--instances", "3") == 0
    said = capsys.readouterr().out
    assert "3 instances: 27 states, 10 without telling them apart" in said


def test_a_report_for_tools_names_what_is_broken_and_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "light.deed"
    spec.write_text(LIGHT)
    assert verify(str(spec), "--format", "json") == 1
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["holds"], report["incomplete"]) == (False, None)
    (broken,) = [each for each in report["verdicts"] if not each["holds"]]
    assert (broken["name"], broken["line"], broken["code"]) == ("shines", 9, "DEED703")
    assert [step["step"] for step in broken["trace"]["steps"]] == ["Start", "Press"]
    assert trace(broken["id"], str(spec)) == 0
    assert "phase: Off -> On" in capsys.readouterr().out


def test_a_search_that_did_not_end_fails_for_tools_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verify(str(LEASE), "--limit", "100", "--format", "json") == 1
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["holds"], report["code"]) == (False, "DEED704")
    assert report["incomplete"].startswith("more than 100 states")


def test_a_spec_with_a_problem_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "light.deed"
    spec.write_text(LIGHT.replace("goto Off", "goto Of"))
    assert verify(str(spec)) == 2
    assert "the specs have problems" in capsys.readouterr().err


def test_a_run_of_fewer_faults_is_found_with_the_same_faults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "light.deed"
    spec.write_text(LIGHT)
    assert verify(str(spec), "--without", "crash", "--format", "json") == 1
    (report,) = json.loads(capsys.readouterr().out)
    (id,) = [each["id"] for each in report["verdicts"] if not each["holds"]]
    assert trace(id, str(spec), "--without", "crash") == 0
    assert trace("0000", str(spec)) == 2
    assert "no run that breaks anything is called 0000" in capsys.readouterr().err


def test_a_trace_is_written_to_a_file(tmp_path: Path) -> None:
    spec, out = tmp_path / "light.deed", tmp_path / "run.json"
    spec.write_text(LIGHT)
    report = tmp_path / "report.json"
    with report.open("w") as file, redirect_stdout(file):
        verify(str(spec), "--format", "json")
    (known,) = json.loads(report.read_text())
    (id,) = [each["id"] for each in known["verdicts"] if not each["holds"]]
    assert trace(id, str(spec), "--itf", "--out", str(out)) == 0
    assert json.loads(out.read_text())["#meta"]["format"] == "ITF"


def on_a_terminal(*arguments: str) -> tuple[str, str]:
    """What a process with a terminal for its errors prints, and what goes there."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "deedbox", "verify", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # the terminal is gone with the process
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    said, _ = done.communicate()
    return said.decode(), shown.decode()


def test_a_terminal_is_shown_how_many_states_there_are() -> None:
    said, shown = on_a_terminal("--no-cache", "specs/shop/orders.deed")
    assert re.search(r"Order .*[1-9],?\d* states", shown)
    assert said.startswith("Order: holds; ")
    assert "\x1b" not in said


def test_elsewhere_nobody_is_shown_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--no-cache", str(LEASE)) == 0
    assert capsys.readouterr().err == ""
