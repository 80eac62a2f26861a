"""The tutorial, followed from top to bottom: its files written, its commands run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "tutorial.md").read_text()
FILE = re.compile(r"^This is [^`\n]*`([^`\n]+)`\.\n\n```\w+\n(.*?)^```$", re.M | re.S)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
PROGRAMS = {"deedbox": [sys.executable, "-m", "deedbox"], "python": [sys.executable]}


def steps() -> Iterator[tuple[int, str, str]]:
    """In the order of the page: a file and its text, or a command and what it prints."""
    for found in FILE.finditer(PAGE):
        yield found.start(), found[1], found[2]
    for console in CONSOLE.finditer(PAGE):
        for found in COMMAND.finditer(console[1]):
            yield console.start(1) + found.start(), f"$ {found[1]}", found[2]


def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    ran = 0
    for _, name, text in sorted(steps()):
        if not name.startswith("$ "):
            (tmp_path / name).write_text(text)
            continue
        program, *words = name[2:].split()
        done = subprocess.run(
            [*PROGRAMS[program], *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout + done.stderr == text, name
        ran += 1
    assert ran == PAGE.count("\n$ ")


@pytest.mark.parametrize(
    "page", sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
)
def test_every_link_of_the_docs_leads_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (DOCS / page).read_text())
    assert [
        link for link in links if not (DOCS / page).parent.joinpath(link).exists()
    ] == []
