"""Machines with one mistake: each is found, with the fewest faults and steps it needs."""

from __future__ import annotations

from typing import Any

import pytest
from deedbox import Refused
from deedbox.step import AnyMachine, Step, step
from deedbox_checker.environment import Undo
from deedbox_checker.subjects import Subject
from deedbox_checker.verify import Report, verify
from msgspec.structs import replace

from .specimens import files, lease, order, subject

ITS_ANSWER = "case ReserveReserved() if msg.ticket == state.ticket:"
ITS_TIME = "case Due() if msg.at >= state.due:"


def broken(report: Report) -> dict[str, tuple[int, int] | None]:
    """What does not hold, and the faults and steps of its run."""
    return {
        verdict.name: None
        if verdict.trace is None
        else (verdict.trace.faults, len(verdict.trace.lines))
        for verdict in report.verdicts
        if not verdict.holds
    }


def explored(each: Subject) -> dict[str, tuple[int, int] | None]:
    return broken(verify(each.machine, each.module))


def test_a_new_key_for_every_issue_charges_twice() -> None:
    """Asking again after silence under a new key: two charges, without any fault."""
    found = explored(
        order(
            ("deed_number=state.deed_number,\n                attempt=state.attempt + 1",
             "deed_number=n,\n                attempt=state.attempt + 1"),
            ("Charge(_key(state, state.deed_number), n", "Charge(_key(state, n), n"),
        )
    )  # fmt: skip
    assert found["one_charge"] == (0, 9)
    assert found["keeps_money"] is not None


def test_an_undo_that_does_not_void_keeps_the_money() -> None:
    """The refund comes before the silent charge: nothing to give back, then it lands."""
    each = order()
    report = verify(each.machine, each.module, undo=Undo.NOTHING)
    assert broken(report)["keeps_money"] == (0, 9)


def test_silence_taken_for_a_failure_keeps_the_money() -> None:
    rewrite = ("=> retry ladder then abort with undo", "=> retry ladder then abort")
    found = explored(subject("shop/orders.deed", "Order", rewrite=rewrite))
    assert "keeps_money" in found


def test_an_answer_to_an_earlier_issue_that_is_believed() -> None:
    found = explored(order((ITS_ANSWER, "case ReserveReserved():")))
    assert found["late_answers_change_nothing"] is not None
    faults, _ = found["late_answers_change_nothing"]
    assert faults == 1


def test_a_retry_before_its_time() -> None:
    assert explored(order((ITS_TIME, "case Due():")))["no_early_wake"] is not None


def test_a_deadline_that_nobody_wakes_for() -> None:
    found = explored(
        order(("            return state.due\n", "            return None\n"))
    )
    assert found["wakes_at_the_soonest_deadline"] is not None
    assert found["ends"] is not None


def test_an_undo_that_is_left_out_keeps_the_money() -> None:
    """The stock is released, and the payment is forgotten."""
    old = "            return _to_payment_undoing("
    text = files("shop/orders.deed")["orders/order.py"]
    place = text.index(old, text.index("def _stock_undoing("))
    end = text.index("            )\n", place) + len("            )\n")
    instead = "            return _to_refunded(state, cause=state.cause)\n"
    rest = text[place:]
    found = explored(order((rest, instead + text[end:])))
    assert found["keeps_money"] is not None


def test_a_reducer_that_raises() -> None:
    found = explored(
        order(("def _stock_backoff(state: StockBackoff, msg: Msg) -> Step:\n",
               "def _stock_backoff(state: StockBackoff, msg: Msg) -> Step:\n    assert msg is None\n"))
    )  # fmt: skip
    assert found["no_exception"] is not None


def test_a_lease_that_ends_earlier_by_a_renewal() -> None:
    found = explored(
        lease(("expires=max(state.expires, ", "expires=min(state.expires, "))
    )
    assert found["only_later"] is not None


def test_a_deadline_that_comes_too_late_for_the_property() -> None:
    rewrite = ("deadline: now + 30s", "deadline: now + 31s")
    found = explored(subject("fleet/lease.deed", "Lease", rewrite=rewrite))
    assert found["drains"] == (0, 5)


def forgets_the_outbox(
    machine: AnyMachine, state: Any, message: Any
) -> Step[Any, Any] | Refused:
    result = step(machine, state, message)
    return result if isinstance(result, Refused) else replace(result, owed=())


def withdraws_nothing(
    machine: AnyMachine, state: Any, message: Any
) -> Step[Any, Any] | Refused:
    result = step(machine, state, message)
    return result if isinstance(result, Refused) else replace(result, withdrawn=None)


@pytest.mark.parametrize(
    ("mutant", "steps"), [(forgets_the_outbox, 1), (withdraws_nothing, 3)]
)
def test_an_interpreter_that_keeps_its_rows_badly(mutant: Any, steps: int) -> None:
    each = order()
    found = broken(verify(each.machine, each.module, step=mutant))
    assert found["rows_are_awaited"] == (0, steps)


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
