"""Names: across files, written as they should be, and never two that become one."""

from __future__ import annotations

import keyword

import pytest
from deedbox_dsl import compile
from deedbox_dsl.reserved import LANGUAGE
from deedbox_dsl.spelling import pascal, snake
from deedbox_dsl.suggest import distance, nearest
from hypothesis import given
from hypothesis import strategies as st

from tests.dsl.meaning.specs import found, program

END = "  final End\n  start { goto End }\n}\n"


def small(items: str, before: str = "") -> str:
    return f"{before}machine Some version 1 {{\n  key id: text\n{items}\n{END}"


@pytest.mark.parametrize("word", sorted(LANGUAGE | set(keyword.kwlist)))
def test_a_reserved_word_is_no_name_of_a_field(word: str) -> None:
    """C56: refused with its place, never a broken module."""
    problems = found(
        small(f"  message Some {{ {word}: int }}").replace("Some {", "Heard {", 1)
    )
    assert problems
    assert {problem[0] for problem in problems} <= {"DEED101", "DEED203"}


@pytest.mark.parametrize(
    "word", ["match", "case", "after", "page", "id", "print", "self"]
)
def test_a_soft_word_may_be_a_field(word: str) -> None:
    text = small(f"  given {word}: int" if word != "id" else "  given other: int")
    assert found(text) == []


@pytest.mark.parametrize(
    ("items", "code", "said"),
    [
        ("  given id: text", "DEED202", "already taken"),
        ("  given born: instant", "DEED203", "every machine has"),
        ("  given str: text", "DEED203", "a type of Python"),
        ("  final Due", "DEED203", "`Due` is a message"),
        ("  final Exception", "DEED203", "a class of Python"),
        ("  final Handlers", "DEED208", "needs itself"),
        ("  final other", "DEED207", "`Other`"),
        ("  given fooBar: int", "DEED207", "`foo_bar`"),
        ("  given who: Nobody", "DEED201", "no type `Nobody`"),
        ("  given who: txt", "DEED201", "no type `txt`"),
        ("  given who: list", "DEED308", "list[text]"),
        ("  given who: text[int]", "DEED308", "takes no types"),
        ("  final End", "DEED202", "already taken"),
        ("  key other: text", "DEED202", "written twice"),
        ("  final Far { id: text }", "DEED202", "of every state already"),
    ],
)
def test_a_name_that_cannot_stand_is_one_problem(
    items: str, code: str, said: str
) -> None:
    problems = [problem for problem in found(small(items)) if problem[0] != "DEED405"]
    assert [problem[0] for problem in problems] == [code]
    assert said in problems[0][2]


def test_a_misspelt_name_is_suggested() -> None:
    (problem,) = program(small("  given who: txet")).problems
    assert problem.hints == ("Did you mean `text`?",)


@pytest.mark.parametrize(
    ("texts", "code", "said"),
    [
        (("use b { X }\ntype Y = X", "module c\ntype X = text"), "DEED204", "no module `b`"),
        (("use b { X }\ntype Y = X", "module b\ntype Z = text"), "DEED204", "does not declare `X`"),
        (("use b { X }\n", "module b\ntype X = text"), "DEED206", "never used"),
        (("module m\ntype X = text", "module m\ntype Y = text"), "DEED202", "module name `m`"),
        (("use b { X }\nrecord Y { x: X }\ntype X = int", "module b\ntype X = text"), "DEED202", "already taken"),
        (("type X = text\ntype X = int",), "DEED202", "already taken"),
        (("type X = text in 1..5",), "DEED301", "has no range"),
        (("type X = int in 5..1",), "DEED301", "ends before"),
        (("type X = int in 1s..5s",), "DEED301", "this bound"),
        (("type X = list[text]",), "DEED301", "made of"),
        (("record A { b: B }\nrecord B { a: list[A] }",), "DEED301", "contain itself"),
        (("record A { b: int, b: text }",), "DEED202", "already taken"),
        (("choice A { B | B }",), "DEED202", "already taken"),
    ],
)  # fmt: skip
def test_declarations_across_files(
    texts: tuple[str, ...], code: str, said: str
) -> None:
    problems = found(*texts)
    assert [problem[0] for problem in problems] == [code]
    assert said in problems[0][2]


def test_modules_that_import_each_other_are_one_problem() -> None:
    problems = found(
        "module a\nuse b { Y }\ntype X = text\nrecord R { y: Y }",
        "module b\nuse a { X }\ntype Y = text\nrecord S { x: X }",
    )
    assert [problem[0] for problem in problems] == ["DEED205"]
    assert problems[0][2] == "these modules import each other: `a` -> `b` -> `a`"


def test_a_module_knows_what_it_depends_on() -> None:
    result = compile(
        {
            "c.deed": "module c\ntype Z = text",
            "a.deed": "module a\nuse b { Y }\nrecord R { y: Y }",
            "b.deed": "module b\nuse c { Z }\nrecord Y { z: Z }",
        }
    )
    assert result.problems == ()
    sources = {module.path: module.sources for module in result.modules}
    assert sources["a.deed"] == ("a.deed", "b.deed", "c.deed")
    imported = {
        module.path: [path for _, path in module.imported] for module in result.modules
    }
    assert imported == {"a.deed": ["b.deed"], "b.deed": ["c.deed"], "c.deed": []}


def test_broken_syntax_says_nothing_of_what_depends_on_it() -> None:
    problems = found(
        "module a\nuse b { Y }\nrecord R { y: Y }", "module b\ntype Y text"
    )
    assert [problem[0] for problem in problems] == ["DEED101"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            small("  message AskTold\n  command ask(id: text) -> told"),
            "both be called `AskTold`",
        ),
        (
            small("  message AskOutcome\n  command ask(id: text) -> told"),
            "`AskOutcome`",
        ),
        (small("") + small("").replace("Some", "SOME"), "both be called `some.py`"),
        (small("").replace("Some", "Types"), "`types.py`"),
    ],
)
def test_derived_names_that_meet_are_errors(text: str, said: str) -> None:
    """C58."""
    assert any(
        code == "DEED208" and said in message for code, _, message in found(text)
    )


def test_long_machine_names_that_a_database_would_cut_to_one_are_errors() -> None:
    name = "A" + "b" * 60
    text = small("").replace("Some", name + "One") + small("").replace(
        "Some", name + "Two"
    )
    assert "DEED208" in [problem[0] for problem in found(text)]


words = st.from_regex(r"[a-z][a-z0-9]{1,5}(_[a-z][a-z0-9]{1,5}){0,3}", fullmatch=True)


@given(words)
def test_snake_undoes_pascal_of_words_of_two_letters_or_more(word: str) -> None:
    assert snake(pascal(word)) == word


@given(
    st.text("abc", max_size=6), st.text("abc", max_size=6), st.text("abc", max_size=6)
)
def test_the_distance_of_names(one: str, other: str, third: str) -> None:
    assert (distance(one, other) == 0) == (one == other)
    assert distance(one, other) == distance(other, one)
    assert distance(one, other) <= max(len(one), len(other))
    assert distance(one + third, other + third) <= distance(one, other)


def test_a_slip_of_the_fingers_is_near_and_another_word_is_not() -> None:
    assert nearest("Retrie", ["Retire", "Release"]) == "Retire"
    assert nearest("chrage", ["charge", "refund"]) == "charge"
    assert nearest("Order", ["Lease", "Payment"]) is None
