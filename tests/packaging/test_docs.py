"""What the pages of docs/ say about the repository is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = sorted((ROOT / "docs").rglob("*.md"))
ARCHITECTURE: Final = (ROOT / "docs" / "architecture.md").read_text()
TESTED: Final[list[tuple[str, str]]] = re.findall(
    r"^\| (R\d+) \| .* \| `(\w+)` \|$", ARCHITECTURE, re.M
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_rule_stands_in_the_architecture() -> None:
    rules = re.findall(r"^\| (R\d+) \|", ARCHITECTURE, re.M)
    assert rules == [f"R{number}" for number in range(1, 21)]


@pytest.mark.parametrize(("rule", "module"), TESTED)
def test_a_rule_is_cited_by_the_tests_that_it_names(rule: str, module: str) -> None:
    text = (ROOT / "tests" / "runtime" / f"{module}.py").read_text()
    assert re.search(rf"\b{rule}\b", text)
