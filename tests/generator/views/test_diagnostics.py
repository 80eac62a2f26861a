"""The page of all diagnostics in the docs is what the table says."""

from __future__ import annotations

from pathlib import Path

import pytest
from deedbox.__main__ import main
from deedbox_dsl.problems import entries

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "diagnostics.md"


def test_the_page_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`deedbox explain --all > docs/reference/diagnostics.md` makes it."""
    assert main(["explain", "--all"]) == 0
    assert PAGE.read_text() == capsys.readouterr().out


def test_every_code_has_its_place_and_its_way_there() -> None:
    text = PAGE.read_text()
    for code in entries():
        assert f"](#{code.lower()})" in text
        assert f"\n### {code}\n" in text
