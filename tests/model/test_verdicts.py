"""When a machine does not pass: nothing holds for want of a case or of time."""

from __future__ import annotations

from deedbox_checker.verify import verify

from .specimens import order, subject


def test_without_the_assumption_the_refund_may_fail_for_ever() -> None:
    rewrite = ("assume refund.refunded in the end", "")
    each = subject("shop/orders.deed", "Order", rewrite=rewrite)
    report = verify(each.machine, each.module)
    verdict = next(v for v in report.verdicts if v.name == "money_returns")
    assert verdict.trace is not None
    assert {line.step for line in verdict.trace.loop} >= {"refund ends failed"}
    assert verdict.trace.faults == 0


def test_a_property_whose_premise_never_happens_does_not_pass() -> None:
    rewrite = (
        "leads money_returns: aborted and did(payment) to",
        "leads money_returns: aborted and did(settlement) to",
    )
    each = subject("shop/orders.deed", "Order", rewrite=rewrite)
    report = verify(each.machine, each.module)
    assert not report.holds
    verdict = next(v for v in report.verdicts if v.name == "money_returns")
    assert verdict.broken.startswith("VACUOUS")


def test_a_fault_that_is_left_out_by_the_spec_must_exist() -> None:
    rewrite = (
        "check { assume refund.refunded",
        "check { faults all except lightning assume refund.refunded",
    )
    each = subject("shop/orders.deed", "Order", rewrite=rewrite)
    report = verify(each.machine, each.module)
    assert report.incomplete.startswith("there is no fault `lightning`")


def test_a_search_that_does_not_end_names_the_field_that_grows() -> None:
    """A counter that is compared with a field and not with a number has no end."""
    rewrite = ("renewals < 100", "renewals < renewals + 1")
    each = subject("fleet/lease.deed", "Lease", rewrite=rewrite)
    report = verify(each.machine, each.module, limit=2_000)
    assert not report.holds
    assert "`renewals` of `Held` has the most values" in report.incomplete


def test_a_search_that_does_not_end_holds_nothing() -> None:
    each = order()
    report = verify(each.machine, each.module, limit=100)
    assert report.incomplete
    assert not report.holds


def test_a_fault_that_is_left_out_is_not_explored() -> None:
    each = order()
    whole = verify(each.machine, each.module)
    less = verify(each.machine, each.module, faults=["late_answer", "early_wake"])
    assert less.states < whole.states
    assert less.faults == ("late_answer", "early_wake")
