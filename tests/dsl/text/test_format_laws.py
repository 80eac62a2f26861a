"""The laws of the formatter: same tree, same comments, nothing to do a second time."""

from __future__ import annotations

import random
from pathlib import Path

from deedbox_dsl import syntax
from deedbox_dsl.format import format_text, format_tree
from deedbox_dsl.parse import parse
from deedbox_dsl.parse.lexemes import scan
from deedbox_dsl.source import Text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dsl.text.trees import modules, remarks

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
