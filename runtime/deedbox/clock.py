"""Time, through one seam: nothing else in the interpreter asks for it or waits.

`wall` decides what is due and is what a machine sees; `monotonic` measures waits,
limits and leases; `boot` counts on while the machine sleeps and is shared by the
processes of one host.  All are integer milliseconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio

SLICE = 3_600_000
"""The longest single sleep."""


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def wall(self) -> int: ...
    def monotonic(self) -> int: ...
    def boot(self) -> int: ...
    def host(self) -> str: ...
    def wait(self, event: threading.Event, milliseconds: int | None) -> None: ...
    def call_later(
        self,
        loop: asyncio.AbstractEventLoop,
        milliseconds: int,
        callback: Callable[[], None],
    ) -> Timer: ...


class RealClock:
    """The clocks of this machine."""

    def __init__(self) -> None:
        boot_id = Path("/proc/sys/kernel/random/boot_id")
        self._host = boot_id.read_text().strip() if boot_id.exists() else "one boot"
        self._boot = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

    def wall(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def boot(self) -> int:
        return time.clock_gettime_ns(self._boot) // 1_000_000

    def host(self) -> str:
        """Names this boot of this machine: a `boot` reading of another means nothing."""
        return self._host

    def wait(self, event: threading.Event, milliseconds: int | None) -> None:
        """Until the event is set or the time is over, at most an hour."""
        if milliseconds is None:
            event.wait(SLICE / 1000)
        elif milliseconds > 0:
            event.wait(min(milliseconds, SLICE) / 1000)

    def call_later(
        self,
        loop: asyncio.AbstractEventLoop,
        milliseconds: int,
        callback: Callable[[], None],
    ) -> Timer:
        return loop.call_later(milliseconds / 1000, callback)
