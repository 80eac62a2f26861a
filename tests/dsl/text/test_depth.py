"""Depth is bounded in words, never by the stack (C63)."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from deedbox_dsl.format import format_text
from deedbox_dsl.parse import parse
from deedbox_dsl.problems import Problem
from deedbox_dsl.source import Text

SHAPES: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "(" * n + "a" + ")" * n,
    "unbalanced parentheses": lambda n: "(" * n + "a",
    "brackets": lambda n: "[" * n + "]" * n,
    "not": lambda n: "not " * n + "a",
    "minus": lambda n: "-" * n + "a",
    "sum": lambda n: " + ".join(["a"] * n),
    "and": lambda n: " and ".join(["a"] * n),
    "implies": lambda n: "(a implies " * n + "a" + ")" * n,
    "conditions": lambda n: "if a then b else " * n + "c",
    "members": lambda n: "a" + ".b" * n,
    "calls": lambda n: "a" + "()" * n,
    "arguments": lambda n: "f(" * n + "a" + ")" * n,
    "braces": lambda n: "a {" * n + "}" * n,
}


def problems_of(expression: str) -> tuple[Problem, ...]:
    content = f"machine M version 1 {{\n  across p: {expression}\n}}\n"
    return parse(Text.of("a.deed", content))[1]


@pytest.mark.parametrize("depth", [200, 3_000, 20_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_nested_too_deeply_is_one_problem(shape: str, depth: int) -> None:
    limit = sys.getrecursionlimit()
    problems = problems_of(SHAPES[shape](depth))
    assert sys.getrecursionlimit() == limit
    codes = {problem.code for problem in problems}
    assert codes <= {"DEED106", "DEED101", "DEED102"}
    assert problems
    if depth < 20_000 and "unbalanced" not in shape and shape != "braces":
        assert [problem.code for problem in problems] == ["DEED106"]
        assert problems[0].span.line == 2


@pytest.mark.parametrize(
    "shape", sorted(set(SHAPES) - {"unbalanced parentheses", "brackets", "braces"})
)
def test_a_depth_of_fifty_is_no_problem(shape: str) -> None:
    assert problems_of(SHAPES[shape](50)) == ()


def test_an_expression_as_deep_as_allowed_can_be_formatted() -> None:
    content = f"machine M version 1 {{ across p: {SHAPES['conditions'](60)} }}"
    assert isinstance(format_text(Text.of("a.deed", content)), str)


def test_nested_types_and_actions_are_bounded_too() -> None:
    nested = "list[" * 500 + "int" + "]" * 500
    codes = [p.code for p in parse(Text.of("a", f"type T = {nested}"))[1]]
    assert codes == ["DEED106"]
    chained = "retry p then " * 500 + "next"
    content = f"retry R version 1 {{ spent => {chained} }}"
    assert [p.code for p in parse(Text.of("a", content))[1]] == ["DEED106"]


def test_a_file_too_long_to_be_a_spec_is_refused_by_name() -> None:
    content = "machine M version 1 { across p: f(" + "a, " * 60_000 + "a) }"
    (problem,) = parse(Text.of("a.deed", content))[1]
    assert "more than 100,000 words" in problem.message
