"""The project of the guide is what the guide says: it is made from the page, and run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from deedbox.__main__ import main

PAGE: Final = Path(__file__).parents[2] / "docs" / "guides" / "project.md"
FILE: Final = re.compile(
    r"^This is `([^`]+)`[^\n]*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILE.findall(PAGE.read_text("utf-8")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_project_of_the_guide_passes_what_it_runs_in_ci(project: Path) -> None:
    assert main(["build"]) == 0
    for words in (["fmt", "--check"], ["check"], ["build", "--check"]):
        assert main(words) == 0
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert (project / "generated" / "invoice" / "booking.py").exists()
