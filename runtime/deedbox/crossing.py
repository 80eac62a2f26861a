"""The way from the writer's thread to the event loop of a worker.

The writer leaves here what was started, what has ended and what senders hear, and asks
the loop once a turn to take all of it.  A handler that blocks the loop delays the
others, never a commit or a lease; the writer, which is not answered, logs where it stands.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from .batch import Held
from .clock import Clock
from .operations import Key

BLOCKED: Final = 1_000
"""Milliseconds after which a loop that does not answer is said to be blocked."""

log = logging.getLogger("deedbox")


class Receiver(Protocol):
    """Who takes what arrives; called on the event loop."""

    @property
    def keys(self) -> list[Key]: ...
    def begin(self, held: Held) -> None: ...
    def drop(self, key: Key) -> None: ...


class Crossing:
    """Made on the event loop that it leads to."""

    def __init__(self, receiver: Receiver, clock: Clock) -> None:
        self._receiver = receiver
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._arrived: deque[tuple[list[Held], Iterable[Key]]] = deque()
        self._answers: deque[tuple[asyncio.Future[object], object]] = deque()
        self._asked_at: int | None = None
        self._heard_at = 0
        self._blocked_at: int | None = None

    @property
    def empty(self) -> bool:
        return not (self._arrived or self._answers)

    # -- on the writer's thread

    def reply(self, future: asyncio.Future[object]) -> Callable[[object], None]:
        """An answer from the writer's thread, which tells the loop at its turn's end."""
        return lambda value: self._answers.append((future, value))

    def deliver(self, started: list[Held], ended: Iterable[Key]) -> None:
        """What a commit brought."""
        if started or ended:
            self._arrived.append((started, ended))

    def flush(self) -> None:
        """Tell the loop, once for all that has arrived."""
        now = self._clock.monotonic()
        if self._asked_at is None:
            ask = now - self._heard_at >= BLOCKED and self._receiver.keys
            if not ask and self.empty:
                return
            self._asked_at = now
        elif now - self._asked_at >= BLOCKED and self._blocked_at != self._asked_at:
            self._blocked_at = self._asked_at
            log.warning("the event loop is blocked here:\n%s", self._where())
        try:
            self._loop.call_soon_threadsafe(self._receive)
        except RuntimeError:
            log.debug("the event loop is closed")

    def _where(self) -> str:
        """What the loop's thread is doing: the handler that does not let go of it."""
        frame = sys._current_frames().get(self._thread)  # pyright: ignore[reportPrivateUsage]  its only name
        return "".join(traceback.format_stack(frame)[-8:])

    # -- on the event loop

    def _receive(self) -> None:
        self._asked_at, self._heard_at = None, self._clock.monotonic()
        answers, arrived = self._answers, self._arrived
        while answers:
            settle(*answers.popleft())
        while arrived:
            started, ended = arrived.popleft()
            for key in ended:
                self._receiver.drop(key)
            for held in started:
                self._receiver.begin(held)


def settle(future: asyncio.Future[object], value: object) -> None:
    """Give the value, or raise it, to whoever still waits."""
    if future.done():
        return
    if isinstance(value, BaseException):
        future.set_exception(value)
    else:
        future.set_result(value)
