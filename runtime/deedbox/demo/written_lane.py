"""Lane B: the same shop, its obligations written down by the machine `Order`.

The handlers below are all there is: no loop, no sleep, no status.  What is owed,
which attempt it is on and when it is due stand in the store before anything is
asked of the processor.
"""

from __future__ import annotations

import asyncio
import sys

import deedbox
from deedbox import Instant

from .account import Account
from .lifeline import die_with_the_parent
from .orders import order
from .orders.types import HoldId, PaymentRef


class Shop:
    """The handlers of `Order`.  A call that gets no answer raises, and is owed still."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def charge(self, cmd: order.Charge, /) -> order.ChargeOutcome:
        answer = self._account.ask(
            "charge", key=cmd.idempotency_key, order=cmd.order, amount=cmd.amount
        )
        if answer.outcome == "declined":
            return order.ChargeDeclined(reason=answer.reason)
        return order.ChargePaid(ref=PaymentRef(answer.ref))

    def refund(self, cmd: order.Refund, /) -> order.RefundOutcome:
        self._account.ask(
            "refund",
            key=cmd.idempotency_key,
            order=cmd.order,
            ref=cmd.ref,
            deed=cmd.deed,
        )
        return order.RefundRefunded()

    def reserve(self, cmd: order.Reserve, /) -> order.ReserveOutcome:
        answer = self._account.ask("reserve", key=cmd.idempotency_key, order=cmd.order)
        if answer.outcome == "sold_out":
            return order.ReserveSoldOut()
        return order.ReserveReserved(hold=HoldId(answer.ref))

    def release(self, cmd: order.Release, /) -> order.ReleaseOutcome:
        self._account.ask(
            "release", key=cmd.idempotency_key, order=cmd.order, ref=cmd.hold
        )
        return order.ReleaseReleased()

    def settle(self, cmd: order.Settle, /) -> order.SettleOutcome:
        answer = self._account.ask(
            "settle", key=cmd.idempotency_key, order=cmd.order, ref=cmd.ref
        )
        return order.SettleSettled(settled_at=Instant(answer.at))

    def page_oncall(self, cmd: order.PageOncall, /) -> None:
        print(f"{cmd.order}: {cmd.error}", file=sys.stderr)


async def serve(store: str, account: Account) -> None:
    box = deedbox.open(store, [order.machine])
    async with deedbox.Worker(box, {order.machine: Shop(account)}):
        await asyncio.Event().wait()


def main(arguments: list[str]) -> None:
    store, port = arguments[0], int(arguments[1])
    die_with_the_parent()
    asyncio.run(serve(store, Account(port, "B")))


if __name__ == "__main__":
    main(sys.argv[1:])
