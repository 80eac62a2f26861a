"""The laws of the formatter: same tree, same comments, nothing to do a second time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from deedbox_dsl import syntax
from deedbox_dsl.format import format_text, format_tree
from deedbox_dsl.parse import parse
from deedbox_dsl.parse.lexemes import scan
from deedbox_dsl.source import Text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dsl.text.trees import modules

SPECS = sorted(Path(__file__).parents[3].joinpath("specs").glob("*/*.deed"))


def formatted(content: str) -> str:
    result = format_text(Text.of("a.deed", content))
    assert isinstance(result, str), result
    return result


def tree(content: str) -> syntax.Module:
    module, problems = parse(Text.of("a.deed", content))
    assert not problems, (problems, content)
    return module


slow_to_draw = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow]
)


@slow_to_draw
@given(modules)
def test_a_printed_tree_parses_to_itself(module: syntax.Module) -> None:
    assert tree(format_tree(module)) == module


@slow_to_draw
@given(modules)
def test_formatting_keeps_the_tree_and_is_done_after_once(
    module: syntax.Module,
) -> None:
    once = formatted(format_tree(module))
    assert tree(once) == module
    assert formatted(once) == once


@slow_to_draw
@given(modules, st.integers(0, 2**32))
def test_no_comment_is_lost_wherever_it_stands(
    module: syntax.Module, seed: int
) -> None:
    chance = random.Random(seed)
    content = format_tree(module)
    places = [0, *(lexeme.end for lexeme in scan(Text.of("", content)).lexemes)]
    for number, place in enumerate(
        sorted(chance.sample(places, min(len(places), 4)), reverse=True)
    ):
        blank = chance.choice(("", "\n", "\n\n\n"))
        comment = f"{blank}  // remark {number}\n"
        content = content[:place] + comment + content[place:]
    once = formatted(content)
    assert tree(once) == tree(content)
    assert remarks(once) == remarks(content)
    assert formatted(once) == once


def remarks(content: str) -> list[str]:
    return sorted(each.text for each in scan(Text.of("", content)).comments)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_gallery_formats_to_equal_trees(path: Path) -> None:
    content = path.read_text("utf-8")
    once = formatted(content)
    assert tree(once) == tree(content)
    assert formatted(once) == once
    assert max(map(len, once.split("\n"))) <= 120
    assert remarks(once) == remarks(content)


def test_arrows_and_bars_of_one_command_are_aligned() -> None:
    source = """
retry R version 1 {
  do pull(a: int) -> pulled { n: int } => done Complete { n } | lost => next
  | silence after 30s => again
}
"""
    assert (
        formatted(source)
        == """\
retry R version 1 {
  do pull(a: int)
    -> pulled { n: int } => done Complete { n }
     | lost              => next
     | silence after 30s => again
}
"""
    )


def test_the_author_chooses_one_line_or_several_where_both_fit() -> None:
    one = "start { do c(a) goto B }"
    several = "start {\n    do c(a)\n    goto B\n  }"
    for block in (one, several):
        machine = f"machine M version 1 {{\n  {block}\n}}\n"
        assert formatted(machine) == machine


def test_numbers_and_durations_stay_as_they_are_written() -> None:
    source = "type Cents = int in 0..100_000_000\n\npolicy p { first 60s factor 2.0 }\n"
    assert formatted(source) == source


def test_at_most_one_empty_line_is_kept() -> None:
    assert formatted("type A = text\n\n\n\ntype B = text\n") == (
        "type A = text\n\ntype B = text\n"
    )
    assert formatted("type A = text\ntype B = text") == "type A = text\ntype B = text\n"


def test_comments_stay_beside_what_they_speak_of() -> None:
    source = """\
// The head of the file.

module a.b

record Job {
  id: text,  // who it is
  // when it is wanted
  due: instant,
}

machine M version 1 {
  key id: text  // the identity

  in Free {
    // Nothing happens here
  }
}
// The end.
"""
    assert formatted(source) == source


def test_a_text_with_problems_is_not_formatted() -> None:
    result = format_text(Text.of("a.deed", "machin M version 1 {}"))
    assert not isinstance(result, str)
    assert [problem.code for problem in result] == ["DEED101"]


def test_a_lowered_machine_is_set_in_groups() -> None:
    machine = tree(
        "machine M version 1 { key a: text state A state B message X"
        " start { do c(a) goto A } in A { on X { goto B } } in B { ignore X } }"
    )
    assert (
        format_tree(machine)
        == """\
machine M version 1 {
  key a: text

  state A
  state B

  message X

  start {
    do c(a)
    goto A
  }

  in A {
    on X { goto B }
  }

  in B {
    ignore X
  }
}
"""
    )
