"""A worker process that starts one purchase and ends when the purchase has ended.

    python worker.py STORE LEDGER SOLD_OUT [VERB SIDE]

It is started again with the same arguments after a kill; the second start of a
purchase with the same given is kept.  With the SIDE `waits` its wall clock stands still
from the first asking of VERB on: the wait that follows lasts until somebody ends it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import deedbox
from deedbox.clock import Clock, RealClock
from far_side import FarSide, Side
from purchases import purchase
from purchases.types import HoldId, PaymentRef, PurchaseId


class Standing:
    """The clocks of this machine, of which the one on the wall can be stopped."""

    def __init__(self) -> None:
        real = self._real = RealClock()
        self.monotonic, self.boot, self.host = real.monotonic, real.boot, real.host
        self.wait, self.call_later = real.wait, real.call_later
        self._stands_at: int | None = None

    def wall(self) -> int:
        return self._real.wall() if self._stands_at is None else self._stands_at

    def stand(self) -> None:
        self._stands_at = self._real.wall()


class Shop:
    """`waits` is called at the first asking of the verb that is to wait for ever."""

    def __init__(
        self, far_side: FarSide, *, sold_out: bool, waits: dict[str, Callable[[], None]]
    ) -> None:
        self._far_side = far_side
        self._sold_out = sold_out
        self._waits = waits

    def _first(self, verb: str) -> None:
        self._waits.get(verb, lambda: None)()

    def charge(self, cmd: purchase.Charge, /) -> purchase.ChargeOutcome:
        def decide(asked: int) -> str:
            if not asked:
                self._first("charge")
            return "paid" if asked else "declined"

        if self._far_side.ask("charge", cmd.idempotency_key, decide) == "paid":
            return purchase.ChargePaid(ref=PaymentRef("ref"))
        return purchase.ChargeDeclined(reason="not yet")

    def refund(self, cmd: purchase.Refund, /) -> purchase.RefundOutcome:
        def decide(asked: int) -> str:
            if not asked:
                self._first("refund")
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


async def serve(store: str, shop: Shop, clock: Clock) -> None:
    box = deedbox.open(store, [purchase.machine], clock=clock)
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
    clock = Standing()
    dies, waits = None, dict[str, Callable[[], None]]()
    match fatal:
        case [verb, "waits"]:
            waits[verb] = clock.stand
        case [verb, word]:
            dies = verb, side(word)
        case _:
            pass
    far_side = FarSide(Path(ledger), dies)
    shop = Shop(far_side, sold_out=sold_out == "sold_out", waits=waits)
    asyncio.run(serve(store, shop, clock))


if __name__ == "__main__":
    main(sys.argv[1:])
