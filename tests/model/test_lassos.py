"""A run that goes on for ever says why nothing that is bound to happen ends it."""

from __future__ import annotations

from deedbox_checker.counterexample.printed import failure
from deedbox_checker.verdicts.verify import verify

from .specimens import subject


def without(assumption: str) -> str:
    """The text of the failure, on one line."""
    found = subject("shop/orders.deed", "Order", rewrite=(assumption, ""))
    (broken,) = (
        verdict
        for verdict in verify(found.machine, found.module).verdicts
        if verdict.name == "ends"
    )
    assert not broken.holds
    assert broken.trace is not None
    assert broken.trace.loop
    return " ".join("\n".join(failure(broken)).split())


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
    taken = said[said.index("taken in the loop: ") :].split(" deedbox trace")[0]
    assert "deadlines fire" in taken
    assert "the far side answers" in taken
