"""Three-step sagas on SQLite, beside two measures of what could be had at most.

    python bench/saga.py [SECONDS]

The order saga of the gallery: start, charge, reserve, settle, each step a row of the
instance, the journal and the outbox, all durable (`synchronous=FULL`) before anything
is handed out.  Handlers answer at once, so what is measured is the interpreter.
The floor has the same reducer and handlers, asyncio and group commit, and nothing of
an interpreter (`floor.py`).  The bare loop does the writes of as many steps in batches
of the same size: no reducer, no decoding, no handlers, no answers.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles

import deedbox
from deedbox import Instant
from floor import Floor
from orders import order
from orders.types import HoldId, Line, OrderId, PaymentRef

LINES = (Line(sku="TEA-001", quantity=2),)


class Shop:
    """Everything succeeds at once."""

    async def charge(self, cmd: order.Charge, /) -> order.ChargeOutcome:
        return order.ChargePaid(ref=PaymentRef(f"pay-{cmd.order}"))

    async def refund(self, _: order.Refund, /) -> order.RefundOutcome:
        return order.RefundRefunded()

    async def reserve(self, cmd: order.Reserve, /) -> order.ReserveOutcome:
        return order.ReserveReserved(hold=HoldId(f"hold-{cmd.order}"))

    async def release(self, _: order.Release, /) -> order.ReleaseOutcome:
        return order.ReleaseReleased()

    async def settle(self, _: order.Settle, /) -> order.SettleOutcome:
        return order.SettleSettled(settled_at=Instant(1_786_952_955_102))

    async def page_oncall(self, _: order.PageOncall, /) -> None:
        return None


def start(number: int) -> order.Start:
    return order.Start(order=OrderId(f"o-{number:07}"), amount=4_200, lines=LINES)


async def sagas(
    url: str, at_once: int, seconds: float
) -> tuple[int, list[float], float]:
    """So many sagas ended, how long each took, and the processor time in all."""
    box = deedbox.open(url, [order.machine])
    took: list[float] = []
    number = 0
    async with deedbox.Worker(box, {order.machine: Shop()}) as worker:
        end = time.perf_counter() + seconds

        async def one_after_another() -> None:
            nonlocal number
            while (began := time.perf_counter()) < end:
                number += 1
                message = start(number)
                await worker.start(message)
                await worker.wait(order.machine, message.order)
                took.append(time.perf_counter() - began)

        busy = time.process_time()
        await asyncio.gather(*(one_after_another() for _ in range(at_once)))
        busy = time.process_time() - busy
    box.close()
    return len(took), took, busy


async def floor(path: Path, at_once: int, seconds: float) -> tuple[int, float]:
    """So many sagas ended on the floor, and the processor time in all."""
    bare = Floor(path, Shop())
    number = 0
    end = time.perf_counter() + seconds

    async def one_after_another() -> int:
        nonlocal number
        ended = 0
        while time.perf_counter() < end:
            number += 1
            await bare.saga(start(number))
            ended += 1
        return ended

    busy = time.process_time()
    ended = sum(await asyncio.gather(*(one_after_another() for _ in range(at_once))))
    busy = time.process_time() - busy
    bare.close()
    return ended, busy


def bulk(url: str, number: int) -> float:
    """Seconds to start so many, and have each one's receipt."""
    with deedbox.open(url, [order.machine]) as box:
        began = time.perf_counter()
        box.start_many(start(each) for each in range(number))
        return time.perf_counter() - began


class Rows:
    """The rows of one saga, as the interpreter stored them."""

    def __init__(self, folder: Path) -> None:
        path = folder / "sample.db"
        asyncio.run(sagas(f"sqlite:///{path}", 1, 0.05))
        sample = sqlite3.connect(path)
        self.instance = sample.execute("select * from deedbox_order limit 1").fetchone()
        self.journal = sample.execute(
            "select * from deedbox_journal where id = ? order by rev",
            (self.instance[0],),
        ).fetchall()
        sample.close()
        self.path = folder / "bare.db"
        box = deedbox.open(f"sqlite:///{self.path}", [order.machine])
        box.close()

    def bare(self, at_once: int, seconds: float) -> int:
        """How many sagas' worth of rows a loop writes, in batches of that many steps."""
        db = sqlite3.connect(self.path, isolation_level=None)
        db.execute("pragma synchronous = full")
        db.execute("pragma wal_autocheckpoint = 4000")
        insert = "insert into deedbox_order values (?,?,?,?,?,?,?,?,?)"
        update = "update deedbox_order set rev=?, phase=?, doc=? where id=? and rev=?"
        owe = "insert into deedbox_outbox values (?,?,?,?,?,?,?,?,?,?,?,?,?)"
        take = "delete from deedbox_outbox where machine=? and id=? and ticket=?"
        journal = "insert into deedbox_journal values (?,?,?,?,?,?,?)"
        first, ended = 0, 0
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            ids = [f"o-{each:07}" for each in range(first, first + at_once)]
            first += at_once
            for step, row in enumerate(self.journal):
                db.execute("begin immediate")
                if step == 0:
                    db.executemany(insert, [(id, *self.instance[1:]) for id in ids])
                    db.executemany(
                        "update deedbox_order set rev = 1 where id = ?",
                        [(id,) for id in ids],
                    )
                else:
                    phase, doc = self.instance[2], self.instance[8]
                    db.executemany(take, [("Order", id, step) for id in ids])
                    db.executemany(
                        update, [(step + 1, phase, doc, id, step) for id in ids]
                    )
                held = (1, None, 1, 0, None, None, 1, row[6])
                if step < 3:
                    db.executemany(
                        owe,
                        [
                            (
                                "Order",
                                id,
                                step + 1,
                                "charge",
                                f"Order/{id}/1/{step}",
                                *held,
                            )
                            for id in ids
                        ],
                    )
                db.executemany(journal, [("Order", id, *row[2:]) for id in ids])
                db.execute("commit")
            ended += at_once
        db.close()
        return ended


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def main(arguments: list[str]) -> None:
    seconds = float(arguments[0]) if arguments else 5.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = Rows(folder)
        for at_once in (1, 16, 64, 256):
            url = f"sqlite:///{folder / f'{at_once}.db'}"
            ended, took, busy = asyncio.run(sagas(url, at_once, seconds))
            cuts = quantiles(took, n=100)
            bare = rows.bare(at_once, seconds / 2)
            rows = Rows(Path(tempfile.mkdtemp(dir=folder)))
            best, best_busy = asyncio.run(
                floor(folder / f"floor{at_once}.db", at_once, seconds / 2)
            )
            rate, loop, under = (
                ended / seconds,
                bare / (seconds / 2),
                best / (seconds / 2),
            )
            print(
                f"{at_once:4} at once: {rate:8,.0f} sagas/s"
                f"  p50 {milliseconds(cuts[49])}  p99 {milliseconds(cuts[98])}"
                f"  {busy / ended * 1000:.2f} ms of processor each"
                f"  | floor {under:8,.0f}/s ({rate / under:.0%}),"
                f" {best_busy / best * 1000:.2f} ms"
                f"  | bare loop {loop:8,.0f}/s ({rate / loop:.0%})"
            )
        took_bulk = bulk(f"sqlite:///{folder / 'bulk.db'}", 10_000)
        print(f"10,000 starts in bulk: {took_bulk:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
