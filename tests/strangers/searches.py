"""Spin and rumur, run as their users run them: a model in, counts out."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Counts:
    """Distinct states, and steps between them."""

    states: int
    steps: int


def run(folder: Path, *command: str) -> str:
    tool = command[0]
    assert shutil.which(tool, path=None) or (folder / tool).exists(), (
        f"{tool} is not installed: scripts/strangers installs it"
    )
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found is not None, text
    return int(found[1])


def by_spin(model: str, folder: Path) -> Counts:
    """Spin's first transition, which makes the initial state, is no step of ours."""
    (folder / "model.pml").write_text(model, encoding="utf-8")
    run(folder, "spin", "-a", "model.pml")
    run(folder, "gcc", "-O0", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c")
    said = run(folder, "./pan", "-m1000000", "-w20")
    assert "max search depth too small" not in said, said
    assert number(r"errors: (\d+)", said) == 0, said
    return Counts(
        number(r"(\d+) states, stored", said), number(r"(\d+) transitions", said) - 1
    )


def by_rumur(model: str, folder: Path) -> Counts:
    (folder / "model.m").write_text(model, encoding="utf-8")
    run(
        folder,
        "rumur",
        "--deadlock-detection",
        "off",
        "--threads",
        "1",
        "--output",
        "model.c",
        "model.m",
    )
    run(folder, "gcc", "-O0", "-mcx16", "-w", "-o", "model", "model.c", "-lpthread")
    said = run(folder, "./model")
    assert "No error found" in said, said
    return Counts(
        number(r"(\d+) states, \d+ rules fired in", said),
        number(r"\d+ states, (\d+) rules fired in", said),
    )
