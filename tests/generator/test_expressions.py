"""Expressions compute in Python what they say in the spec."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

HEAD = """module made.here
type Name = text
type Small = int in 0..9
policy ladder { first 1s factor 2 max 8s attempts 5 jitter none }
machine Probe version 1 {
  key id: text
  given n: int, m: int, t: Name, o: text?, b: bool, xs: list[int], late: instant
  state Ready
  final OutInt { v: int }
  final OutBool { v: bool }
  final OutText { v: text }
  final OutName { v: Name }
  final OutInstant { v: instant }
  final OutDuration { v: duration }
  final OutList { v: list[int] }
  start { goto Ready }
"""
CASES: list[tuple[str, str, object]] = [
    ("Int", "n - m - 1", 9),
    ("Int", "n - (m - 1)", 11),
    ("Int", "n * (m + 1)", -14),
    ("Int", "-n * m", 21),
    ("Int", "-(n + m)", -4),
    ("Int", "n - -m", 4),
    ("Int", "if b then 1 else 2", 1),
    ("Int", "(if n > 7 then 1 else 2) * 3", 6),
    ("Int", "min(n, m) + max(n, m)", 4),
    ("Int", "len(xs)", 3),
    ("Int", "sum(x in xs, x * 2)", 12),
    ("Int", "count(x in xs, x > 1)", 2),
    ("Int", "len(take(xs, 2))", 2),
    ("Int", "len(take(xs, m))", 0),
    ("Int", "len(drop(xs, m))", 3),
    ("Int", "if len(xs) > 0 then head(xs) * 10 + last(xs) else 0", 32),
    ("Int", "ladder.attempts", 5),
    ("Bool", "not b or n > 3", True),
    ("Bool", "not (b and n > 3)", False),
    ("Bool", "b implies n > 100", False),
    ("Bool", "n > 100 implies b", True),
    ("Bool", "b and (n > 100 implies m > 0)", True),
    ("Bool", "(n > 3) == b", True),
    ("Bool", "o == none", False),
    ("Bool", "o != none and n == 7", True),
    ("Bool", "any(x in xs, x == 2)", True),
    ("Bool", "all(x in filter(y in xs, y > 1), x > 1)", True),
    ("Text", "t + text(n)", "ab7"),
    ("Text", "text(t) + text(m)", "ab-3"),
    ("Text", 'if o != none then "<" + o else "-"', "<x"),
    ("Name", '"fixed"', "fixed"),
    ("Instant", "now + 2s", 3_000),
    ("Instant", "earliest(late, now + 2s)", 2_500),
    ("Instant", "latest(late, now + 2s)", 3_000),
    ("Instant", "now + (late - now) * 2", 4_000),
    ("Duration", "late - now", 1_500),
    ("Duration", "wait(ladder, 3)", 4_000),
    ("Duration", "wait(ladder, 99)", 8_000),
    ("List", "filter(x in xs, x != 1)", (3, 2)),
    ("List", "[]", ()),
]


def spec() -> str:
    messages = "".join(f"  message P{at}\n" for at in range(len(CASES)))
    clauses = "".join(
        f"    on P{at} {{ goto Out{kind} {{ v: {text} }} }}\n"
        for at, (kind, text, _) in enumerate(CASES)
    )
    return f"{HEAD}{messages}  in Ready {{\n{clauses}  }}\n}}\n"


def test_every_expression_has_the_value_that_it_says(
    made: Callable[[str, str], ModuleType],
) -> None:
    probe = made(spec(), "probe")
    start = probe.Start(
        id="a", n=7, m=-3, t="ab", o="x", b=True, xs=(3, 1, 2), late=2_500, at=1_000
    )
    state, _ = probe.start(start)
    for at, (_, text, wanted) in enumerate(CASES):
        after, _ = probe.reduce(state, getattr(probe, f"P{at}")(at=1_000))
        assert (text, after.v) == (text, wanted)


TWO_DEADLINES = """module made.here
machine Two version 1 {
  key id: text
  given a: instant, b: instant?, c: instant
  state Waiting { first: instant, second: instant?, third: instant }
  final First
  final Second
  final Third
  start { goto Waiting { first: a, second: b, third: c } }
  in Waiting {
    at first { goto First }
    at second { goto Second }
    at third { goto Third }
  }
}
"""


@pytest.mark.parametrize(
    ("deadlines", "now", "fires", "wake"),
    [
        ((10, 20, 30), 9, None, 10),
        ((10, 20, 30), 99, "First", 10),
        ((30, 20, 10), 99, "Third", 10),
        ((30, 20, 25), 99, "Second", 20),
        ((20, None, 10), 15, "Third", 10),
        ((20, None, 30), 25, "First", 20),
        ((10, 10, 10), 10, "First", 10),
        ((20, 10, 10), 10, "Second", 10),
    ],
)
def test_the_earliest_due_deadline_fires_and_ties_in_the_order_of_the_spec(
    made: Callable[[str, str], ModuleType],
    deadlines: tuple[int, int | None, int],
    now: int,
    fires: str | None,
    wake: int,
) -> None:
    """S10: an unarmed deadline is none."""
    two = made(TWO_DEADLINES, "two")
    first, second, third = deadlines
    state, _ = two.start(two.Start(id="i", a=first, b=second, c=third, at=0))
    assert two.wake(state) == wake
    step = two.reduce(state, two.Due(now))
    fired = None if isinstance(step, two.Refused) else type(step[0]).__name__
    assert fired == fires


AGAIN = """module made.here
machine Goal version 1 {
  key id: text
  given target: int, note: text
  state Going { reached: int } awaits pull
  final Reached
  command pull(id: text, target: int) -> pulled | failed
  start { do pull(id, target) goto Going { reached: 0 } }
  in Going {
    on pull.pulled { goto Reached }
    on pull.failed { do pull(id, target) stay { .. } }
  }
  on start again as m when phase is Going and m.target > target {
    replace { target: max(target, m.target) }
  }
  on start again as m when phase is Reached and m.target > target { replace }
  on start again as m when m.target == target { keep }
}
"""


def test_a_replacement_keeps_the_birth_and_goes_on_counting(
    made: Callable[[str, str], ModuleType],
) -> None:
    """B6: what was awaited is asked for anew, with the new given."""
    goal = made(AGAIN, "goal")
    state, _ = goal.start(goal.Start(id="g", target=1, note="n", at=5))
    new = goal.Start(id="g", target=9, note="other", at=50)
    after, (pull,) = goal.reduce(state, new)
    assert (after.born, after.issued, after.ticket, after.target) == (5, 2, 2, 9)
    assert (pull.idempotency_key, pull.target) == ("Goal/g/5/2", 9)
    kept = goal.reduce(state, goal.Start(id="g", target=1, note="other", at=50))
    assert kept == goal.KEPT
    less = goal.reduce(state, goal.Start(id="g", target=0, note="n", at=50))
    assert less.kind == "rejected"


COMPOSITE = """module made.here
machine Pair version 1 {
  key left: text, right: int
  final Over
  command note(left: text)
  start { do note(left) do note("again") goto Over }
}
"""


def test_a_key_of_several_fields_stands_in_keys_as_one_array(
    made: Callable[[str, str], ModuleType],
) -> None:
    pair = made(COMPOSITE, "pair")
    state, commands = pair.start(pair.Start(left="a/b", right=7, at=3))
    assert [each.idempotency_key for each in commands] == [
        'Pair/["a/b",7]/3/1',
        'Pair/["a/b",7]/3/2',
    ]
    assert [each.ticket for each in commands] == [1, 2]
    assert state.issued == 2
