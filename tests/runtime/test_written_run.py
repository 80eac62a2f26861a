"""A run that is written down, carried out by the real interpreter in memory and on SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest
from deedbox.replay import (
    Action,
    Answers,
    Begin,
    Crash,
    Decides,
    Does,
    Fires,
    HandedOut,
    Raises,
    Tell,
    Where,
    replay,
)
from orders import order
from orders.types import Line, OrderId, PaymentRef

START = order.Start(order=OrderId("one"), amount=5, lines=(Line(sku="T", quantity=1),))
PAID = order.ChargePaid(ref=PaymentRef("p"))
EVERYWHERE = pytest.mark.parametrize("where", ["memory", "sqlite"])


def paid(deed: int | None) -> Decides:
    return Decides(deed, "charge", "paid", PAID)


def run(*steps: tuple[Action, str]) -> list[Does]:
    return [Does(action, phase) for action, phase in steps]


@EVERYWHERE
@pytest.mark.parametrize("trouble", [Crash(), Raises()])
def test_what_was_paid_before_the_trouble_is_paid_once(
    where: Where, trouble: Action, tmp_path: Path
) -> None:
    steps = run(
        (Begin(START), "PaymentRunning"),
        (HandedOut(), "PaymentRunning"),
        (paid(1), "PaymentRunning"),
        (trouble, "PaymentRunning"),
        (HandedOut(), "PaymentRunning"),
        (paid(1), "PaymentRunning"),
        (Answers(), "StockRunning"),
    )
    end = replay(order.machine, steps, where, tmp_path)
    assert end.reached("StockRunning", {"charge.paid": 1}, {"cancelled": None})


@EVERYWHERE
def test_a_message_after_a_crash_meets_what_was_stored(
    where: Where, tmp_path: Path
) -> None:
    steps = run(
        (Begin(START), "PaymentRunning"),
        (Fires(), "PaymentSilent"),
        (Crash(), "PaymentSilent"),
        (Tell(order.Cancel(reason="late")), "PaymentUndoing"),
    )
    end = replay(order.machine, steps, where, tmp_path)
    assert end.reached("PaymentUndoing", {}, {"cause": "cancelled: late"})


@EVERYWHERE
def test_a_run_that_the_machine_does_not_follow_says_where_they_part(
    where: Where, tmp_path: Path
) -> None:
    steps = run((Begin(START), "PaymentRunning"), (Fires(), "Refunded"))
    end = replay(order.machine, steps, where, tmp_path)
    assert end.parted == "at step 2: it is PaymentSilent, not Refunded"
    assert not end.reached("PaymentSilent", {}, {})


def test_an_answer_that_the_far_side_has_not_decided_is_no_run(tmp_path: Path) -> None:
    steps = run((Begin(START), "PaymentRunning"), (Answers(), "StockRunning"))
    end = replay(order.machine, steps, "memory", tmp_path)
    assert end.parted == "at step 2: the far side has not decided"
