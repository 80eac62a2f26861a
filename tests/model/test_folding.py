"""A run with repetition: it is shown once and counted, and nothing that matters is hidden."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from deedbox_checker.counterexample.columns import WIDTH, packed, plain, wrapped
from deedbox_checker.counterexample.command import written
from deedbox_checker.counterexample.folding import Again, folded, form, unfolded
from deedbox_checker.counterexample.printed import failure
from deedbox_checker.counterexample.retold import Told, retold
from deedbox_checker.subjects.subjects import Subject
from deedbox_checker.traces.trace import Change, Line
from deedbox_checker.verdicts.verdict import Verdict
from deedbox_checker.verdicts.verify import verify
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from .specimens import subject

# ---- the law -------------------------------------------------------------------------

WORDS = ("due fires", "hand out fetch", "fetch ends busy", "THE PROCESS CRASHES")


def step(number: int, word: str, count: int) -> Told:
    changes = (Change("attempt", str(count), str(count + 1)),)
    return Told(number, Line("worker", word, changes))


@st.composite
def runs(draw: st.DrawFn) -> list[Told]:
    """Blocks that repeat, one after the other; some steps are always shown."""
    words: list[str] = []
    for _ in range(draw(st.integers(0, 4))):
        block = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
        words += block * draw(st.integers(1, 6))
    hidden = draw(st.sets(st.integers(0, 40), max_size=3))
    return [
        replace(step(n + 1, word, n), shown=n in hidden) for n, word in enumerate(words)
    ]


@given(runs())
@example([step(n, "due fires", n) for n in range(1, 10)])
def test_what_is_folded_can_be_unfolded(steps: list[Told]) -> None:
    assert list(unfolded(folded(steps))) == steps


@given(runs())
def test_what_is_folded_away_is_as_what_is_shown_before_it(steps: list[Told]) -> None:
    pieces = folded(steps)
    for n, piece in enumerate(pieces):
        if isinstance(piece, Again):
            period = len(piece.rounds[0])
            first = pieces[n - period : n]
            forms = [form(each) for each in first if isinstance(each, Told)]
            for each in piece.rounds:
                assert [form(one) for one in each] == forms


@given(runs())
def test_what_has_to_be_shown_is_shown(steps: list[Told]) -> None:
    shown = [each for each in folded(steps) if isinstance(each, Told)]
    assert {each.number for each in steps if each.shown} <= {s.number for s in shown}


def test_a_short_repetition_is_not_folded() -> None:
    steps = [step(n, word, n) for n, word in enumerate(WORDS[:2] * 2, 1)]
    assert list(folded(steps)) == steps


def test_a_fault_that_the_first_time_has_not_is_shown() -> None:
    words = ["due fires", "fetch ends busy"] * 4
    words[5] = "A WAKE COMES EARLY"
    steps = [step(n, word, n) for n, word in enumerate(words, 1)]
    shown = [each for each in folded(steps) if isinstance(each, Told)]
    assert "A WAKE COMES EARLY" in [each.line.step for each in shown]


@pytest.mark.parametrize(
    "change",
    [
        Change("count(fetch.fetched)", "0", "1"),
        Change("note", "none", "given"),
        Change("attempt", "4", "1"),
    ],
)
def test_a_step_that_changes_something_else_is_shown(change: Change) -> None:
    """What the far side did, another field, a counter that falls."""
    steps = [step(n, "due fires", n) for n in range(1, 13)]
    other = steps[6].line
    steps[6] = replace(steps[6], line=replace(other, changes=(change,)))
    shown = [each for each in folded(steps) if isinstance(each, Told)]
    assert 7 in [each.number for each in shown]


def test_a_step_after_which_a_part_of_the_property_holds_is_shown() -> None:
    steps = [replace(step(n, "due fires", n), values=(n >= 8,)) for n in range(1, 15)]
    shown = [each for each in folded(steps) if isinstance(each, Told)]
    assert 8 in [each.number for each in shown]


# ---- a run of the gallery -------------------------------------------------------------


@cache
def without_an_end() -> tuple[Subject, Verdict]:
    """A refund fails for ever, first along a ladder of eight delays."""
    each = subject(
        "shop/orders.deed", "Order", rewrite=("assume refund.refunded in the end", "")
    )
    report = verify(each.machine, each.module)
    return each, next(v for v in report.verdicts if v.name == "money_returns")


def told(*, all_steps: bool = False) -> list[str]:
    each, verdict = without_an_end()
    return list(failure(verdict, each.path, each.text, all_steps=all_steps))


def test_a_ladder_is_shown_once_with_what_it_reaches() -> None:
    said = " ".join(" ".join(told()).split())
    assert (
        "... 6 times more the same as steps 6 to 10, up to step 40: take the answer"
        " refund.failed, due fires; attempt: 2 -> 8; wait 10s .. 320s"
    ) in said
    (id,) = {line.split()[2] for line in told() if line.startswith("  deedbox trace")}
    assert f"  every step: deedbox trace {id} --all-steps" in told()


def test_every_step_is_shown_where_that_is_asked() -> None:
    lines = told(all_steps=True)
    numbers = [line.split()[0] for line in lines if line[:4].strip().isdecimal()]
    assert numbers == [str(n) for n in range(1, 46)]
    assert not any("more the same" in line or "every step" in line for line in lines)


def test_the_last_step_of_a_run_is_shown() -> None:
    """One issue more than a policy of four attempts has: the fifth is in sight."""
    each = subject(
        "shop/orders.deed",
        "Order",
        code=("state.attempt >= LADDER_ATTEMPTS", "state.attempt > LADDER_ATTEMPTS"),
    )
    report = verify(each.machine, each.module)
    broken = next(v for v in report.verdicts if v.name == "issues_are_bounded")
    assert broken.trace is not None
    pieces = folded(retold(broken.trace))
    last = pieces[-1]
    assert isinstance(last, Told)
    assert last.line.changes[1] == Change("attempt", "4", "5")
    assert any(isinstance(piece, Again) for piece in pieces)


def test_a_diagram_has_a_box_that_says_how_often() -> None:
    each, verdict = without_an_end()
    drawn = written("mermaid", each, verdict, each.path).splitlines()
    at = drawn.index("  loop 7 times")
    assert drawn[at + 1] == "    Worker->>FarSide: hand out refund"
    assert (
        "    Note over Machine: attempt: 2 -#62; 8<br/>wait 10s .. 320s" in drawn[at:]
    )


# ---- in 80 columns --------------------------------------------------------------------


def test_a_counterexample_fits_in_80_columns_and_has_no_colour() -> None:
    for line in (*told(), *told(all_steps=True)):
        assert cell_len(line) <= WIDTH
        assert line.isprintable()


@given(st.lists(st.text(max_size=200)), st.integers(0, 30))
def test_a_line_is_longer_than_that_only_for_the_sake_of_a_word(
    items: list[str], indent: int
) -> None:
    """Wide characters and words without a space; nothing that a terminal would obey."""
    items = [plain(each) for each in items]
    lines = [*packed(items, indent), *wrapped(" ".join(items), indent, indent + 2)]
    for line in lines:
        assert line.isprintable()
        assert cell_len(line) <= WIDTH or " " not in line.strip()


def test_what_a_terminal_would_obey_is_written_out() -> None:
    assert plain("a\x1b[31mb\nc\u202ed") == "a\\x1b[31mb\\nc\\u202ed"
    assert plain("größer als 東京") == "größer als 東京"
