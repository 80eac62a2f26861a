"""A clock that stands still until a test moves it, and waiting until nothing moves.

Wall, monotonic and boot time are one clock's; who waits for it is woken by `advance`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Final

from ..worker import Worker

EPOCH: Final = 1_700_000_000_000


class FakeTimer:
    """A call that the clock makes when its time has come."""

    def __init__(self, at: int, call: Callable[[], None]) -> None:
        self.at = at
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """Wall, monotonic and boot time that move only by `advance` and `jump`."""

    def __init__(self, at: int = EPOCH) -> None:
        self._wall = at
        self._monotonic = 0
        self._lock = threading.Lock()
        self._waits: dict[threading.Event, int] = {}
        self._timers: list[FakeTimer] = []

    def wall(self) -> int:
        return self._wall

    def monotonic(self) -> int:
        return self._monotonic

    def boot(self) -> int:
        return self._monotonic

    def host(self) -> str:
        return "a test"

    def wait(self, event: threading.Event, milliseconds: int | None) -> None:
        with self._lock:
            if milliseconds is not None:
                self._waits[event] = self._monotonic + milliseconds
        event.wait()
        with self._lock:
            self._waits.pop(event, None)

    def call_later(
        self,
        loop: asyncio.AbstractEventLoop,
        milliseconds: int,
        callback: Callable[[], None],
    ) -> FakeTimer:
        with self._lock:
            timer = FakeTimer(
                self._monotonic + milliseconds,
                lambda: void(loop.call_soon_threadsafe(callback)),
            )
            self._timers.append(timer)
        return timer

    def next_deadline(self) -> int | None:
        """In how many milliseconds somebody wants to be woken."""
        with self._lock:
            timers = [timer.at for timer in self._timers if not timer.cancelled]
            times = [*self._waits.values(), *timers]
        return max(min(times) - self._monotonic, 0) if times else None

    def advance(self, milliseconds: int) -> None:
        """Let time pass, and wake everybody whose time has come."""
        with self._lock:
            self._wall += milliseconds
            self._monotonic += milliseconds
            due = [timer for timer in self._timers if timer.at <= self._monotonic]
            self._timers = [timer for timer in self._timers if timer not in due]
            for event, until in self._waits.items():
                if until <= self._monotonic:
                    event.set()
        for timer in due:
            if not timer.cancelled:
                timer.call()

    def jump(self, milliseconds: int) -> None:
        """The wall clock is set; the others go on as if nothing had happened."""
        self._wall += milliseconds


def void(_: object) -> None:
    """Drop a result."""


async def settle(*workers: Worker) -> None:
    """Until nothing moves but what waits for a deadline, or for something outside."""
    still, before = 0, None
    while still < 3:
        await asyncio.sleep(0.0003)
        running = [worker.running for worker in workers]
        idle = all(worker.idle for worker in workers) and running == before
        still, before = still + 1 if idle else 0, running


async def elapse(clock: FakeClock, milliseconds: int, *workers: Worker) -> None:
    """Let time pass from deadline to deadline, settling at each."""
    await settle(*workers)
    left = milliseconds
    while left > 0:
        wait = clock.next_deadline()
        stride = left if wait is None else min(max(wait, 1), left)
        clock.advance(stride)
        left -= stride
        await settle(*workers)
