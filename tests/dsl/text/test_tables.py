"""The saved parser is the grammar's, and the grammar has no silent choices in it."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import lark
import pytest
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


def test_a_parser_that_another_lark_saved_is_built_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saved_here = tables.parser()
    monkeypatch.setattr(lark, "__version__", "0")
    tables.parser.cache_clear()
    try:
        assert tables.parser() is not saved_here
        assert not isinstance(tables.tree_of("module a\n", "start"), tables.Stop)
    finally:
        tables.parser.cache_clear()


def test_a_character_that_no_terminal_begins_with_stops_the_text() -> None:
    found = tables.tree_of("module §", "start")
    assert isinstance(found, tables.Stop)
    assert found.position == 7


def test_what_is_expected_is_told_in_a_few_words() -> None:
    assert phrases.expectation(()) == ""
    many = [f"`{each}`" for each in "abcdefgh"]
    assert phrases.expectation(many) == (
        "expected `a`, `b`, `c`, `d`, `e` or something like it"
    )
