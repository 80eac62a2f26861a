# ruff: noqa: RUF001  (confusable characters are what is tested)
"""Lexemes, and the slips that are seen without a grammar."""

from __future__ import annotations

import pytest
from deedbox_dsl.encoding import decode
from deedbox_dsl.parse.lexemes import scan
from deedbox_dsl.problems import Problem
from deedbox_dsl.source import Text


def the_problem(content: str) -> Problem:
    (problem,) = scan(Text.of("a.deed", content)).problems
    return problem


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("30sec", "30s"),
        ("5min", "5m"),
        ("2hours", "2h"),
        ("1day", "1d"),
        ("10millis", "10ms"),
        ("1.5s", "1500ms"),
        ("0.5h", "30m"),
        ("1h30m", "90m"),
        ("1d12h", "36h"),
        ("10S", "10s"),
        ("1w", "7d"),
        ("4weeks", "28d"),
    ],
)
def test_a_slip_of_a_duration_is_answered_with_the_duration(
    written: str, meant: str
) -> None:
    problem = the_problem(f"first {written}")
    assert problem.code == "DEED105"
    assert problem.label == f"did you mean `{meant}`?"
    assert [edit.text for fix in problem.fixes for edit in fix.edits] == [meant]


@pytest.mark.parametrize(
    "written", ["30parsecs", "1.0001ms", "3us", "1.5w", "2months", "1y"]
)
def test_what_is_near_no_duration_gets_no_suggestion(written: str) -> None:
    problem = the_problem(f"first {written}")
    assert (problem.code, problem.fixes) == ("DEED105", ())


@pytest.mark.parametrize("written", ["0x1F", "0b101", "0o17", "1e9", "1E9"])
def test_a_number_of_another_notation_is_not_taken_for_a_duration(written: str) -> None:
    problem = the_problem(f"first {written}")
    assert (problem.code, problem.fixes) == ("DEED101", ())
    assert "decimal" in problem.message


@pytest.mark.parametrize(
    "number", ["9223372036854775808", "9" * 5_000, "1" + "_0" * 40, "9" * 18 + "d"]
)
def test_a_number_beyond_64_bits_is_no_number(number: str) -> None:
    assert "does not fit in 64 bits" in the_problem(number).message


@pytest.mark.parametrize("number", ["9223372036854775807", "0" * 20 + "7", "1_000s"])
def test_every_number_of_64_bits_is_one(number: str) -> None:
    assert scan(Text.of("a", number)).problems == ()


@pytest.mark.parametrize(
    ("character", "said"),
    [
        (";", "`;`"),
        ("\0", "the control character U+0000"),
        ("\ufeff", "U+FEFF (ZERO WIDTH NO-BREAK SPACE)"),
        ("\u200b", "U+200B (ZERO WIDTH SPACE)"),
        ("\u202e", "U+202E (RIGHT-TO-LEFT OVERRIDE)"),
        ("\u00a0", "U+00A0 (NO-BREAK SPACE)"),
        ("→", "`→` (RIGHTWARDS ARROW)"),
        ("🎉", "`🎉` (PARTY POPPER)"),
        ("\f", "the control character U+000C"),
    ],
)
def test_a_strange_character_is_named_so_that_it_can_be_found(
    character: str, said: str
) -> None:
    problem = the_problem(f"state Off {character} final")
    assert problem.code == "DEED103"
    assert problem.message.startswith(said)
    assert (problem.span.line, problem.span.column) == (1, 11)


@pytest.mark.parametrize(
    ("character", "plain"),
    [("“", '"'), ("—", "-"), ("…", ".."), ("≤", "<="), ("\u3000", " ")],
)
def test_a_character_that_means_another_is_exchanged(
    character: str, plain: str
) -> None:
    ((edit,),) = (fix.edits for fix in the_problem(f"a {character} b").fixes)
    assert edit.text == plain


@pytest.mark.parametrize("name", ["Оff", "ｏｆｆ", "Ηeld"])
def test_a_name_that_only_looks_plain_is_spelt_plainly(name: str) -> None:
    ((edit,),) = (fix.edits for fix in the_problem(f"state {name}").fixes)
    assert edit.text.isascii()


def test_one_line_of_strange_characters_is_one_problem() -> None:
    assert len(scan(Text.of("a", "§§§ ; § \n ;")).problems) == 2


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('reject "no }', '"no'),
        ('reject "no', '"no'),
        ('f("a, b)', '"a, b'),
        ('"', '"'),
    ],
)
def test_an_unfinished_text_leaves_the_brackets_after_it(line: str, text: str) -> None:
    scanned = scan(Text.of("a", line + "\nnext"))
    assert [p.code for p in scanned.problems] == ["DEED104"]
    assert [each.text for each in scanned.lexemes if each.sort == "text"] == [text]
    assert scanned.lexemes[-1].text == "next"


def test_comments_are_kept_apart() -> None:
    scanned = scan(Text.of("a", 'a // one\n/// doc\n"// no" //two'))
    assert [each.text for each in scanned.comments] == ["// one", "//two"]
    assert [each.sort for each in scanned.lexemes] == ["word", "doc", "text"]


def test_utf_8_is_read_with_and_without_its_mark() -> None:
    assert decode("a", "für\r\n".encode()) == "für\r\n"
    assert decode("a", b"\xef\xbb\xbfa") == "a"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_encodings_are_refused_by_name(encoding: str) -> None:
    refused = decode("a", "type A = text".encode(encoding))
    assert isinstance(refused, Problem)
    assert encoding.upper() in refused.message


def test_a_byte_that_is_no_utf_8_is_shown_where_it_stands() -> None:
    refused = decode("a.deed", "// für\r\n// f".encode() + b"\xfcr")
    assert isinstance(refused, Problem)
    assert "0xFC" in refused.message
    assert (refused.code, refused.span.line, refused.span.column) == ("DEED103", 2, 5)


def test_four_slashes_are_a_comment_like_two() -> None:
    scanned = scan(Text.of("a", "//// head ////\n/// doc\n////\n///"))
    assert [each.text for each in scanned.comments] == ["//// head ////", "////"]
    assert [each.text for each in scanned.lexemes] == ["/// doc", "///"]


def test_a_very_long_number_with_a_strange_unit_gets_no_suggestion() -> None:
    (problem,) = scan(Text.of("a.deed", f"{'1' * 50}parsecs")).problems
    assert problem.code == "DEED105"
    assert problem.fixes == ()


def test_a_wide_semicolon_is_written_as_nothing() -> None:
    (problem,) = scan(Text.of("a.deed", "key \uff1b id")).problems
    assert [fix.title for fix in problem.fixes] == ["Write nothing"]


def test_a_text_of_more_words_than_a_spec_has_is_one_problem() -> None:
    scanned = scan(Text.of("a.deed", "word " * 100_001))
    (problem,) = scanned.problems
    assert (problem.code, scanned.lexemes) == ("DEED101", ())
