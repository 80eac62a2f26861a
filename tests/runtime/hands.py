"""Handlers that do what a test tells them, and remember what they were asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar

from jobs import job

T = TypeVar("T")


def elsewhere(coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """A task that knows nothing of a transaction in which it is made."""
    return asyncio.get_running_loop().create_task(coroutine, context=Context())


def ran(_: job.Run) -> job.RunOutcome:
    return job.RunRan(result=1)


class Hands:
    """Answers `run` by `answer`; `press` and `notify` always succeed."""

    def __init__(
        self, answer: Callable[[job.Run], job.RunOutcome] | None = None
    ) -> None:
        self.ran: list[job.Run] = []
        self.pressed: list[job.Push] = []
        self.notified: list[str] = []
        self._answer = answer or ran

    async def run(self, cmd: job.Run) -> job.RunOutcome:
        self.ran.append(cmd)
        return self._answer(cmd)

    async def press(self, cmd: job.Push) -> job.PressPressed:
        self.pressed.append(cmd)
        return job.PressPressed()

    async def notify(self, cmd: job.Notify) -> None:
        self.notified.append(cmd.text)


class Held(Hands):
    """Every `run` waits until it is let go; it counts those that were cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.cancelled = 0

    async def run(self, cmd: job.Run) -> job.RunOutcome:
        self.ran.append(cmd)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return job.RunRan(result=2)


class Turns(Hands):
    """Each call of `run` ends as the test says, when it says so."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: list[asyncio.Future[job.RunOutcome]] = []

    async def run(self, cmd: job.Run) -> job.RunOutcome:
        self.ran.append(cmd)
        end: asyncio.Future[job.RunOutcome]
        end = asyncio.get_running_loop().create_future()
        self.ends.append(end)
        return await end

    def answer_all(self) -> None:
        for end in self.ends:
            if not end.done():
                end.set_result(job.RunRan(result=1))

    @property
    def jobs(self) -> list[str]:
        return [cmd.job for cmd in self.ran]
