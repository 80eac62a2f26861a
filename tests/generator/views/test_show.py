"""`deedbox show SPEC`: which machine, in which view."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from deedbox.__main__ import main

TWO = """
machine Lamp version 1 {
  key id: text
  state Lit
  final Broken
  message Drop
  start { goto Lit }
  in Lit { on Drop { goto Broken } }
}

machine Shade version 1 {
  key id: text
  state Clean
  final Torn
  message Pull
  start { goto Clean }
  in Clean { on Pull { goto Torn } }
}
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "lamp.deed"
    path.write_text(TWO)
    return str(path)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ((), "Lamp: machine, version 1; 1 state, 1 final, 1 message, 0 commands"),
        (
            ("--table",),
            "Lamp: machine, version 1; 1 state, 1 final, 1 message, 0 commands",
        ),
        (("--waits",), "Lamp: machine, version 1"),
        (("--lowered",), "machine Lamp version 1 {"),
        (("--diagram",), "stateDiagram-v2"),
        (("--diagram", "--as", "dot"), 'digraph "Lamp" {'),
    ],
)
def test_each_view_shows_every_machine_of_the_spec(
    spec: str, words: tuple[str, ...], first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", spec, *words]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == first
    assert "Torn" in shown or "Shade" in shown


def test_one_machine_can_be_named(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", spec, "--machine", "Shade"]) == 0
    shown = capsys.readouterr().out
    assert "Torn" in shown
    assert "Lamp" not in shown


def test_a_machine_that_is_not_there_is_a_problem(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", spec, "--machine", "Bulb"]) == 1
    assert "declares no machine `Bulb`" in capsys.readouterr().err


def test_two_machines_are_not_one_picture(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", spec, "--diagram", "--as", "svg"]) == 2
    assert "--machine" in capsys.readouterr().err


def test_a_picture_needs_graphviz_and_says_so(
    spec: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    picture = ["show", spec, "--machine", "Lamp", "--diagram", "--as", "svg"]
    assert main(picture) == 2
    assert "graphviz" in capsys.readouterr().err


def test_graphviz_draws_the_picture(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = ["show", spec, "--machine", "Lamp", "--diagram", "--as", "svg"]
    assert main(picture) == 0
    assert "<svg" in capsys.readouterr().out


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(spec: str) -> None:
    """`deedbox show lamp.deed | head -1`."""
    command = [sys.executable, "-m", "deedbox", "show", spec]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as shown:
        assert shown.stdout is not None
        assert shown.stderr is not None
        shown.stdout.close()
        assert shown.stderr.read() == ""
        assert shown.wait() == 1
