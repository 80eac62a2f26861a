"""A worker process that starts one purchase and ends when the purchase has ended.

    python worker.py STORE LEDGER SOLD_OUT [VERB SIDE]

It is started again with the same arguments after a kill; the second start of a
purchase with the same given is kept.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import deedbox
from far_side import FarSide, Side
from purchases import purchase
from purchases.types import HoldId, PaymentRef, PurchaseId


class Shop:
    def __init__(self, far_side: FarSide, *, sold_out: bool) -> None:
        self._far_side = far_side
        self._sold_out = sold_out

    def charge(self, cmd: purchase.Charge, /) -> purchase.ChargeOutcome:
        def decide(asked: int) -> str:
            return "paid" if asked else "declined"

        if self._far_side.ask("charge", cmd.idempotency_key, decide) == "paid":
            return purchase.ChargePaid(ref=PaymentRef("ref"))
        return purchase.ChargeDeclined(reason="not yet")

    def refund(self, cmd: purchase.Refund, /) -> purchase.RefundOutcome:
        def decide(asked: int) -> str:
            return "refunded" if asked else "failed"

        if self._far_side.ask("refund", cmd.idempotency_key, decide) == "refunded":
            return purchase.RefundRefunded()
        return purchase.RefundFailed(error="not yet")

    def reserve(self, cmd: purchase.Reserve, /) -> purchase.ReserveOutcome:
        def decide(_asked: int) -> str:
            return "sold_out" if self._sold_out else "reserved"

        if self._far_side.ask("reserve", cmd.idempotency_key, decide) == "sold_out":
            return purchase.ReserveSoldOut()
        return purchase.ReserveReserved(hold=HoldId("hold"))

    def page_oncall(self, cmd: purchase.PageOncall, /) -> None:
        raise AssertionError(f"nobody is to be called for {cmd.purchase}")


async def serve(store: str, shop: Shop) -> None:
    box = deedbox.open(store, [purchase.machine])
    async with deedbox.Worker(box, {purchase.machine: shop}) as worker:
        await worker.start(purchase.Start(purchase=PurchaseId("p-1"), amount=1200))
        ends = ("Settled", "Refunded")
        await worker.wait(purchase.machine, "p-1", phases=ends, timeout=30)


def side(word: str) -> Side:
    match word:
        case "before" | "after":
            return word
        case _:
            raise ValueError(word)


def main(arguments: list[str]) -> None:
    store, ledger, sold_out, *fatal = arguments
    dies = (fatal[0], side(fatal[1])) if fatal else None
    shop = Shop(FarSide(Path(ledger), dies), sold_out=sold_out == "sold_out")
    asyncio.run(serve(store, shop))


if __name__ == "__main__":
    main(sys.argv[1:])
