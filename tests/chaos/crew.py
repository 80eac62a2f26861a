"""One of several worker processes on one store; it serves until its input ends.

    python crew.py STORE LEDGER PAUSE LEASE

`PAUSE` and `LEASE` are milliseconds: of each handler, and of the session.  The far side
is a ledger by key, in which each asking is counted.  At its end it prints its counts.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from pathlib import Path
from typing import Final

import deedbox
from deedbox import Rules
from purchases import purchase
from purchases.types import HoldId, PaymentRef, PurchaseId

CREATE: Final = """
create table if not exists ledger (
    key text primary key, verb text not null, purchase text not null, asked integer not null
)
"""
ASK: Final = """
insert into ledger values (?, ?, ?, 1) on conflict (key) do update set asked = asked + 1
"""


class Shop:
    def __init__(self, ledger: Path, pause: float) -> None:
        self._ledger = open_ledger(ledger)
        self._pause = pause

    async def _ask(self, verb: str, key: str, of: PurchaseId) -> None:
        await asyncio.sleep(self._pause / 2)
        self._ledger.execute(ASK, (key, verb, of))
        await asyncio.sleep(self._pause / 2)

    async def charge(self, cmd: purchase.Charge, /) -> purchase.ChargeOutcome:
        await self._ask("charge", cmd.idempotency_key, cmd.purchase)
        return purchase.ChargePaid(ref=PaymentRef("ref"))

    async def refund(self, cmd: purchase.Refund, /) -> purchase.RefundOutcome:
        await self._ask("refund", cmd.idempotency_key, cmd.purchase)
        return purchase.RefundRefunded()

    async def reserve(self, cmd: purchase.Reserve, /) -> purchase.ReserveOutcome:
        await self._ask("reserve", cmd.idempotency_key, cmd.purchase)
        return purchase.ReserveReserved(hold=HoldId("hold"))

    async def page_oncall(self, cmd: purchase.PageOncall, /) -> None:
        raise AssertionError(f"nobody is to be called for {cmd.purchase}")


def open_ledger(path: Path) -> sqlite3.Connection:
    """The far side outlives its askers, so a lost power is not its concern."""
    rows = sqlite3.connect(path, isolation_level=None, timeout=60.0)
    rows.execute("pragma synchronous = off")
    rows.execute(CREATE)
    return rows


async def serve(store: str, shop: Shop, lease: int) -> dict[str, int]:
    loop = asyncio.get_running_loop()
    with deedbox.open(store, [purchase.machine], rules=Rules(lease=lease)) as box:
        async with deedbox.Worker(box, {purchase.machine: shop}, window=16):
            print("serving", flush=True)
            await loop.run_in_executor(None, sys.stdin.read)
        return dict(box.counts)


def main(arguments: list[str]) -> None:
    store, ledger, pause, lease = arguments
    shop = Shop(Path(ledger), int(pause) / 1000)
    print(json.dumps(asyncio.run(serve(store, shop, int(lease)))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
