"""The order saga, by hand: what the reducer does on every path of the story (OS-01 … OS-13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
from deedbox import Due, Instant, Refused
from orders import order
from orders.types import HoldId, Line, OrderId, PaymentRef

AT = Instant(1_786_952_955_102)
HOUR = 3_600_000
REF, HOLD = PaymentRef("pay-1"), HoldId("hold-1")
LINES = (Line(sku="TEA-001", quantity=2),)
START = order.Start(order=OrderId("o-1"), amount=4_200, lines=LINES, at=AT)

S = TypeVar("S", bound=order.State)


def at(state: order.State, after: int = 0) -> Instant:
    """`after` milliseconds beyond the deadline of `state`, or beyond the beginning."""
    return Instant((order.wake(state) or AT) + after)


def taken(step: order.Step) -> order.Taken:
    assert not isinstance(step, Refused), step
    return step


def go(
    state: order.State, msg: order.Msg, into: type[S]
) -> tuple[S, tuple[order.Command, ...]]:
    after, commands = taken(order.reduce(state, msg))
    assert isinstance(after, into)
    return after, commands


def begun() -> order.PaymentRunning:
    state, _ = order.start(START)
    assert isinstance(state, order.PaymentRunning)
    return state


def paid(state: order.PaymentRunning) -> order.StockRunning:
    return go(state, order.ChargePaid(REF, AT, state.ticket), order.StockRunning)[0]


def declined(state: order.PaymentRunning) -> order.PaymentBackoff:
    msg = order.ChargeDeclined("no funds", AT, state.ticket)
    return go(state, msg, order.PaymentBackoff)[0]


def silent(state: order.PaymentRunning) -> order.PaymentSilent:
    return go(state, Due(at(state)), order.PaymentSilent)[0]


def reserved(state: order.StockRunning) -> order.SettlementRunning:
    msg = order.ReserveReserved(HOLD, AT, state.ticket)
    return go(state, msg, order.SettlementRunning)[0]


def sold_out() -> order.PaymentUndoing:
    state = paid(begun())
    return go(state, order.ReserveSoldOut(AT, state.ticket), order.PaymentUndoing)[0]


def test_a_start_asks_for_the_charge_under_a_key_made_of_saved_data() -> None:
    state, commands = order.start(START)
    assert commands == (
        order.Charge(
            idempotency_key=f"Order/o-1/{AT}/1",
            ticket=1,
            order=OrderId("o-1"),
            amount=4_200,
        ),
    )
    assert state == order.PaymentRunning(
        order=OrderId("o-1"),
        amount=4_200,
        lines=LINES,
        born=AT,
        issued=1,
        ticket=1,
        deed_number=1,
        attempt=1,
        silent_at=Instant(AT + 30_000),
        cancelled=None,
    )


def test_three_steps_lead_to_settled() -> None:
    """OS-01."""
    state = reserved(paid(begun()))
    msg = order.SettleSettled(Instant(AT + 9), AT, state.ticket)
    settled, commands = go(state, msg, order.Settled)
    assert (settled.ref, settled.hold, settled.settled_at) == (REF, HOLD, AT + 9)
    assert commands == ()


def test_three_declines_then_paid_go_on_with_the_stock() -> None:
    """OS-02, OS-09: attempts 1 to 4, each under a key of its own."""
    state, keys = begun(), [f"Order/o-1/{AT}/1"]
    for attempt in (1, 2, 3):
        assert state.attempt == attempt
        waiting = declined(state)
        state, commands = go(waiting, Due(at(waiting)), order.PaymentRunning)
        keys += [each.idempotency_key for each in commands]
    assert state.attempt == 4
    assert keys == [f"Order/o-1/{AT}/{number}" for number in (1, 2, 3, 4)]
    assert paid(state).ref == REF


def test_the_fourth_decline_ends_the_order_with_its_cause() -> None:
    state = msgspec.structs.replace(begun(), attempt=4)
    msg = order.ChargeDeclined("no funds", AT, state.ticket)
    ended, commands = go(state, msg, order.Refunded)
    assert (ended.cause, commands) == ("payment.declined: no funds", ())


def test_waits_follow_the_ladder_and_only_ever_come_sooner() -> None:
    """OS-05: a wait is the field `due`, 2, 4, 8 seconds less at most a fifth."""
    for attempt, delay in ((1, 2_000), (2, 4_000), (3, 8_000)):
        waiting = declined(msgspec.structs.replace(begun(), attempt=attempt))
        assert delay * 4 // 5 <= waiting.due - AT <= delay
        assert order.wake(waiting) == waiting.due


def test_a_wake_before_the_deadline_changes_nothing() -> None:
    waiting = declined(begun())
    step = order.reduce(waiting, Due(at(waiting, -1)))
    assert step == Refused("not_due", "no deadline has come")


def test_silence_asks_again_for_the_same_deed_under_the_same_key() -> None:
    """OS-13, B1: a new ticket, the old key, the same arguments."""
    first = begun()
    waiting = silent(first)
    again, commands = go(waiting, Due(at(waiting)), order.PaymentRunning)
    assert commands == (order.Charge(f"Order/o-1/{AT}/1", 2, OrderId("o-1"), 4_200),)
    assert (again.deed_number, again.ticket, again.attempt) == (1, 2, 2)


def test_a_late_paid_while_silent_is_inert_and_the_repeat_hears_it() -> None:
    waiting = silent(begun())
    late = order.reduce(waiting, order.ChargePaid(REF, AT, 1))
    assert isinstance(late, Refused)
    assert late.kind == "late"
    again, _ = go(waiting, Due(at(waiting)), order.PaymentRunning)
    assert paid(again).payment_deed == f"Order/o-1/{AT}/1"


def test_silence_to_the_end_gives_back_what_the_deed_may_have_done() -> None:
    """B2: no reference is known, so the refund gets the key of the deed."""
    state = msgspec.structs.replace(begun(), attempt=4)
    undoing, commands = go(state, Due(at(state)), order.PaymentUndoing)
    assert commands == (
        order.Refund(f"Order/o-1/{AT}/2", 2, OrderId("o-1"), None, f"Order/o-1/{AT}/1"),
    )
    assert (undoing.cause, undoing.ref) == ("payment.silence", None)


def test_sold_out_owes_the_refund_before_it_is_asked_for() -> None:
    """OS-10."""
    state = paid(begun())
    step = order.reduce(state, order.ReserveSoldOut(AT, state.ticket))
    undoing, commands = taken(step)
    assert isinstance(undoing, order.PaymentUndoing)
    assert undoing.cause == "stock.sold_out"
    assert commands == (
        order.Refund(f"Order/o-1/{AT}/3", 3, OrderId("o-1"), REF, f"Order/o-1/{AT}/1"),
    )


def test_a_refund_that_fails_is_tried_again_until_it_is_done() -> None:
    """OS-10: refunded becomes true once, and the end ignores a second answer."""
    state = sold_out()
    msg = order.RefundFailed("busy", AT, state.ticket)
    waiting, nothing = go(state, msg, order.PaymentUndoBackoff)
    assert nothing == ()
    again, commands = go(waiting, Due(at(waiting)), order.PaymentUndoing)
    assert [each.idempotency_key for each in commands] == [f"Order/o-1/{AT}/4"]
    answer = order.RefundRefunded(AT, again.ticket)
    ended, _ = go(again, answer, order.Refunded)
    assert ended.cause == "stock.sold_out"
    second = order.reduce(ended, answer)
    assert isinstance(second, Refused)
    assert second.kind == "late"


def test_an_undo_that_fails_for_an_hour_tells_someone_once() -> None:
    state = sold_out()
    msg = order.RefundFailed("busy", Instant(AT + HOUR), state.ticket)
    waiting, commands = go(state, msg, order.PaymentUndoBackoff)
    assert [type(each) for each in commands] == [order.PageOncall]
    again, _ = go(waiting, Due(at(waiting)), order.PaymentUndoing)
    later = order.RefundFailed("busy", Instant(AT + 2 * HOUR), again.ticket)
    _, untold = go(again, later, order.PaymentUndoBackoff)
    assert untold == ()


def test_a_refused_settlement_releases_then_refunds() -> None:
    """The way back is the way in, backwards; the hold is not kept beyond its release."""
    state = reserved(paid(begun()))
    msg = order.SettleRefused("closed", AT, state.ticket)
    releasing, commands = go(state, msg, order.StockUndoing)
    assert [type(each) for each in commands] == [order.Release]
    answer = order.ReleaseReleased(AT, releasing.ticket)
    refunding, commands = go(releasing, answer, order.PaymentUndoing)
    assert [type(each) for each in commands] == [order.Refund]
    assert refunding.cause == "settlement.refused: closed"
    assert "hold" not in refunding.__struct_fields__


def test_an_older_ticket_is_late_whatever_it_says() -> None:
    waiting = silent(begun())
    again, _ = go(waiting, Due(at(waiting)), order.PaymentRunning)
    for answer in (order.ChargePaid(REF, AT, 1), order.ChargeDeclined("no", AT, 1)):
        step = order.reduce(again, answer)
        assert isinstance(step, Refused)
        assert step.kind == "late"


def test_the_same_start_again_is_kept_in_every_phase() -> None:
    """B6."""
    settled, _ = go(
        reserved(paid(begun())),
        order.SettleSettled(AT, AT, 3),
        order.Settled,
    )
    for state in (begun(), declined(begun()), sold_out(), settled):
        assert order.reduce(state, START) == order.KEPT


def test_a_start_with_another_amount_is_refused() -> None:
    """B6."""
    step = order.reduce(begun(), msgspec.structs.replace(START, amount=1))
    assert isinstance(step, Refused)
    assert step.kind == "rejected"


CANCEL = order.Cancel("changed my mind", AT)
CAUSE = "cancelled: changed my mind"


def cancelled(state: S) -> S:
    return go(state, CANCEL, type(state))[0]


def test_cancel_then_paid_refunds_and_reserves_nothing() -> None:
    state = cancelled(begun())
    msg = order.ChargePaid(REF, AT, state.ticket)
    undoing, commands = go(state, msg, order.PaymentUndoing)
    assert (undoing.cause, undoing.ref) == (CAUSE, REF)
    assert [type(each) for each in commands] == [order.Refund]


def test_cancel_then_declined_ends_at_once() -> None:
    state = cancelled(begun())
    msg = order.ChargeDeclined("no funds", AT, state.ticket)
    ended, commands = go(state, msg, order.Refunded)
    assert (ended.cause, commands) == (CAUSE, ())


def test_cancel_then_silence_undoes_the_deed_and_asks_no_second_time() -> None:
    state = cancelled(begun())
    undoing, commands = go(state, Due(at(state)), order.PaymentUndoing)
    assert (undoing.cause, undoing.payment_deed) == (CAUSE, f"Order/o-1/{AT}/1")
    assert [type(each) for each in commands] == [order.Refund]


def test_cancel_while_waiting_ends_at_once_and_while_silent_undoes() -> None:
    assert go(declined(begun()), CANCEL, order.Refunded)[0].cause == CAUSE
    undoing, commands = go(silent(begun()), CANCEL, order.PaymentUndoing)
    assert (undoing.cause, undoing.ref) == (CAUSE, None)
    assert [type(each) for each in commands] == [order.Refund]


def test_cancel_while_reserving_then_reserved_releases_first() -> None:
    state = cancelled(paid(begun()))
    msg = order.ReserveReserved(HOLD, AT, state.ticket)
    undoing, commands = go(state, msg, order.StockUndoing)
    assert undoing.cause == CAUSE
    assert [type(each) for each in commands] == [order.Release]


def test_cancel_while_settling_comes_too_late() -> None:
    state = cancelled(reserved(paid(begun())))
    go(state, order.SettleSettled(AT, AT, state.ticket), order.Settled)


def test_of_two_cancels_the_later_reason_stands() -> None:
    state = cancelled(begun())
    later, _ = go(state, order.Cancel("no, really", AT), order.PaymentRunning)
    assert later.cancelled == "no, really"


def test_cancel_on_the_way_back_or_after_the_end_is_ignored_and_said_so() -> None:
    ended, _ = go(declined(begun()), CANCEL, order.Refunded)
    for state in (sold_out(), ended):
        step = order.reduce(state, CANCEL)
        assert isinstance(step, Refused)
        assert step.kind == "ignored"


def test_two_wakes_fire_one_deadline_once() -> None:
    waiting = declined(begun())
    wake = Due(at(waiting))
    running, _ = go(waiting, wake, order.PaymentRunning)
    assert order.reduce(running, wake) == order.NOT_DUE


def test_leaving_a_state_that_waits_for_an_answer_stops_waiting_for_it() -> None:
    waits: list[Callable[[], order.State]] = [begun, lambda: paid(begun()), sold_out]
    assert [order.awaited(each()) for each in waits] == [1, 2, 3]
    assert order.awaited(declined(begun())) is None
    assert order.awaited(silent(begun())) is None


def test_the_module_knows_no_clock_no_storage_and_no_randomness() -> None:
    """OS-12."""
    source = order.__file__
    assert source is not None
    with open(source, encoding="utf-8") as file:
        lines = [line for line in file if line.startswith(("import ", "from "))]
    modules = {line.split()[1] for line in lines}
    assert modules == {
        "__future__",
        "collections.abc",
        "typing",
        "deedbox",
        "msgspec",
        ".",
        ".order_sqlite",
        ".types",
    }
