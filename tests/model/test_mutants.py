"""Machines with one mistake: each is found, with the fewest faults and steps it needs."""

from __future__ import annotations

from dataclasses import fields

import pytest
from deedbox_checker.environment.promises import Promises
from deedbox_checker.properties.unasked import UNASKED

from .mistakes import IN_THE_INTERPRETER, MISTAKES, broken
from .specimens import ROOT


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_with_the_fewest_faults_and_steps(name: str) -> None:
    mistake = MISTAKES[name]
    found = broken(mistake.report())
    assert {each: found.get(each) for each in mistake.found} == dict(mistake.found)


def test_every_promise_of_the_interpreter_is_missed_when_it_is_not_kept() -> None:
    assert set(IN_THE_INTERPRETER) == {each.name for each in fields(Promises)}


def test_every_check_that_nobody_asks_for_finds_some_mistake() -> None:
    found = {name for mistake in MISTAKES.values() for name in mistake.found}
    assert set(UNASKED) <= found


def test_the_page_says_what_is_checked_of_every_machine() -> None:
    page = (ROOT / "docs" / "reference" / "verify.md").read_text(encoding="utf-8")
    for name, says in UNASKED.items():
        assert f"| `{name}` | {says} |" in page
