"""The docs are true: the tutorial is followed from top to bottom, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_every_command_of_the_tutorial_prints_what_the_page_shows() -> None:
    """`python scripts/tutorial.py` puts in what they print."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "tutorial.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "page", sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
)
def test_every_link_of_the_docs_leads_somewhere(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.M | re.S)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    found = (DOCS / page).parent
    assert [link for link in links if not found.joinpath(link).exists()] == []
