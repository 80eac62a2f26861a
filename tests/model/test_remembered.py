"""Reports that are kept: nothing is explored twice, and nothing stale is told."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from deedbox_checker.asking.remembered import Known, Remembered

from .test_command import verify

LIGHT = """\
machine Light version 1 {
  key light: text
  state Off
  state On
  message Press
  start { goto Off }
  in Off { on Press { goto On } }
  in On { on Press { goto Off } }
  sometimes shines: phase is On
  allow DEED406 "it is pressed for ever"
}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    file = tmp_path / "light.deed"
    file.write_text(LIGHT)
    return file


def kept(spec: Path) -> list[Path]:
    return sorted((spec.parent / ".deedbox-cache" / "verify").glob("*.json"))


def test_the_same_spec_is_explored_once(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(str(spec)) == 0
    first = capsys.readouterr().out
    (file,) = kept(spec)
    whole = json.loads(file.read_text())
    whole["text"] = "as it was kept"
    file.write_text(json.dumps(whole))
    assert verify(str(spec)) == 0
    assert capsys.readouterr().out == "as it was kept\n\n"
    assert verify(str(spec), "--no-cache") == 0
    assert capsys.readouterr().out.split(";")[0] == first.split(";")[0]


def test_a_spec_that_has_changed_is_explored_again(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(str(spec)) == 0
    spec.write_text(LIGHT.replace("sometimes shines", "never shines"))
    assert verify(str(spec)) == 1
    assert "BROKEN" in capsys.readouterr().out
    assert len(kept(spec)) == 2


def test_another_question_has_another_report(spec: Path) -> None:
    assert verify(str(spec)) == 0
    assert verify(str(spec), "--without", "crash") == 0
    assert len(kept(spec)) == 2


def test_another_format_is_another_report(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an older deedbox wrote is not believed by this one."""
    assert verify(str(spec)) == 0
    monkeypatch.setattr("deedbox_checker.asking.remembered.FORMAT", 0)
    assert verify(str(spec)) == 0
    assert len(kept(spec)) == 2


def test_another_code_is_another_report(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verify(str(spec)) == 0
    monkeypatch.setattr("deedbox_checker.asking.remembered._code", lambda: "another")
    assert verify(str(spec)) == 0
    assert len(kept(spec)) == 2


def test_who_asks_the_same_at_one_time_waits_for_the_answer(tmp_path: Path) -> None:
    """A file lock, which is released when its process dies."""
    first, second = Remembered(tmp_path, {}), Remembered(tmp_path, {})
    order: list[str] = []

    def ask() -> None:
        with second.alone("a.deed", "A"):
            order.append("second")

    asking = threading.Thread(target=ask)
    with first.alone("a.deed", "A"):
        asking.start()
        asking.join(0.2)
        order.append("first")
    asking.join()
    assert order == ["first", "second"]


def test_a_file_that_is_damaged_is_not_believed(spec: Path) -> None:
    assert verify(str(spec)) == 0
    kept(spec)[0].write_text('{"holds": tr')
    assert verify(str(spec)) == 0
    assert json.loads(kept(spec)[0].read_text())["holds"] is True


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / ".deedbox-cache").write_text("a file where a folder should be")
    remembered = Remembered(tmp_path, {})
    remembered.keep("a.deed", "A", Known(True, "", {}))
    assert remembered.find("a.deed", "A") is None


def test_many_machines_are_told_in_a_table_too(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text(LIGHT + LIGHT.replace("Light", "Lamp"))
    assert verify(str(spec)) == 0
    table = capsys.readouterr().out.splitlines()[-3:]
    assert table[0].split() == [
        "machine",
        "states",
        "steps",
        "depth",
        "seconds",
        "faults",
        "on",
    ]
    assert [row.split()[:2] for row in table[1:]] == [
        ["Light", "holds"],
        ["Lamp", "holds"],
    ]
