"""The compiler's commands as a user calls them: what they print, and how they end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from deedbox.__main__ import main

SPECS = Path(__file__).parents[2] / "specs"
GALLERY = sorted(
    path.relative_to(SPECS).as_posix()
    for path in SPECS.glob("*/*.deed")
    if path.name != "policies.deed"
)
BAD = """module made.bad

machine Bad version 1 {
  key id: txt
  state Ready
  start { goto Redy }
  allow DEED406 "it stays"
}
"""


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    spec = tmp_path / "bad.deed"
    spec.write_text(BAD, "utf-8")
    return spec


@pytest.mark.parametrize("view", ["--table", "--lowered", "--diagram", "--waits"])
@pytest.mark.parametrize("spec", GALLERY)
def test_every_view_of_every_spec_of_the_gallery_is_shown(
    spec: str, view: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["show", str(SPECS / spec), view]
    # A diagram is of one machine: the first that the spec declares.
    text = (SPECS / spec).read_text("utf-8").split("\n")
    kinds = ("machine ", "retry ", "scan ", "saga ")
    names = [line.split()[1] for line in text if line.startswith(kinds)]
    if view == "--diagram":
        words += ["--machine", names[0]]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert ("stateDiagram" if view == "--diagram" else names[0]) in shown.out
    assert shown.err == ""


def test_problems_as_json_have_code_place_and_advice(
    bad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(bad), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    lines = BAD.split("\n")
    said = {each["code"]: each for each in found}
    assert {"DEED201"} <= said.keys()
    for each in found:
        span = each["span"]
        assert span["path"] == "bad.deed"
        assert 1 <= span["line"] <= len(lines)
        assert each["severity"] in ("error", "warning")
        assert each["message"]
    texts = {BAD[each["span"]["start"] : each["span"]["end"]] for each in found}
    assert {"txt", "Redy"} <= texts


def test_problems_for_github_are_one_command_a_line(
    bad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(bad), "--format", "github"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith("::error file=bad.deed,line=4,col=11,") for line in lines
    )
    assert all(line.startswith(("::error file=", "::warning file=")) for line in lines)


@pytest.mark.parametrize("form", ["json", "github"])
def test_a_sound_gallery_has_nothing_to_say(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(SPECS), "--format", form]) == 0
    out = capsys.readouterr().out
    assert (json.loads(out) == []) if form == "json" else ("::error" not in out)


def test_fmt_writes_one_layout_and_says_when_there_is_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "lease.deed"
    shutil.copy(SPECS / "fleet" / "lease.deed", spec)
    assert main(["fmt", str(spec)]) == 0
    kept = spec.read_text("utf-8")
    spec.write_text(kept.replace("  key ", "      key   "), "utf-8")
    loose = spec.read_text("utf-8")
    assert main(["fmt", "--check", str(spec)]) == 1
    assert "lease.deed" in "".join(capsys.readouterr())
    assert spec.read_text("utf-8") == loose
    assert main(["fmt", str(spec)]) == 0
    assert spec.read_text("utf-8") == kept
    assert main(["fmt", "--check", str(spec)]) == 0


def test_fmt_leaves_a_spec_that_does_not_parse_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "lease.deed"
    shutil.copy(SPECS / "fleet" / "lease.deed", spec)
    broken = spec.read_text("utf-8").replace("machine Lease", "machine Lease Lease")
    spec.write_text(broken, "utf-8")
    assert main(["fmt", str(spec)]) == 1
    assert spec.read_text("utf-8") == broken
    assert "DEED1" in "".join(capsys.readouterr())


def test_explain_tells_why_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DEED401"]) == 0
    assert "DEED401" in capsys.readouterr().out
    assert main(["explain", "DEED999"]) == 2
    assert "there is no DEED999" in capsys.readouterr().err
