"""What a text means as a tree, and that the tree says where each thing stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from deedbox_dsl import syntax as s
from deedbox_dsl.parse import parse
from deedbox_dsl.source import Text

SPECS = sorted(Path(__file__).parents[3].joinpath("specs").glob("*/*.deed"))


def module(content: str) -> s.Module:
    read, problems = parse(Text.of("a.deed", content))
    assert not problems, problems
    return read


def expression(content: str) -> s.Expr:
    found = module(f"machine M version 1 {{ across p: {content} }}")
    (machine,) = found.declarations
    assert isinstance(machine, s.Machine)
    (item,) = machine.items
    assert isinstance(item, s.Property)
    return item.pred.expr


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_gallery_parses(path: Path) -> None:
    text = Text.of(path.name, path.read_text("utf-8"))
    read, problems = parse(text)
    assert problems == ()
    assert read.declarations


def test_an_empty_file_is_an_empty_module() -> None:
    assert module("").declarations == ()
    assert module("\n// only a comment\n").declarations == ()


def test_names_point_at_themselves_and_declarations_at_their_keyword() -> None:
    content = "/// What it is.\nmachine Lease version 3 {\n  state Held\n}"
    (machine,) = module(content).declarations
    assert isinstance(machine, s.Machine)
    assert (machine.span.line, machine.span.column) == (2, 1)
    assert (machine.name.span.line, machine.name.span.column) == (2, 9)
    (state,) = machine.items
    assert isinstance(state, s.State)
    assert (state.name.span.line, state.name.span.column) == (3, 9)
    assert content[state.span.start : state.span.end] == "state Held"


def test_a_doc_comment_is_joined_and_freed_of_its_slashes() -> None:
    (record,) = module("/// One.\n///\n///  Two \nrecord R { a: int }").declarations
    assert isinstance(record, s.Record)
    assert record.doc == "One.\n\n Two"


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        ("0ms", 0),
        ("25ms", 25),
        ("1s", 1000),
        ("1_0m", 600_000),
        ("2h", 7_200_000),
        ("1d", 86_400_000),
    ],
)
def test_a_duration_is_milliseconds_and_keeps_how_it_was_written(
    written: str, milliseconds: int
) -> None:
    literal = expression(written)
    assert isinstance(literal, s.DurationLit)
    assert (literal.milliseconds, literal.written) == (milliseconds, written)


def grouped(expr: s.Expr) -> str:
    """An expression with every grouping made visible."""
    match expr:
        case s.Binary():
            return f"({grouped(expr.left)} {expr.operator} {grouped(expr.right)})"
        case s.Unary():
            return f"({expr.operator} {grouped(expr.operand)})"
        case s.Is():
            return (
                f"({grouped(expr.subject)} is {'|'.join(n.text for n in expr.names)})"
            )
        case s.Var():
            return expr.name
        case s.IntLit():
            return str(expr.value)
        case _:
            raise AssertionError(expr)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a or b and c", "(a or (b and c))"),
        ("not a == b", "(not (a == b))"),
        ("not a and b", "((not a) and b)"),
        ("a - b - c", "((a - b) - c)"),
        ("a - b * c", "(a - (b * c))"),
        ("-a * b", "((- a) * b)"),
        ("a and b implies c or d", "((a and b) implies (c or d))"),
        ("a is B | C and d", "((a is B|C) and d)"),
        ("a + 1 < b", "((a + 1) < b)"),
    ],
)
def test_operators_bind_as_they_are_read(written: str, meant: str) -> None:
    assert grouped(expression(written)) == meant


def test_range_limits_may_be_negative() -> None:
    (alias,) = module("type Celsius = int in -40..1_00").declarations
    assert isinstance(alias, s.Alias)
    assert isinstance(alias.low, s.IntLit)
    assert isinstance(alias.high, s.IntLit)
    assert (alias.low.value, alias.high.value) == (-40, 100)


def test_words_of_the_options_are_names_elsewhere() -> None:
    content = "record R { page: int, first: int, next: text, due: instant, limit: int }"
    (record,) = module(content).declarations
    assert isinstance(record, s.Record)
    assert [f.name.text for f in record.fields] == [
        "page",
        "first",
        "next",
        "due",
        "limit",
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_line_ending_gives_the_same_tree_and_places(ending: str) -> None:
    content = "\ufefftype A = text\n\nmachine M version 1 {\n  state B\n}\n"
    text = Text.of("a.deed", content.replace("\n", ending))
    plain, _ = parse(Text.of("a.deed", content))
    read, problems = parse(text)
    assert problems == ()
    assert read == plain
    assert [d.span for d in read.declarations] == [d.span for d in plain.declarations]


def test_a_line_of_slashes_documents_nothing() -> None:
    (alias,) = module(
        "//////////\n//// Ids\n/// Who it is.\ntype Id = text"
    ).declarations
    assert isinstance(alias, s.Alias)
    assert alias.doc == "Who it is."
