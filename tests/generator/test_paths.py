"""Where a problem is, as the user opens it: from the folder in which the command was typed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from deedbox.__main__ import main

BAD = "machine Bad version 1 {\n  key id: txt\n}\n"
WRONG = """machine Wrong version 1 {
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
def shop(tmp_path: Path) -> Path:
    """A project with a spec that has a problem, one that has none and breaks its property."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "specs/bad.deed").write_text(BAD, "utf-8")
    (tmp_path / "specs/wrong.deed").write_text(WRONG, "utf-8")
    return tmp_path


PLACES = {".": "specs", "specs": ".", "src": "../specs"}


@pytest.mark.parametrize("folder", PLACES)
@pytest.mark.parametrize(
    "words", [["check"], ["build"], ["release"], ["show"], ["verify"]], ids=str
)
def test_a_path_leads_from_the_working_folder_to_the_spec(
    words: list[str],
    folder: str,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(shop / folder)
    spec = (Path(PLACES[folder]) / "bad.deed").as_posix()
    assert main([*words, str(shop / "specs/bad.deed")]) in (1, 2)
    said = "".join(capsys.readouterr())
    assert f"┌─ {spec}:2:11\n" in said


@pytest.mark.parametrize("folder", PLACES)
def test_a_broken_property_says_where_it_stands_and_again_when_it_is_remembered(
    folder: str,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(shop / folder)
    spec = (Path(PLACES[folder]) / "wrong.deed").as_posix()
    for _ in range(2):
        assert main(["verify", str(shop / "specs/wrong.deed")]) == 1
        assert f"{spec}:7: never lit  BROKEN" in capsys.readouterr().out
    monkeypatch.chdir(shop)
    assert main(["verify", "specs/wrong.deed"]) == 1
    assert "specs/wrong.deed:7: never lit  BROKEN" in capsys.readouterr().out


def test_pytest_names_a_spec_from_where_it_was_started(shop: Path) -> None:
    installed = entry_points(group="pytest11", name="deedbox")
    plugin = () if installed else ("-p", "deedbox_checker.plugin")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider"),
            *(
                "../specs/bad.deed",
                "../specs/wrong.deed",
                "--continue-on-collection-errors",
            ),
        ],
        cwd=shop / "src",
        capture_output=True,
        text=True,
    )
    assert "┌─ ../specs/bad.deed:2:11\n" in run.stdout
    assert "../specs/wrong.deed:7: never lit  BROKEN" in run.stdout


def test_written_files_are_named_from_the_working_folder(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shop / "src")
    assert main(["build", "../specs/wrong.deed"]) == 0
    assert "in ../generated/" in capsys.readouterr().out
    module = shop / "generated/wrong/wrong.py"
    module.write_text(module.read_text("utf-8") + "# mine\n", "utf-8")
    assert main(["build", "--check", "../specs/wrong.deed"]) == 1
    assert "┌─ ../generated/wrong/wrong.py:1:1\n" in capsys.readouterr().out
    assert main(["fmt", "../specs/wrong.deed"]) == 0
    assert main(["release", "../specs/wrong.deed"]) == 0
    assert "in ../specs/.shapes/" in capsys.readouterr().out


def test_tools_get_the_name_in_the_project_and_github_the_path_in_the_checkout(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shop / "src")
    assert main(["check", "../specs/bad.deed", "--format", "json"]) == 1
    (found, *_) = json.loads(capsys.readouterr().out)
    assert found["span"]["path"] == "specs/bad.deed"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(shop.parent))
    assert main(["check", "../specs/bad.deed", "--format", "github"]) == 1
    assert f"::error file={shop.name}/specs/bad.deed," in capsys.readouterr().out


def test_a_spec_far_from_the_working_folder_is_named_in_full(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shop.anchor)
    spec = shop / "specs/bad.deed"
    assert main(["check", str(spec)]) == 1
    assert f"┌─ {spec.as_posix()}:2:11\n" in capsys.readouterr().out


def test_a_file_that_is_no_text_is_named_from_the_working_folder(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shop / "src")
    (shop / "specs/bad.deed").write_bytes("machine Ä".encode("latin-1"))
    assert main(["check", "../specs/bad.deed"]) == 2
    assert "../specs/bad.deed:1: " in capsys.readouterr().err
