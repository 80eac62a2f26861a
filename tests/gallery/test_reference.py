"""The reference of the language: its examples compile, and every construct has one."""

from __future__ import annotations

import dataclasses
import re
import sqlite3
from pathlib import Path

import pytest
from deedbox_dsl import compile, syntax
from deedbox_dsl.format import format_text
from deedbox_dsl.parse import parse
from deedbox_dsl.reserved import FUNCTIONS
from deedbox_dsl.source import Text
from deedbox_dsl.versions.shapes import file_name
from deedbox_dsl.versions.written_shapes import text_of
from deedbox_dsl.walk import nodes
from orders import order

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "reference/language.md"
FENCE = re.compile(r"^```deed\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RELEASED = re.compile(r"^```deed released\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: str) -> dict[str, str]:
    blocks = FENCE.findall((DOCS / page).read_text())
    return {f"{page}.{number}.deed": block for number, block in enumerate(blocks)}


def released(page: str) -> dict[str, str]:
    """The shapes of the older versions on a page, as `deedbox release` records them."""
    blocks = RELEASED.findall((DOCS / page).read_text())
    program = compile({f"{number}.deed": block for number, block in enumerate(blocks)})
    assert program.problems == ()
    return {
        f".shapes/{file_name(shape)}": text_of(shape)
        for shape in program.shapes.values()
    }


def test_the_examples_compile_together_without_a_problem() -> None:
    found = examples(PAGE)
    assert found
    problems = compile(found, released(PAGE)).problems
    assert [(p.code, p.span.path, p.span.line, p.message) for p in problems] == []


@pytest.mark.parametrize("page", [PAGE, "tutorial.md"])
def test_the_examples_are_written_in_the_one_layout(page: str) -> None:
    for path, text in examples(page).items():
        assert format_text(Text.of(path, text)) == text, path


def test_every_construct_of_the_language_has_an_example() -> None:
    shown = {
        type(node).__name__
        for path, text in examples(PAGE).items()
        for node in nodes(parse(Text.of(path, text))[0])
    }
    constructs = {
        name
        for name, kind in vars(syntax).items()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) and name != "Span"
    }
    assert constructs - shown == set()


def test_every_function_is_in_the_table() -> None:
    page = (DOCS / PAGE).read_text()
    for name in FUNCTIONS:
        assert f"`{name}(" in page, name


def test_the_query_of_the_generated_page_runs_on_the_generated_view() -> None:
    (query,) = re.findall(
        r"^```sql\n(.*?)^```$",
        (DOCS / "reference/generated.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    database = sqlite3.connect(":memory:")
    for statement in order.machine.sqlite.create:
        database.execute(statement)
    assert database.execute(query).fetchall() == []
    database.close()
