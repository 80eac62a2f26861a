"""The one layout of a spec, as people meet it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from deedbox_dsl import syntax
from deedbox_dsl.format import format_text, format_tree
from deedbox_dsl.parse import parse
from deedbox_dsl.source import Text

from tests.dsl.text.trees import remarks

SPECS = sorted(Path(__file__).parents[3].joinpath("specs").glob("*/*.deed"))


def formatted(content: str) -> str:
    result = format_text(Text.of("a.deed", content))
    assert isinstance(result, str), result
    return result


def tree(content: str) -> syntax.Module:
    module, problems = parse(Text.of("a.deed", content))
    assert not problems, (problems, content)
    return module


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


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_tree_without_its_text_is_printed_as_one_that_parses_to_it(
    path: Path,
) -> None:
    whole = tree(path.read_text("utf-8"))
    assert tree(format_tree(whole)) == whole


def test_a_policy_that_nobody_wrote_is_printed_from_its_numbers() -> None:
    module = tree("policy p { first 90s factor 2 max 2h attempts 3 jitter 20% }\n")
    (policy,) = module.declarations
    assert isinstance(policy, syntax.Policy)
    unwritten = tuple(replace(item, written="") for item in policy.items)
    printed = format_tree(
        replace(module, declarations=(replace(policy, items=unwritten),))
    )
    assert printed == "policy p { first 90s factor 2 max 2h attempts 3 jitter 20% }\n"


def test_what_is_empty_is_printed_empty() -> None:
    source = (
        "machine M version 1 {\n  command sweep()\n  start { do sweep() goto A }\n}\n"
    )
    assert formatted(source) == source
    assert formatted("machine M version 1 {\n}\n") == "machine M version 1 {}\n"


def test_a_choice_of_several_lines_stays_so() -> None:
    source = "choice Place {\n    Desk { number: int }\n  | Floor\n}\n"
    assert formatted(source) == source


def test_a_migration_of_a_command_is_printed_as_it_is_written() -> None:
    source = """machine M version 2 {
  migrate from 1 {
    state A { .. }
    drop state B becomes A
    command sweep { .., pieces: 1 }
  }
}
"""
    assert formatted(source) == source
