"""How fast the generated reducer of the order is, on one core.

One round is the life of four orders: paid at once, paid after three declines, silent
and then paid, and sold out with a refund that fails once.  Every step that the reducer
takes counts; nothing is stored and nothing is encoded.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from deedbox import Due, Instant, Refused
from orders import order
from orders.types import HoldId, Line, OrderId, PaymentRef

START: Final = order.Start(
    order=OrderId("o-1"),
    amount=4_200,
    lines=(Line(sku="TEA-001", quantity=2),),
    at=Instant(1_786_952_955_102),
)


def life(
    answers: Callable[[order.State], order.Msg],
) -> list[tuple[order.State, order.Msg]]:
    """Every (state, message) of one order from its start to its end."""
    state, _ = order.start(START)
    steps: list[tuple[order.State, order.Msg]] = []
    while type(state) not in order.machine.finals:
        message = answers(state)
        steps.append((state, message))
        step = order.reduce(state, message)
        if not isinstance(step, Refused):
            state = step[0]
    return steps


def due(state: order.State) -> Due:
    return Due(at=order.wake(state) or START.at)


def declined_thrice(state: order.State) -> order.Msg:
    match state:
        case order.PaymentRunning():
            if state.attempt < 4:
                return order.ChargeDeclined("no funds", state.silent_at, state.ticket)
            return order.ChargePaid(PaymentRef("p"), state.silent_at, state.ticket)
        case order.StockRunning():
            return order.ReserveReserved(HoldId("h"), START.at, state.ticket)
        case order.SettlementRunning():
            return order.SettleSettled(START.at, START.at, state.ticket)
        case _:
            return due(state)


def paid_at_once(state: order.State) -> order.Msg:
    if isinstance(state, order.PaymentRunning):
        return order.ChargePaid(PaymentRef("p"), START.at, state.ticket)
    return declined_thrice(state)


def silent_once(state: order.State) -> order.Msg:
    if isinstance(state, order.PaymentRunning) and state.attempt == 1:
        return due(state)
    return paid_at_once(state)


def sold_out(state: order.State) -> order.Msg:
    match state:
        case order.PaymentRunning():
            return order.ChargePaid(PaymentRef("p"), START.at, state.ticket)
        case order.StockRunning():
            return order.ReserveSoldOut(START.at, state.ticket)
        case order.PaymentUndoing():
            if state.attempt == 1:
                return order.RefundFailed("busy", START.at, state.ticket)
            return order.RefundRefunded(START.at, state.ticket)
        case _:
            return due(state)


def main() -> None:
    lives = [
        life(answers)
        for answers in (paid_at_once, declined_thrice, silent_once, sold_out)
    ]
    steps = [step for steps in lives for step in steps]
    count, rounds, best = len(lives) + len(steps), 20_000, 0.0
    start, reduce = order.start, order.reduce
    for _ in range(5):
        begun = perf_counter()
        for _ in range(rounds):
            for _ in lives:
                start(START)
            for state, message in steps:
                reduce(state, message)
        best = max(best, rounds * count / (perf_counter() - begun))
    print(f"reducer of Order: {best:,.0f} transitions a second on one core")
    print(f"best of five runs of {rounds:,} times {count} steps of {len(lives)} orders")


if __name__ == "__main__":
    main()
