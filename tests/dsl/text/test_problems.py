"""The table of diagnostics says what the compiler does."""

from __future__ import annotations

import re

import pytest
from deedbox_dsl import compile
from deedbox_dsl.problems import (
    Problem,
    entries,
    files_of,
    has_errors,
    in_order,
    severity,
)
from deedbox_dsl.source import Span

# These take a search, a release or files: their own tests show them.
ELSEWHERE = {
    *("DEED703", "DEED704"),
    *("DEED801", "DEED802", "DEED803", "DEED901", "DEED902", "DEED903", "DEED904"),
}
SHOWN = [code for code in entries() if code not in ELSEWHERE]


@pytest.mark.parametrize("code", SHOWN)
def test_the_example_of_a_code_triggers_it_and_nothing_else(code: str) -> None:
    program = compile(files_of(entries()[code].example))
    assert [problem.code for problem in program.problems] == [code]


@pytest.mark.parametrize("code", SHOWN)
def test_the_counterexample_of_a_code_triggers_nothing(code: str) -> None:
    program = compile(files_of(entries()[code].counterexample))
    assert program.problems == ()


def test_every_entry_says_why_and_what_to_do() -> None:
    for code, entry in entries().items():
        assert re.fullmatch(r"DEED[1-9]\d\d", code)
        assert entry.severity in ("error", "warning")
        assert entry.title
        assert not entry.title.endswith(".")
        assert len(entry.why.splitlines()) <= 3
        assert entry.why
        assert entry.fix
        assert bool(entry.example) == bool(entry.counterexample)


def test_no_entry_blames_the_reader() -> None:
    for entry in entries().values():
        said = " ".join((entry.title, entry.why, entry.fix, entry.do_not, entry.remark))
        assert not re.search(r"(?i)\b(invalid|illegal|bad|wrong syntax)\b", said)


def test_codes_stand_in_order_and_each_once() -> None:
    codes = list(entries())
    assert codes == sorted(set(codes))


def at(offset: int, code: str = "DEED101") -> Problem:
    return Problem(code, Span("a", offset, offset + 1, 1, offset + 1), "message")


def test_problems_come_once_and_by_place() -> None:
    found = (at(5), at(2, "DEED206"), at(2), at(5))
    assert in_order(found) == (at(2), at(2, "DEED206"), at(5))


def test_warnings_alone_are_no_errors() -> None:
    assert severity("DEED206") == "warning"
    assert not has_errors((at(1, "DEED206"),))
    assert has_errors((at(1, "DEED206"), at(1)))
