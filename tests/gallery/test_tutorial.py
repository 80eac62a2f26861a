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
DERIVED = re.compile(r"^<!-- (\S+) is (\S+) with `(.+)` for `(.+)` -->$", re.M)
EFFORT = re.compile(r"; \S+ states, \S+ steps, \d+ deep, \S+ s$", re.M)
PROGRAMS = {"deedbox": [sys.executable, "-m", "deedbox"], "python": [sys.executable]}


def steps() -> Iterator[tuple[int, str, str]]:
    """In the order of the page: a file and its text, or a command and what it prints."""
    texts = {found[1]: found[2] for found in FILE.finditer(PAGE)}
    for found in FILE.finditer(PAGE):
        yield found.start(), found[1], found[2]
    for found in DERIVED.finditer(PAGE):
        assert found[4] in texts[found[2]]
        yield found.start(), found[1], texts[found[2]].replace(found[4], found[3])
    for console in CONSOLE.finditer(PAGE):
        for found in COMMAND.finditer(console[1]):
            yield console.start(1) + found.start(), f"$ {found[1]}", found[2]


def timeless(printed: str) -> str:
    """Without what differs from machine to machine, and with the state of the search."""
    return EFFORT.sub("", printed).rstrip()


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
        assert timeless(done.stdout + done.stderr) == timeless(text), name
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
