"""The page of diagnostics is what the table says; `deedbox explain --all` writes it."""

from __future__ import annotations

from pathlib import Path

from deedbox_dsl.problems import entries
from deedbox_generator.views import diagnostics

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "diagnostics.md"


def test_the_page_of_diagnostics_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == diagnostics(entries().values())
