"""`make setup` explains itself where it cannot work, and does nothing twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
# `make test` runs these tests: what it tells a make below it is not for this one.
OUTSIDE: Final = {
    name: value for name, value in os.environ.items() if "MAKE" not in name
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a space in its name, and what `make setup` reads."""
    project = tmp_path / "a project"
    (project / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup", project / "scripts")
    shutil.copy(ROOT / "Makefile", project)
    shutil.copy(ROOT / "pyproject.toml", project)
    return project


def interpreter(folder: Path, *lines: str) -> Path:
    """A program that stands for a Python of another make."""
    program = folder / "python"
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)
    return program


def setup(project: Path, python: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "setup"],
        cwd=project,
        env={**OUTSIDE, "PYTHON": str(python)},
        capture_output=True,
        text=True,
    )


def test_a_python_that_is_too_old_is_named_with_the_way_out(
    project: Path, tmp_path: Path
) -> None:
    old = interpreter(
        tmp_path, 'if [ "$1" = --version ]; then echo Python 3.9.2; exit; fi', "exit 1"
    )
    ran = setup(project, old)
    assert ran.returncode == 2
    assert "needs Python 3.11 or newer; here is: Python 3.9.2" in ran.stderr
    assert "make setup PYTHON=" in ran.stderr
    assert not (project / ".venv").exists()


def test_a_python_without_venv_is_told_how_to_get_it(
    project: Path, tmp_path: Path
) -> None:
    bare = interpreter(
        tmp_path,
        'case "$2" in *ensurepip*) exit 1;; esac',
        f'exec "{sys.executable}" "$@"',
    )
    ran = setup(project, bare)
    assert ran.returncode == 2
    assert "apt-get install python3-venv" in ran.stderr


def test_no_python_at_all_is_said(project: Path) -> None:
    ran = setup(project, "python-that-is-not-there")
    assert ran.returncode == 2
    assert "needs Python 3.11 or newer" in ran.stderr


def test_a_complete_environment_is_left_alone(project: Path) -> None:
    """The stamp names what it was made from, and where."""
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").symlink_to(sys.executable)
    with (project / "pyproject.toml").open() as text:
        sum_ = subprocess.run(["cksum"], stdin=text, capture_output=True, text=True)
    stamp = f"{sum_.stdout.strip()} {project}"
    (project / ".venv" / ".complete").write_text(stamp)
    ran = setup(project, "python-that-is-not-there")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_help_names_every_target(project: Path) -> None:
    ran = subprocess.run(
        ["make"], cwd=project, env=OUTSIDE, capture_output=True, text=True
    )
    text = (project / "Makefile").read_text()
    named = [line.split()[1] for line in ran.stdout.splitlines()]
    assert named == [
        line.removeprefix(".PHONY: ")
        for line in text.splitlines()
        if line.startswith(".PHONY: ")
    ]
