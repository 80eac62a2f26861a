"""What is not explored says so: which field it is, and the way out."""

from __future__ import annotations

from typing import Final

import pytest
from deedbox_checker.environment.prepared import prepared
from deedbox_checker.subjects.subjects import subjects
from deedbox_dsl import compile
from deedbox_dsl.problems import has_errors

MACHINE: Final = """
module small.limits

record Leg {{ wait: duration, leaves: instant }}
type Few = int in 1..{most}

machine Limits version 1 {{
  key name: text, slot: instant
  given legs: list[Leg], stays: duration, many: int, few: Few
  state Idle {{ due: instant, since: instant, left: int }}
  final Gone
  message Set {{ moment: instant, span: duration, count: int }}
  start {{ goto Idle {{ due: now + 1h, since: now, left: 0 }} }}
  in Idle {{
    at due {{ goto Gone }}
    on Set as m {guard}{{ stay {{ due: {due}, since: now, left: {left} }} }}
    {more}
  }}
  {says}
}}
"""


TWICE: Final = """
  invariant near: in Idle when since + 2h > due
  invariant far: in Idle when since + 3h > due
"""


def why_not(
    guard: str = "",
    due: str = "now + 1h",
    left: str = "left",
    says: str = "",
    most: str = "16",
) -> str:
    """Why a machine with these pieces is not explored; empty: it is."""
    more = "on Set { stay { .. } }" if guard else ""
    text = MACHINE.format(
        guard=guard, due=due, left=left, says=says, most=most, more=more
    )
    program = compile({"limits.deed": text})
    assert not has_errors(program.problems), program.problems
    (found,) = subjects(program)
    made = prepared(found.machine, found.module)
    return made if isinstance(made, str) else ""


@pytest.mark.parametrize(
    ("pieces", "name", "way_out"),
    [
        ({"due": "slot + 1h"}, "slot", "`given`"),
        ({"guard": "when m.moment > slot "}, "slot", "`given`"),
        ({"guard": "when any(leg in legs, leg.leaves <= now) "}, "leg", "of its own"),
        ({"due": "now + m.span * 2"}, "span", "bring the product"),
        ({"due": "now + 1s * m.count"}, "count", "`duration`"),
        (
            {"guard": "when since + stays > due ", "due": "m.moment + stays"},
            "stays",
            "from the other",
        ),
        ({"guard": "when now - since > due - m.moment "}, "since", "`duration`"),
        ({"says": TWICE}, "since", "`across`"),
        ({"guard": "when left < many ", "left": "left + 1"}, "many", "int in 1..16"),
        ({"guard": "when left < m.count "}, "count", "int in 1..16"),
        ({"guard": "when left < few ", "most": "17"}, "few", "int in 1..16"),
        (
            {
                "due": "m.moment",
                "says": "leads ends: phase is Idle to phase is Gone within 1d",
            },
            "moment",
            "without `within`",
        ),
    ],
)
def test_what_is_not_explored_is_named_with_the_way_out(
    pieces: dict[str, str], name: str, way_out: str
) -> None:
    said = why_not(**pieces)
    assert f"`{name}`" in said, said
    assert way_out in said


@pytest.mark.parametrize(
    "pieces",
    [
        {"due": "m.moment"},
        {"due": "now + m.span"},
        {"due": "latest(m.moment, now + stays)"},
        {"guard": "when m.moment > due ", "due": "m.moment - 1h"},
        {"guard": "when now - since >= 1h or now - since >= m.span "},
        {"guard": "when len(legs) > 0 ", "due": "head(legs).leaves"},
        {"guard": "when left < few ", "left": "left + 1"},
        {"left": "m.count"},
        {"says": "invariant order: in Idle when since + 2h > due"},
    ],
)
def test_what_comes_from_outside_is_explored(pieces: dict[str, str]) -> None:
    assert why_not(**pieces) == ""
