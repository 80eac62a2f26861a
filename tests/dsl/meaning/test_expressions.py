"""Types, units, and what is known where an expression stands."""

from __future__ import annotations

import pytest
from deedbox_dsl import core
from deedbox_dsl.types import (
    ERROR,
    INT,
    EmptyListType,
    ListOf,
    Maybe,
    NoneType,
    Type,
    show,
)

from tests.dsl.meaning.specs import found, machine

SPEC = """type Small = int in 0..9
type Who = text
type Other = text
record Line {{ sku: text, count: int }}
choice Answer {{ Yes {{ at_once: bool }} | No }}
policy some {{ first 1s factor 2 max 8s attempts 4 jitter none }}
policy ever {{ first 1s factor 2 max 8s attempts unlimited jitter none }}
machine Some version 1 {{
  key id: text
  given limit: int
  state Open {{
    small: Small, who: Who?, plain: text, due: instant, wait: duration, lines: list[Line],
    answer: Answer, flag: bool
  }}
  final Over {{ result: {type} }}
  message Go {{ other: Other, size: int, maybe: int? }}
  message Begin {{
    small: Small, who: Who?, plain: text, wait: duration, lines: list[Line], answer: Answer
  }}
  state Empty
  start {{ goto Empty }}
  in Empty {{
    on Begin as m {{
      goto Open {{
        small: m.small, who: m.who, plain: m.plain, due: now + m.wait, wait: m.wait,
        lines: m.lines, answer: m.answer, flag: true
      }}
    }}
    ignore Go
  }}
  in Open {{
    on Go as m when {guard} {{ goto Over {{ result: {value} }} }}
    on Go {{ reject "no" }}
    ignore Begin
    at due {{ stay {{ .., due: due + 1s }} }}
  }}
  sometimes used: in Open when small < some.attempts and wait > wait(ever, 1)
}}
"""


def spec(kind: str, value: str, guard: str = "flag") -> str:
    return SPEC.format(type=kind, value=value, guard=guard)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("instant", "now + wait"),
        ("instant", "wait + due"),
        ("duration", "due - now"),
        ("duration", "wait * 3 - 5s"),
        ("duration", "wait(some, 1)"),
        ("int", "some.attempts - 1"),
        ("int", "m.size + small"),
        ("int", "len(lines)"),
        ("int", "sum(each in lines, each.count)"),
        ("int", "count(each in lines, each.count > 1)"),
        ("bool", "all(each in lines, each.count > 0) and not flag"),
        ("text", 'plain + ": " + m.other'),
        ("text", "text(m.size) + text(small)"),
        ("list[Line]", "filter(each in take(lines, 2), each.count > 1)"),
        ("list[Line]", "[]"),
        ("int?", "m.maybe"),
        ("int?", "m.size"),
        ("int?", "none"),
        ("Who?", 'if flag then who else "nobody"'),
        ("Who", 'if who != none then who else "nobody"'),
        ("Small", "7"),
        ("Small", "min(max(m.size, 0), 9)"),
        ("Small", "if m.size > 3 and m.size <= 9 then m.size else small"),
        ("Small", "len(take(lines, 4))"),
        ("instant", "earliest(due, now + 5s)"),
        ("duration", "max(wait, 5s)"),
        ("bool", "flag implies answer is Yes"),
        ("bool", "if answer is Yes then answer.at_once else false"),
    ],
)
def test_a_well_typed_value_has_no_problem(kind: str, value: str) -> None:
    assert found(spec(kind, value)) == []


@pytest.mark.parametrize(
    ("kind", "value", "code", "said"),
    [
        ("instant", "due + now", "DEED302", "instant + instant"),
        ("duration", "wait + 5", "DEED302", "duration + int"),
        ("duration", "wait * wait", "DEED302", "duration * duration"),
        ("int", "m.other + 1", "DEED302", "Other + int"),
        ("text", "who", "DEED301", "found Who?"),
        ("text", "m.other", "DEED301", "expected text"),
        ("Who", "m.other", "DEED301", "expected Who"),
        ("Who", "who", "DEED305", "may be none"),
        ("int", "m.maybe + 1", "DEED305", "may be none"),
        ("Small", "m.size", "DEED307", "0..9"),
        ("Small", "small + 1", "DEED307", "0..9"),
        ("Small", "12", "DEED307", "0..9"),
        ("Line", "head(lines)", "DEED305", "may be empty"),
        ("int", "len(small)", "DEED308", "`len` takes one list, not Small"),
        ("int", "min(m.size, wait)", "DEED308", "`min` takes"),
        ("duration", "wait(nothing, 1)", "DEED201", "no policy `nothing`"),
        ("int", "ever.attempts", "DEED504", "unlimited"),
        ("int", "m.siz", "DEED303", "no field `siz`"),
        ("int", "size", "DEED201", "nothing called `size`"),
        ("int", "m", "DEED301", "write `m.field`"),
        ("bool", "flag == none", "DEED302", "never none"),
        ("bool", "m.other == who", "DEED302", "cannot be compared"),
        ("bool", "lines == lines", "DEED302", "cannot be compared"),
        ("bool", "answer.at_once", "DEED306", "another variant"),
        ("bool", "answer is Maybe", "DEED201", "no variant `Maybe`"),
        ("bool", "small is Yes", "DEED301", "variant of a choice"),
        ("bool", "phase is Open", "DEED201", "`phase` cannot be read here"),
        ("int", "count(go.done)", "DEED201", "only a property can"),
        ("text", "deed", "DEED201", "no deed is open"),
        ("int", "length(lines)", "DEED201", "no function `length`"),
        ("int", "sum(len in lines, 1)", "DEED203", "`len`"),
        ("int", "sum(small in lines, 1)", "DEED202", "already taken"),
    ],
)
def test_an_ill_typed_value_is_one_problem_at_its_place(
    kind: str, value: str, code: str, said: str
) -> None:
    (only,) = found(spec(kind, value))
    assert (only[0], only[1]) == (code, 32)
    assert said in only[2]


@pytest.mark.parametrize(
    ("guard", "kind", "value"),
    [
        ("who != none", "Who", "who"),
        ("flag and who != none", "Who", "who"),
        ("not (who == none)", "Who", "who"),
        ("not (flag or who == none)", "Who", "who"),
        ("m.maybe != none and m.maybe > 3 and m.maybe < 7", "Small", "m.maybe"),
        ("len(lines) > 0", "Line", "head(lines)"),
        ("len(lines) >= 3", "Line", "last(drop(lines, 2))"),
        ("len(lines) != 0 and len(lines) > 0", "Line", "last(take(lines, 2))"),
        ("any(each in lines, each.count > 1)", "Line", "head(filter(each in lines, each.count > 1))"),
        ("any(each in lines, flag)", "Line", "head(lines)"),
        ("small < 9", "Small", "small + 1"),
        ("small == 3", "Small", "small * 3"),
        ("answer is Yes", "bool", "answer.at_once"),
    ],
)  # fmt: skip
def test_a_guard_teaches_what_its_block_may_use(
    guard: str, kind: str, value: str
) -> None:
    """S9, M5, M6."""
    assert found(spec(kind, value, guard)) == []


@pytest.mark.parametrize(
    ("guard", "kind", "value", "code"),
    [
        ("flag or who != none", "Who", "who", "DEED305"),
        ("who == none", "Who", "who", "DEED305"),
        ("len(lines) >= 0", "Line", "head(lines)", "DEED305"),
        ("len(lines) > 2", "Line", "head(drop(lines, 3))", "DEED305"),
        ("any(each in lines, each.count > 1)", "Line", "head(filter(each in lines, flag))", "DEED305"),
        ("small <= 9 or flag", "Small", "small + 1", "DEED307"),
    ],
)  # fmt: skip
def test_a_guard_teaches_no_more_than_it_says(
    guard: str, kind: str, value: str, code: str
) -> None:
    codes = {problem[0] for problem in found(spec(kind, value, guard))}
    assert code in codes


def test_a_name_that_does_not_resolve_is_reported_once() -> None:
    problems = found(spec("int", "(nobody + 1) * 2 + min(3, head(nobody))"))
    assert [problem[0] for problem in problems] == ["DEED201", "DEED201"]


def test_a_clause_for_several_states_reports_its_mistake_once() -> None:
    problems = found(
        """machine Two version 1 {
  key id: text
  state A { both: int, only: int }
  state B { both: int }
  final End
  message Go
  message Stop
  start { goto A { both: 1, only: 2 } }
  in A, B {
    on Go { stay { .., both: bot + 1 } }
    on Stop when only > 1 { goto End }
    on Stop { goto B { both } }
  }
}"""
    )
    assert [(code, line) for code, line, _ in problems] == [
        ("DEED201", 10),
        ("DEED306", 11),
    ]


def test_carry_over_copies_the_own_fields_of_each_state() -> None:
    made = machine(
        """machine Two version 1 {
  key id: text
  state A { both: int, only: int }
  state B { both: int }
  final End
  message Go
  start { goto A { both: 1, only: 2 } }
  in A, B {
    on Go when both < 9 { stay { .., both: both + 1 } }
    on Go when both < 19 { goto B { .., both: both + 2 } }
    on Go { goto End }
  }
}"""
    )
    kept = [
        (clause.state, [each.field for each in clause.body.exit.fields])
        for clause in made.clauses
        if clause.body is not None and isinstance(clause.body.exit, core.Stay)
    ]
    assert kept == [("A", ["both", "only"]), ("B", ["both"])]


def test_a_type_is_shown_as_a_spec_writes_it() -> None:
    shown: dict[str, Type] = {
        "list[int?]": ListOf(Maybe(INT)),
        "none": NoneType(),
        "list": EmptyListType(),
        "?": ERROR,
    }
    assert [show(kind) for kind in shown.values()] == list(shown)
