"""`deedbox verify` as it is called: what it prints, and how it ends."""

from __future__ import annotations

import argparse
import json
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
  never shines: phase is On
  allow DEED406 "it is pressed for ever"
}
"""
    )
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
