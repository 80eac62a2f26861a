"""Text of a spec is data in what is generated, whatever it is made of (C60)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable

import pytest
from deedbox_dsl import compile
from deedbox_dsl.core import Module
from deedbox_generator.emit import emit, formatted
from deedbox_generator.quoting import comment, docstring, literal
from hypothesis import given, settings
from hypothesis import strategies as st

NASTY = "\"'\\\n\r\t\0\f\x1b {}%#\u2028\u2029\u00a0\ufeff"
texts = st.one_of(
    st.text(alphabet=NASTY + "aN{\"\"\"'''", max_size=30),
    st.text(max_size=30),
    st.sampled_from(
        [
            '"""',
            "'''",
            'ends with "',
            "ends with \\",
            "\\N{",
            '""""',
            "import os\nos.x()",
        ]
    ),
)


@given(texts)
def test_a_literal_has_exactly_the_value_of_the_text(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text


@given(texts)
def test_a_docstring_keeps_its_text_through_black(text: str) -> None:
    source = formatted(f"class Made:\n    {docstring(text)}\n\n    field: int\n")
    (made,) = ast.parse(source).body
    assert isinstance(made, ast.ClassDef)
    assert [type(each) for each in made.body] == [ast.Expr, ast.AnnAssign]
    kept = ast.get_docstring(made) or ""
    dedented = inspect.cleandoc(inspect.cleandoc(text))
    wanted = [line.rstrip() for line in dedented.split("\n")]
    assert kept.strip() == "\n".join(wanted).strip()


@given(texts)
def test_a_comment_never_leaves_its_line(text: str) -> None:
    assert ast.dump(ast.parse(f"x = 1  # {comment(text)}")) == ast.dump(
        ast.parse("x = 1")
    )


SPEC = """module made.here
{docs}
machine Noted version 1 {{
  key id: text
{docs}
  state Ready
  final Over
{docs}
  message Go {{ word: text }}
  start {{ goto Ready }}
  in Ready {{
    on Go as m when m.word == "{text}" {{ goto Over }}
    on Go {{ reject "{text}" }}
  }}
}}
"""
printable = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters='"\n\r\0'), max_size=20
)


def modules_of(docs: list[str], text: str) -> tuple[Module, ...]:
    source = SPEC.format(docs="\n".join(f"/// d{each}" for each in docs), text=text)
    return compile({"specs/made.deed": source}).modules


@settings(max_examples=15, deadline=None)
@given(st.lists(printable, min_size=2, max_size=2), printable)
def test_a_spec_with_any_words_has_the_code_of_one_without(
    docs: list[str], text: str
) -> None:
    modules = modules_of(docs, text)
    if not modules:  # a character that no text may hold, refused with its place
        return
    made = source_of(modules)
    plain = source_of(modules_of(["plain", "plain"], "plain"))
    assert shape(made) == shape(plain)


def source_of(modules: tuple[Module, ...]) -> str:
    (module,) = modules
    text = compile({module.path: ""}).texts
    return emit(modules, text)[module.path]["made/noted.py"]


def shape(source: str) -> str:
    """The tree of the code, every text constant blank."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


@pytest.mark.parametrize("word", ["it's", "100%", "{braces}", "back\\\\slash", "#"])
def test_a_text_of_the_spec_reaches_the_reducer_unchanged(
    word: str, files_of: Callable[[str], dict[str, str]]
) -> None:
    files = files_of(SPEC.format(docs="/// d", text=word))
    constants = {
        node.value
        for node in ast.walk(ast.parse(files["made/noted.py"]))
        if isinstance(node, ast.Constant)
    }
    assert word in constants
