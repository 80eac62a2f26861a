"""Expressions of the core read as a spec writes them, with parentheses where they must be."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from deedbox_dsl import core
from deedbox_generator.views.wording import say

GUARDED = """
choice Shade {{ Red | Blue {{ depth: int }} }}
record Item {{ cost: int, shade: Shade }}
policy ladder {{ first 2s factor 2 max 30s attempts 4 jitter none }}

machine Guarded version 1 {{
  key id: text
  state Here {{ a: int, b: int, flag: bool, maybe: text?, items: list[Item], due: instant, wide: duration }}
  final There
  message Ask {{ n: int }}
  start {{ goto Here {{ a: 1, b: 2, flag: true, maybe: none, items: [], due: now, wide: 90s }} }}
  in Here {{
    on Ask as m when {guard} {{ goto There }}
    on Ask {{ goto There }}
    at due {{ goto There }}
  }}
}}
"""


@pytest.mark.parametrize(
    "guard",
    [
        "a + b * 2 - (a - b) > 3",
        "(a + b) * 2 == m.n",
        "a - (b - m.n) == -a",
        "flag and (a < b or b < a)",
        "flag and a < b or not flag",
        "not (flag and a == b)",
        "(flag implies a == b) and flag",
        "(if flag then a else b) > 2",
        'maybe != none and maybe == "it\'s"',
        "now - due > wide + 1m",
        "wide * 2 >= 25ms",
        "any(item in items, item.cost > a and item.shade is Blue)",
        "sum(item in items, item.cost) > len(items)",
        "len(filter(item in take(items, 2), item.shade is Red | Blue)) > 0",
        "earliest(due, now + wait(ladder, a)) > due",
        "a >= ladder.attempts",
        'text(a) + "!" == id',
        "max(a, b, 3) > min(a, b)",
    ],
)
def test_what_is_said_is_what_was_written(
    compiled: Callable[[str], core.Machine], guard: str
) -> None:
    machine = compiled(GUARDED.format(guard=guard))
    (clause, *_) = machine.clauses
    assert clause.guard is not None
    assert say(clause.guard).replace("msg.", "m.") == guard
