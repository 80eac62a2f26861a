"""The saved parser is the grammar's, and the grammar has no silent choices in it."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from deedbox_dsl.parse import phrases, tables
from deedbox_dsl.parse.build_tables import saved


def test_the_saved_tables_are_those_of_the_grammar() -> None:
    kept = files("deedbox_dsl.parse").joinpath("tables.json").read_text("utf-8")
    assert saved(tables.build()) == kept


def test_no_two_terminals_and_no_two_rules_compete() -> None:
    tables.build(strict=True)


def test_every_terminal_has_words_for_a_reader() -> None:
    names = {terminal.name for terminal in tables.build().terminals}
    for name in names - {"COMMENT", "BANNER", "SPACE"}:
        (phrase,) = phrases.phrases_of(frozenset((name,)), "the end")
        assert "__" not in phrase
        assert name not in phrase or phrase == f"`{name}`".lower()


def test_the_parser_is_loaded_only_when_something_is_parsed() -> None:
    root = Path(__file__).parents[3] / "dsl"
    said = subprocess.run(
        [sys.executable, "-c", "import deedbox_dsl, sys; print('lark' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(root)},
    )
    assert said.stdout == "False\n"
