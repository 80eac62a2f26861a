"""What is said, and offered as an edit, where one thing is taken for another."""

from __future__ import annotations

import pytest
from deedbox_dsl import compile
from deedbox_dsl.parse import parse
from deedbox_dsl.problems import Problem, has_errors
from deedbox_dsl.source import Text

LAMP = """\
machine Lamp version 1 {
  key id: text
  state Off
  state On { level: int, seen: int }
  final Broken { reason: text }
  message Press { level: int }
  message Hit { by: text }
  start { goto Off }
  in Off {
    on Press as m { goto On { level: m.level, seen: 0 } }
    on Hit as m { goto Broken { reason: m.by } }
  }
  in On {
    on Press { stay { .., seen: seen + 1 } }
    on Hit as m { goto Broken { reason: m.by } }
  }
}
"""


def the_problem(content: str) -> Problem:
    (problem,) = compile({"a.deed": content}).problems
    return problem


def mended(content: str, problem: Problem, fix: int = 0) -> str:
    """The text after one of the offered repairs."""
    for edit in sorted(
        problem.fixes[fix].edits, key=lambda each: each.span, reverse=True
    ):
        content = content[: edit.span.start] + edit.text + content[edit.span.end :]
    return content


REPAIRED = [
    ("reason: m.by } }\n  }\n  in", "reason: by } }\n  }\n  in"),
    (
        "goto Broken { reason: m.by } }\n  }\n  in",
        "goto Brokn { reason: m.by } }\n  }\n  in",
    ),
    ("{ .., seen: seen + 1 }", "{ seen: seen + 1 }"),
    ("{ .., seen: seen + 1 }", "{ .. seen: seen + 1 }"),
    ("key id: text", "key id: string"),
    ("key id: text", "key id text"),
    ("Off", "off"),
    ("version 1 {", "{"),
    ("start { goto Off }", "start { goto Off; }"),
    ("machine Lamp", "/* a lamp */ machine Lamp"),
    ("message Hit { by: text }", "event Hit { by: text }"),
    ("    on Hit as m { goto Broken { reason: m.by } }\n  }\n}", "  }\n}"),
    ("seen: seen + 1 }", "seen: sen + 1 }"),
    ("seen: seen + 1 }", "seen: if seen > 1 && seen < 9 then 1 else 2 }"),
    ("level: m.level", "level: m.levl"),
]


@pytest.mark.parametrize(("right", "wrong"), REPAIRED, ids=[w for _, w in REPAIRED])
def test_what_is_offered_repairs_it(right: str, wrong: str) -> None:
    assert right in LAMP
    content = LAMP.replace(right, wrong)
    found = compile({"a.deed": content}).problems
    assert len(found) == 1
    assert found[0].fixes
    assert not has_errors(compile({"a.deed": mended(content, found[0])}).problems)


def test_a_missing_clause_is_offered_decided_and_ignored() -> None:
    content = LAMP.replace(
        "    on Hit as m { goto Broken { reason: m.by } }\n  }\n}", "  }\n}"
    )
    problem = the_problem(content)
    assert [fix.title for fix in problem.fixes] == ["Ignore `Hit`", "Decide `Hit`"]
    assert compile({"a.deed": mended(content, problem, 1)}).problems == ()
    assert problem.hints == (
        "Add one of:   on Hit as m { goto Broken { reason: m.by } }\n"
        "              ignore Hit",
    )


def test_a_name_that_is_written_elsewhere_too_is_not_renamed_by_itself() -> None:
    sources = {
        "a.deed": "module a\n\ntype order_id = text\n",
        "b.deed": "module b\nuse a { order_id }\n\nrecord Order { id: order_id }\n",
    }
    (problem,) = compile(sources).problems
    assert (problem.code, problem.fixes) == ("DEED207", ())


@pytest.mark.parametrize(
    "content",
    [
        "type order_id = text\ntype OrderId = text\nrecord A { id: order_id, b: OrderId }\n",
        "type start = text\n".replace("start", "first_x")
        + "record B { first_x: first_x }\n",
    ],
)
def test_a_name_is_not_renamed_where_that_could_change_what_it_means(
    content: str,
) -> None:
    problem = the_problem(content)
    assert (problem.code, problem.fixes) == ("DEED207", ())


def test_an_import_that_is_never_used_is_deleted_with_its_comma() -> None:
    money = "module money\n\ntype Price = int\ntype Rate = int\ntype Tax = int\n"
    for names in ("Price, Rate", "Rate, Price", "Rate, Price, Tax"):
        using = f"use money {{ {names} }}\n\nrecord Offer {{ price: Price, tax: {'Tax' if 'Tax' in names else 'Price'} }}\n"
        (problem,) = compile({"money.deed": money, "offer.deed": using}).problems
        after = mended(using, problem)
        assert compile({"money.deed": money, "offer.deed": after}).problems == ()
        assert parse(Text.of("offer.deed", after))[1] == ()
