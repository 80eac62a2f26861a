"""From the start of a process, after a SIGKILL, to the first command that it hands out anew.

    python bench/recovery.py [OWED]

One process holds all that is owed, its handlers at work, and is killed.  The next one,
which has room for 256 at once, is timed from before it is spawned: Python's own start
and the imports are in it.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import deedbox
from orders import order
from orders.types import Line, OrderId

RUNS = 5


class Busy:
    """Nobody is ever done; when so many are at work, it says what that has cost."""

    def __init__(self, wanted: int) -> None:
        self._asked = 0
        self._wanted = wanted

    async def charge(self, _: order.Charge, /) -> order.ChargeOutcome:
        self._asked += 1
        if self._asked == self._wanted:
            print(time.process_time(), flush=True)
        await asyncio.sleep(3_600)
        raise TimeoutError


async def serve(url: str, wanted: int, window: int) -> None:
    with deedbox.open(url, [order.machine]) as box:
        async with deedbox.Worker(
            box, {order.machine: Busy(wanted)}, only=["Order.charge"], window=window
        ):
            await asyncio.sleep(3_600)


def served(url: str, wanted: int, window: int) -> tuple[float, float]:
    """Seconds until so many handlers of a process work, its own too; then it is killed."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, __file__, "serve", url, str(wanted), str(window)],
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    busy = float(child.stdout.readline())
    took = time.perf_counter() - began
    child.send_signal(signal.SIGKILL)
    child.communicate()
    return took, busy


def recovered(owed: int) -> tuple[float, float]:
    """A store of its own each time: what dies with its process again and again is held
    back, to find out which of it kills."""
    with tempfile.TemporaryDirectory() as name:
        url = f"sqlite:///{Path(name) / 'owed.db'}"
        with deedbox.open(url, [order.machine]) as box:
            box.start_many(
                order.Start(
                    order=OrderId(f"o-{each:06}"),
                    amount=1,
                    lines=(Line(sku="TEA-001", quantity=2),),
                )
                for each in range(owed)
            )
        served(url, owed, owed)
        return served(url, 1, 256)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["serve"]:
        url, wanted, window = arguments[1:]
        asyncio.run(serve(url, int(wanted), int(window)))
        return
    owed = int(arguments[0]) if arguments else 10_000
    times = [recovered(owed) for _ in range(RUNS)]
    took, busy = (median(column) for column in zip(*times, strict=True))
    print(
        f"after SIGKILL with {owed:,} owed: {took:.2f} s from the start of the process"
        f" to the first that is handed out anew, {busy:.2f} s of it processor"
        f" (median of {RUNS})"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
