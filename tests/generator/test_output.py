"""What a command cannot read or write is said in one line, and how it ends is 2."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from deedbox.__main__ import main
from deedbox_generator.cli.project import Unreadable, write_atomically

DOOR = """machine Door version 1 {
  key id: text
  state On
  message Flip
  start { goto On }
  in On { on Flip { stay } }
  never lit: phase is On
  allow DEED406 "it stays"
}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "door.deed").write_text(DOOR, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a usage error says, on one line."""
    assert main(list(words)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    return line.removeprefix("deedbox: ")


class TestWriting:
    @pytest.mark.parametrize("place", ["generated", "generated/door"])
    def test_a_file_where_a_package_belongs_is_named(
        self, project: Path, place: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / place).parent.mkdir(exist_ok=True)
        (project / place).touch()
        assert str(project / "generated") in said(capsys, "build")

    def test_a_folder_where_a_file_belongs_is_named(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "generated/door/door.py").mkdir(parents=True)
        assert "door/door.py is in the way" in said(capsys, "build")

    def test_shapes_that_cannot_be_written_are_named(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "specs/.shapes").touch()
        line = said(capsys, "release")
        assert line.startswith("specs/.shapes/")
        assert line.endswith("cannot be written: Not a directory")

    def test_a_build_that_cannot_remember_is_a_build(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "generated").mkdir()
        (project / "generated/.deedbox-cache").touch()
        assert main(["build"]) == 0
        assert main(["build"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "wrote 3 files in generated/",
            "wrote 0 files in generated/",
        ]

    def test_a_file_that_is_written_anew_keeps_its_rights(self, project: Path) -> None:
        spec = project / "specs/door.deed"
        spec.write_text(DOOR.replace("  key", "    key"), "utf-8")
        spec.chmod(0o640)
        assert main(["fmt"]) == 0
        assert spec.read_text("utf-8") == DOOR
        assert stat.S_IMODE(spec.stat().st_mode) == 0o640

    def test_what_fails_half_way_leaves_no_file_behind(self, tmp_path: Path) -> None:
        """The text is written, and then its place is a folder."""
        (tmp_path / "door.py").mkdir()
        with pytest.raises(Unreadable, match=r"door\.py cannot be written: Is a"):
            write_atomically(tmp_path / "door.py", "text")
        assert [each.name for each in tmp_path.iterdir()] == ["door.py"]

    @pytest.mark.parametrize("command", ["export", "trace"])
    def test_an_out_that_cannot_be_written_is_named(
        self, project: Path, command: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = ["export", "--promela", "specs/door.deed"]
        if command == "trace":
            assert main(["verify"]) == 1
            shown = capsys.readouterr().out
            number = shown.split("deedbox trace ")[1].split()[0]
            words = ["trace", number, "specs"]
        assert said(capsys, *words, "--out", "none/here.txt") == (
            "none/here.txt cannot be written: No such file or directory"
        )
        assert main([*words, "--out", "here.txt"]) == 0
        assert (project / "here.txt").read_text("utf-8").strip()


class TestReading:
    def test_a_folder_without_specs_is_named(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "empty").mkdir()
        assert said(capsys, "check", "empty").startswith("there is no spec in ")

    def test_a_spec_outside_of_the_project_is_checked_like_its_own(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "inner").mkdir()
        (project / "inner/pyproject.toml").touch()
        shutil.copy(project / "specs/door.deed", project / "inner/door.deed")
        gate = DOOR.replace("machine Door", "machine Gate").replace("to On", "to Off")
        (project / "specs/gate.deed").write_text(gate, "utf-8")
        assert main(["check", "inner/door.deed", "specs/gate.deed"]) == 1
        assert "specs/gate.deed:5:" in capsys.readouterr().out

    def test_a_recorded_shape_that_is_a_folder_is_named(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "specs/.shapes/door.1.json").mkdir(parents=True)
        assert said(capsys, "check") == (
            "specs/.shapes/door.1.json cannot be read: Is a directory"
        )


class TestDiff:
    def test_a_machine_that_is_gone_breaks_its_rows(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        new = project / "new.deed"
        new.write_text(DOOR.replace("machine Door", "machine Gate"), "utf-8")
        assert main(["diff", "specs/door.deed", "new.deed"]) == 1
        assert "Door 1: there is no such machine any more" in capsys.readouterr().out
        assert main(["diff", "specs/door.deed", "new.deed", "--format", "json"]) == 1

    @pytest.mark.parametrize("side", [0, 1])
    def test_a_side_that_does_not_compile_shows_its_problems(
        self, project: Path, side: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "new.deed").write_text(DOOR.replace("goto On", "goto Off"), "utf-8")
        sides = ["specs/door.deed", "new.deed"]
        words = sides if side else sides[::-1]
        assert main(["diff", *words]) == 1
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "new.deed:5" in shown.err

    @pytest.mark.parametrize(
        ("old", "why"),
        [
            ("specs", "specs is a folder; `diff` takes two specs or shapes"),
            ("none.json", "none.json cannot be read: "),
            ("bytes.json", "bytes.json cannot be read: "),
            ("other.json", "other.json is no recorded shape: "),
        ],
    )
    def test_a_side_that_is_neither_spec_nor_shape_is_named(
        self, project: Path, old: str, why: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "bytes.json").write_bytes(b"\xff")
        (project / "other.json").write_text('{"a": 1}', "utf-8")
        assert why in said(capsys, "diff", old, "specs/door.deed")
