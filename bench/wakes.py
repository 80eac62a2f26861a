"""How late wakes are: instances that fall due one after another, on SQLite.

    python bench/wakes.py [NUMBER] [PER SECOND]

Each order waits for an answer that never comes, until its silence; the stored deadlines
are spread evenly.  How late is told by the journal: the time at which the step was made,
less the deadline.  Then all fall due while nobody runs, and a process that starts late
takes the oldest first.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import quantiles
from typing import Final

import deedbox
from orders import order
from orders.types import Line, OrderId

LINES: Final = (Line(sku="TEA-001", quantity=2),)
DUE: Final = """
update deedbox_order set wake_at = ?2,
  doc = json_set(doc, '$.' || ?3, ?2) where id = ?1"""
LATE: Final = """
select o.id, j.at from deedbox_order o join deedbox_journal j using (id)
where j.rev = 2 order by j.at, j.id"""


class Nobody:
    """Only the deadlines are served; who is asked does not answer."""

    async def page_oncall(self, _: order.PageOncall, /) -> None:
        return None


def deadline() -> str:
    """The field by which the first state of an order waits for its silence."""
    state, _ = order.machine.start(
        order.Start(order=OrderId("o"), amount=1, lines=LINES, at=deedbox.Instant(1))
    )
    wake = order.machine.wake(state)
    (name,) = (name for name in state.__struct_fields__ if getattr(state, name) == wake)
    return name


def filled(url: str, path: Path, number: int, first: int, step: float) -> list[int]:
    """So many orders, of which the n-th is due `step` milliseconds after the last."""
    with deedbox.open(url, [order.machine]) as box:
        box.start_many(
            order.Start(order=OrderId(f"o-{each:06}"), amount=1, lines=LINES)
            for each in range(number)
        )
    due = [first + int(each * step) for each in range(number)]
    db = sqlite3.connect(path)
    name = deadline()
    db.executemany(DUE, [(f"o-{each:06}", at, name) for each, at in enumerate(due)])
    db.commit()
    db.close()
    return due


async def served(url: str, path: Path, number: int) -> None:
    """Until all have been woken."""
    with deedbox.open(url, [order.machine]) as box:
        async with deedbox.Worker(
            box, {order.machine: Nobody()}, only=["Order.page_oncall"]
        ):
            db = sqlite3.connect(path)
            woken = "select count(*) from deedbox_order where rev > 1"
            while db.execute(woken).fetchone() != (number,):
                await asyncio.sleep(0.2)
            db.close()


def fired(path: Path) -> list[tuple[str, int]]:
    db = sqlite3.connect(path)
    rows: list[tuple[str, int]] = db.execute(LATE).fetchall()
    db.close()
    return rows


def main(arguments: list[str]) -> None:
    number = int(arguments[0]) if arguments else 1_000
    rate = int(arguments[1]) if len(arguments) > 1 else 200
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "wakes.db"
        url = f"sqlite:///{path}"
        first = time.time_ns() // 1_000_000 + 2_000
        due = filled(url, path, number, first, 1_000 / rate)
        busy = time.process_time()
        asyncio.run(served(url, path, number))
        busy = time.process_time() - busy
        late = [at - due[int(id[2:])] for id, at in fired(path)]
        cuts = quantiles(late, n=100)
        print(
            f"{number:,} wakes at {rate}/s: p50 {cuts[49]:.0f} ms late,"
            f" p99 {cuts[98]:.0f} ms, longest {max(late)} ms, early {sum(x < 0 for x in late)};"
            f" {busy / number * 1000:.2f} ms of processor each"
        )
        path = Path(name) / "behind.db"
        url = f"sqlite:///{path}"
        filled(url, path, 10_000, time.time_ns() // 1_000_000 - 60_000, 5)
        began = time.perf_counter()
        asyncio.run(served(url, path, 10_000))
        took = time.perf_counter() - began
        ids = [id for id, _ in sorted(fired(path), key=lambda row: row[1])]
        pages = [sorted(ids[at : at + 512]) for at in range(0, len(ids), 512)]
        ordered = all(a[-1] <= b[0] for a, b in pairwise(pages))
        print(
            f"10,000 that were a minute behind: {took:.2f} s,"
            f" {'oldest first' if ordered else 'out of order'}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
