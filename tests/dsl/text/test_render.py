"""A problem stands under the place it speaks of, in every encoding and terminal (C65)."""

from __future__ import annotations

import json

import pytest
from deedbox_dsl.parse import parse
from deedbox_dsl.problems import Label, Problem
from deedbox_dsl.render import to_github, to_json, to_text
from deedbox_dsl.source import Text


def rendered(content: str, path: str = "specs/a.deed") -> str:
    text = Text.of(path, content)
    return to_text(parse(text)[1], {path: text})


def snippet(content: str) -> tuple[str, str]:
    """The source line and the caret line of the only problem, without their margins."""
    lines = rendered(content).splitlines()
    at = next(index for index, line in enumerate(lines) if "^" in line)
    return lines[at - 1].split("│ ", 1)[1], lines[at].split("│ ", 1)[1]


def test_a_problem_reads_like_this() -> None:
    assert (
        rendered("type Id = text\npolcy p { first 2s }\n")
        == """\
error DEED101: `polcy` does not belong here
  ┌─ specs/a.deed:2:1
  │
2 │ polcy p { first 2s }
  │ ^^^^^ did you mean `policy`?
  │
  = more: deedbox explain DEED101
"""
    )


def test_other_places_are_shown_with_their_words_and_hints_keep_their_lines() -> None:
    here = Text.of("a.deed", "one two\nthree")
    there = Text.of("b.deed", "\n" * 99 + "four")
    problem = Problem(
        "DEED401",
        here.span(4, 7),
        "`two` is not decided",
        label="here",
        others=(
            Label(here.span(0, 3), "same line"),
            Label(there.span(99, 103), "declared here"),
        ),
        hints=("Add one of:   this\n              that",),
    )
    assert (
        to_text([problem], {"a.deed": here, "b.deed": there})
        == """\
error DEED401: `two` is not decided
    ┌─ a.deed:1:5
    │
  1 │ one two
    │     ^^^ here
    │ --- same line
    │
    ├─ b.deed:100:1
100 │ four
    │ ---- declared here
    │
    = A message nobody planned for is lost, and in a durable machine it is lost for good.
    = Add one of:   this
                    that
    = more: deedbox explain DEED401
"""
    )


@pytest.mark.parametrize(
    ("before", "columns"),
    [
        ("", 0),
        ("\t\t", 2),
        ("   ", 3),
        ('"é" ', 4),
        ('"e\u0301" ', 5),
        ('"日本" ', 5),
        ('"🎉" ', 4),
    ],
)
def test_the_caret_stands_under_the_character(before: str, columns: int) -> None:
    content = f"allow {before};"
    source, carets = snippet(content)
    (problem,) = (p for p in parse(Text.of("a", content))[1] if p.code == "DEED103")
    assert problem.span.column == len("allow ") + columns + 1
    lead = carets[: carets.index("^")]
    assert lead.count("\t") == before.count("\t")
    assert width(lead) == width(source[: source.index(";")])


def width(text: str) -> int:
    """How wide a terminal shows these few characters."""
    wide = sum(2 for char in text if char in "日本🎉")
    return wide + sum(1 for char in text if char not in "日本🎉\u0301")


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_endings_and_byte_order_marks_change_nothing(
    ending: str, mark: str
) -> None:
    content = "type Id = text\n\npolcy p { first 2s }\n"
    assert rendered(mark + content.replace("\n", ending)) == rendered(content)


def test_the_end_of_a_file_is_a_place() -> None:
    source, carets = snippet("type Id")
    assert (source, carets) == ("type Id", "       ^ expected `=`")


def test_a_spec_cannot_speak_to_the_terminal() -> None:
    out = rendered('type Id = "\x1b[31m\u202e" \x1b')
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "␛" in out


def test_a_long_line_is_shown_around_the_place() -> None:
    out = rendered("// " + "x" * 5000 + "\n" + "type Id = " + "a" * 5000 + " ;\n")
    assert max(map(len, out.splitlines())) < 200
    source, carets = snippet("type Id = " + "a" * 5000 + " ;\n")
    assert source[carets.index("^")] == ";"


def test_json_carries_exact_places_and_edits() -> None:
    content = "type Id = text\npolcy p { first 2s }\n"
    text = Text.of("a.deed", content)
    (document,) = json.loads(to_json(parse(text)[1], {"a.deed": text}))
    assert document["code"] == "DEED101"
    assert document["severity"] == "error"
    assert document["span"] == {
        "path": "a.deed",
        "start": 15,
        "end": 20,
        "line": 2,
        "column": 1,
        "end_line": 2,
        "end_column": 6,
    }
    ((edit,),) = (fix["edits"] for fix in document["fixes"])
    start, end = edit["span"]["start"], edit["span"]["end"]
    repaired = content[:start] + edit["text"] + content[end:]
    assert repaired.splitlines()[1] == "policy p { first 2s }"


def test_annotations_escape_what_would_end_them() -> None:
    text = Text.of("a,b:c.deed", "x")
    problem = Problem("DEED101", text.span(0, 1), "50%\nmore", hints=("a\nb",))
    assert to_github([problem], {text.path: text}) == (
        "::error file=a%2Cb%3Ac.deed,line=1,col=1,endLine=1,endColumn=2,"
        "title=DEED101 This is not what is expected here::50%25%0Amore%0Aa%0Ab\n"
    )


def test_styles_are_laid_around_the_same_text() -> None:
    text = Text.of("a.deed", "polcy p")
    problems = parse(text)[1]
    painted = to_text(problems, {"a.deed": text}, lambda _style, said: f"<{said}>")
    assert painted.replace("<", "").replace(">", "") == to_text(
        problems, {"a.deed": text}
    )


def test_a_place_in_a_file_that_is_not_at_hand_is_as_long_as_it_says() -> None:
    problem = Problem("DEED901", Text.of("a.py", "0123456789").span(2, 5), "gone")
    (found,) = json.loads(to_json((problem,), {}))
    assert (found["span"]["end_line"], found["span"]["end_column"]) == (1, 6)


def test_a_problem_names_its_file_as_the_reader_calls_it() -> None:
    text = Text.of("specs/a.deed", "polcy p { first 2s }\n")
    problems, texts = parse(text)[1], {"specs/a.deed": text}
    assert "┌─ ../specs/a.deed:1:1\n" in to_text(
        problems, texts, called=lambda path: f"../{path}"
    )
    assert "file=sub/specs/a.deed," in to_github(
        problems, texts, lambda path: f"sub/{path}"
    )
