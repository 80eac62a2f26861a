"""A run that is written down, carried out by the real interpreter in memory and on SQLite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from deedbox.replay import (
    Action,
    Answers,
    Arrives,
    Begin,
    Comes,
    Crash,
    Decides,
    Does,
    Early,
    Fires,
    HandedOut,
    Late,
    Passes,
    Raises,
    Ran,
    Seen,
    Tell,
    Waits,
    Where,
    message,
    replay,
)
from deedbox.step import AnyMachine
from lease import lease
from lease.types import ResourceId
from orders import order
from orders.types import Line, OrderId, PaymentRef

START = order.Start(order=OrderId("one"), amount=5, lines=(Line(sku="T", quantity=1),))
PAID = order.ChargePaid(ref=PaymentRef("p"))
EVERYWHERE = pytest.mark.parametrize("where", ["memory", "sqlite"])


def run(*steps: tuple[Action, str]) -> list[Does]:
    return [Does(action, phase) for action, phase in steps]


CHARGED = run(
    (Begin(START), "PaymentRunning"),
    (HandedOut(), "PaymentRunning"),
    (Decides(PAID), "PaymentRunning"),
    (Answers(), "StockRunning"),
)


@EVERYWHERE
@pytest.mark.parametrize("trouble", [Crash(), Raises()])
def test_what_was_paid_before_the_trouble_is_paid_once(
    where: Where, trouble: Action, tmp_path: Path
) -> None:
    steps = run(
        (Begin(START), "PaymentRunning"),
        (HandedOut(), "PaymentRunning"),
        (Decides(PAID), "PaymentRunning"),
        (trouble, "PaymentRunning"),
        (HandedOut(), "PaymentRunning"),
        (Decides(PAID), "PaymentRunning"),
        (Answers(), "StockRunning"),
    )
    ran = replay(order.machine, steps, where, tmp_path)
    assert ran.parted == ""
    assert isinstance(ran.end.state, order.StockRunning)
    assert ran.end.count(order.ChargePaid) == 1
    assert ran.end.owed == ("reserve",)
    assert len(ran.seen) == len(steps)
    assert ran.broke == frozenset()


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
    ran = replay(order.machine, steps, where, tmp_path)
    assert isinstance(ran.end.state, order.PaymentUndoing)
    assert ran.end.state.cause == "cancelled: late"


@EVERYWHERE
def test_an_answer_before_its_deadline_is_heard_although_its_time_has_come(
    where: Where, tmp_path: Path
) -> None:
    """The deadline has come and no timer went off: the answer is taken first."""
    steps = [*CHARGED[:3], Does(Comes("silent_at"), "PaymentRunning"), CHARGED[3]]
    ran = replay(order.machine, steps, where, tmp_path)
    assert ran.parted == ""
    assert ran.seen[3].now > ran.seen[2].now
    assert ran.end.at == ran.seen[3].now


@EVERYWHERE
def test_time_that_passes_wakes_who_waits(where: Where, tmp_path: Path) -> None:
    first = CHARGED[0]
    ran = replay(order.machine, [first], where, tmp_path)
    assert ran.end.wake_at is not None
    wait = Waits(ran.end.wake_at - ran.end.now)
    folder = tmp_path / "again"
    folder.mkdir()
    ran = replay(order.machine, [first, Does(wait, "PaymentSilent")], where, folder)
    assert ran.parted == ""


@EVERYWHERE
def test_what_fires_in_the_same_transaction_is_a_step_of_its_own(
    where: Where, tmp_path: Path
) -> None:
    """The lease ends as it is given; that it was held is seen all the same."""
    steps = run(
        (Begin(lease.Start(resource=ResourceId("r"))), "Free"),
        (Tell(message(lease.Acquire, holder="h", ttl=0)), "Held"),
        (Fires(), "Draining"),
        (Passes(30_000), "Draining"),
        (Fires(), "Retired"),
    )
    ran = replay(lease.machine, steps, where, tmp_path)
    assert ran.parted == ""
    assert isinstance(ran.seen[1].state, lease.Held)
    assert ran.seen[1].now == ran.seen[2].now
    assert ran.end.at == ran.seen[2].at + 30_000
    folder = tmp_path / "again"
    folder.mkdir()
    late = [*steps[:3], Does(Passes(30_001), "Draining")]
    assert replay(lease.machine, late, where, folder).parted.startswith("at step 4")


@EVERYWHERE
def test_a_run_that_the_machine_does_not_follow_says_where_they_part(
    where: Where, tmp_path: Path
) -> None:
    steps = run((Begin(START), "PaymentRunning"), (Fires(), "Refunded"))
    ran = replay(order.machine, steps, where, tmp_path)
    assert ran.parted == "at step 2: it is PaymentSilent, not Refunded"


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Answers(), "the far side has not decided"),
        (Arrives(PAID, 2), "there is no such deed of charge"),
        (Comes("due"), "it has no due"),
        (HandedOut({"amount": 6}), "amount is 5, not 6"),
    ],
)
def test_a_step_that_cannot_happen_is_where_they_part(
    step: Action, why: str, tmp_path: Path
) -> None:
    steps = [CHARGED[0], Does(step, "PaymentRunning")]
    ran = replay(order.machine, steps, "memory", tmp_path)
    assert ran.parted == f"at step 2: {why}"


@pytest.mark.parametrize("step", [Early(), Late(order.ReserveSoldOut())])
def test_what_the_interpreter_keeps_from_a_reducer_changes_nothing_in_a_good_one(
    step: Action, tmp_path: Path
) -> None:
    """R5: an answer counts for the issue that asked, a wake for a deadline that came."""
    steps = [*CHARGED, Does(step, "StockRunning")]
    ran = replay(order.machine, steps, "memory", tmp_path)
    assert ran.parted == ""
    assert ran.end.state == ran.before.state


# ---- machines with a mistake -----------------------------------------------------


reduced: Any = order.machine.reduce


def with_reducer(reduce: Any) -> AnyMachine:
    return replace(order.machine, reduce=reduce)


def test_a_reducer_that_believes_a_late_answer_is_seen(tmp_path: Path) -> None:
    def credulous(state: Any, message: Any) -> Any:
        if isinstance(message, order.ReserveSoldOut):
            message = msgspec.structs.replace(message, ticket=state.ticket)
        return order.machine.reduce(state, message)

    steps = [*CHARGED, Does(Late(order.ReserveSoldOut()), "PaymentUndoing")]
    ran = replay(with_reducer(credulous), steps, "memory", tmp_path)
    assert ran.parted == ""
    assert ran.end.state != ran.before.state


@pytest.mark.parametrize("last", [CHARGED[3], Does(Fires(), "PaymentRunning")])
def test_a_reducer_that_raises_is_told_of_in_its_own_words(
    last: Does, tmp_path: Path
) -> None:
    def fragile(_: Any, __: Any) -> Any:
        raise ValueError("not thought of")

    steps = [*CHARGED[:3], Does(last.action, "PaymentRunning")]
    ran = replay(with_reducer(fragile), steps, "memory", tmp_path)
    assert ran.parted == ""
    assert "not thought of" in ran.raised
    ran = replay(with_reducer(fragile), [*steps, steps[1]], "memory", tmp_path)
    assert "not thought of" in ran.parted


def test_a_start_that_raises_is_told_of(tmp_path: Path) -> None:
    def fragile(_: Any) -> Any:
        raise ValueError("not thought of")

    machine = replace(order.machine, start=fragile)
    ran = replay(machine, [Does(Begin(START), "")], "memory", tmp_path)
    assert "not thought of" in ran.raised


def test_a_reducer_that_gives_now_this_and_now_that_is_seen(tmp_path: Path) -> None:
    attempts = iter(range(1, 100))

    def fickle(state: Any, message: Any) -> Any:
        new, owed = reduced(state, message)
        return msgspec.structs.replace(new, attempt=next(attempts)), owed

    ran = replay(with_reducer(fickle), CHARGED, "memory", tmp_path)
    assert ran.broke == {"deterministic"}


def test_the_same_key_with_other_arguments_is_seen(tmp_path: Path) -> None:
    def forgetful(state: Any, message: Any) -> Any:
        new, owed = reduced(state, message)
        if owed and isinstance(owed[0], order.Charge):
            owed = (msgspec.structs.replace(owed[0], amount=7),)
        return new, owed

    steps = run(
        (Begin(START), "PaymentRunning"),
        (Fires(), "PaymentSilent"),
        (Fires(), "PaymentRunning"),
    )
    ran = replay(with_reducer(forgetful), steps, "memory", tmp_path)
    assert ran.parted == ""
    assert ran.broke == {"same_arguments"}


# ---- what can be asked of a run --------------------------------------------------


def seen(now: int, phase: str, count: int = 0) -> Seen[Any]:
    """An instance whose state is a name."""
    state: Any = phase
    return Seen(state, now, now, None, (), {"ChargePaid": count})


def test_a_debt_is_as_old_as_its_premise_and_ends_with_its_goal() -> None:
    def premise(each: Seen[Any]) -> bool:
        return each.count(order.ChargePaid) > 0

    def goal(each: Seen[Any]) -> bool:
        return bool(each.state == "Done")

    owing = (seen(0, "A"), seen(5, "A", 1), seen(9, "B", 1))
    assert Ran(owing).owed_for(premise, goal) == 4
    assert Ran((*owing, seen(11, "Done", 1))).owed_for(premise, goal) == -1
    assert Ran((*owing, seen(11, "Done", 1), seen(12, "A", 1))).owed_for(
        premise, goal
    ) == (0)
    assert Ran(owing[:1]).owed_for(premise, goal) == -1


def test_a_run_goes_round_when_two_rounds_end_where_they_began() -> None:
    def begins(each: Seen[Any]) -> bool:
        return bool(each.state == "A")

    rounds = [seen(n, phase) for n, phase in enumerate("SABABA")]
    assert Ran(tuple(rounds)).goes_round(2, begins)
    assert not Ran((*rounds[:3], seen(3, "C"), *rounds[4:])).goes_round(2, begins)
