"""A run that goes on for ever says why nothing that is bound to happen ends it."""

from __future__ import annotations

from deedbox_checker.reports.report import failure
from deedbox_checker.verdicts.verify import verify

from .specimens import subject


def without(assumption: str) -> list[str]:
    found = subject("shop/orders.deed", "Order", rewrite=(assumption, ""))
    (broken,) = (
        verdict
        for verdict in verify(found.machine, found.module).verdicts
        if verdict.name == "ends"
    )
    assert not broken.holds
    assert broken.trace is not None
    assert broken.trace.loop
    return [line.strip() for line in failure(broken)]


def test_an_answer_that_never_comes_is_told_with_the_assumption_that_rules_it_out() -> (
    None
):
    said = without("assume refund.refunded in the end")
    free = (
        "free, and every time failed; ruled out by `assume refund.refunded in the end`"
    )
    assert f"which answer refund gets: {free}" in said


def test_what_the_loop_does_is_not_said_to_be_impossible() -> None:
    said = without("assume refund.refunded in the end")
    assert "deadlines fire: taken in the loop" in said
    assert "the far side answers: taken in the loop" in said
