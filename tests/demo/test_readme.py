"""The README says what is true: its spec builds, its Python runs, its files exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text()


def block(language: str) -> str:
    """The only block of a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)
    return str(found)


def printed() -> str:
    (found,) = re.findall(r"^It prints\n\n```text\n(.*?)^```$", README, re.M | re.S)
    return str(found)


def run(folder: Path, *command: str) -> str:
    ran = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    (folder / "trips.deed").write_text(block("deed"))
    (folder / "main.py").write_text(block("python"))
    run(folder, "-m", "deedbox", "build", "trips.deed", "--out", ".")
    return folder


def test_the_python_of_the_readme_prints_what_it_says(project: Path) -> None:
    assert run(project, "main.py") == printed()


def test_the_python_of_the_readme_is_clean_under_mypy(project: Path) -> None:
    run(project, "-m", "mypy", "--strict", "main.py", "trips")


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_target_of_the_readme_is_one() -> None:
    targets = set(re.findall(r"\bmake ([a-z-]+)\b", README))
    makefile = (ROOT / "Makefile").read_text()
    assert targets
    assert [one for one in targets if f"\n{one}:" not in makefile] == []
