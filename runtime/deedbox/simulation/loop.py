"""An event loop in virtual time, in which several processes live in one thread.

Each call belongs to a lane, found in its context: the event loop of a process, or its
writer.  Calls of one lane run in the order in which they were made, as asyncio
promises; which lane runs next is drawn from a seed.  When no lane can run, time moves
to the next timer.  Executors run inline; sockets, signals and subprocesses do not
exist.  A process that died keeps its calls, and nothing runs them: the code after its
last `await` is never reached.

The loop knows nothing of stores or machines.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Executor
from random import Random
from typing import Any, Final, TypeVar, TypeVarTuple, cast

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Deadlock(Exception):
    """Nothing can happen any more, and the main task still waits."""


class Endless(Exception):
    """More happened than the run allows."""


class Lane:
    """Calls that run one after another; none while it is dead or stopped."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: deque[Call] = deque()
        self.dead = False
        self.stopped_until = 0


LANE: Final[contextvars.ContextVar[Lane]] = contextvars.ContextVar("lane")


class Call(asyncio.TimerHandle):
    """A callback, and when it is due; of a soon call that is now."""

    def run(self) -> None:
        self._run()


class Loop(asyncio.BaseEventLoop):
    """`after`, when it is set, is called after each callback."""

    def __init__(self, random: Random, limit: int = 200_000) -> None:
        super().__init__()
        self.now = 0
        self.after: Callable[[], None] = lambda: None
        self.problem: Callable[[str], None] = lambda _: None
        self.thawed = False
        self._random = random
        self._left = limit
        self.main = Lane("the world")
        self._lanes = [self.main]
        self._threads: dict[Lane, Lane] = {}
        self._timers: list[tuple[int, int, Lane, Call]] = []
        self._number = 0
        self._running = False
        self._closed = False
        self._tasks: list[asyncio.Task[Any]] = []

    def lane(self, name: str, home: Lane | None = None) -> Lane:
        """A new lane; what it calls `threadsafe` runs in its `home`."""
        lane = Lane(name)
        self._lanes.append(lane)
        self._threads[lane] = home or lane
        return lane

    def within(self, lane: Lane) -> contextvars.Context:
        """A context in which everything that is called belongs to the lane."""
        context = contextvars.copy_context()
        context.run(LANE.set, lane)
        return context

    def forget(self, lane: Lane) -> None:
        """The lane is dead; its calls stay, and nothing runs them."""
        lane.dead = True

    # -- one callback after another

    def _runnable(self) -> Lane | None:
        lanes = [
            lane
            for lane in self._lanes
            if lane.calls
            and (self.thawed or (not lane.dead and lane.stopped_until <= self.now))
        ]
        if len(lanes) > 1:
            return lanes[self._random.randrange(len(lanes))]
        return lanes[0] if lanes else None

    def _once(self) -> None:
        lane = self._runnable()
        if lane is None:
            self._pass_time()
            return
        self._left -= 1
        if self._left < 0 and not self.thawed:
            raise Endless
        call = lane.calls.popleft()
        if not call.cancelled():
            call.run()
            self.after()

    def _pass_time(self) -> None:
        """Move to the next instant at which somebody may run."""
        timers = self._timers
        while timers and (timers[0][3].cancelled() or self._is_out(timers[0][2])):
            _, _, lane, call = heapq.heappop(timers)
            lane.calls.append(call)
        ends = [
            lane.stopped_until
            for lane in self._lanes
            if lane.calls and not lane.dead and lane.stopped_until > self.now
        ]
        if timers:
            ends.append(timers[0][0])
        if not ends:
            raise Deadlock
        self.now = max(self.now, min(ends))
        while timers and timers[0][0] <= self.now:
            _, _, lane, call = heapq.heappop(timers)
            lane.calls.append(call)

    def _is_out(self, lane: Lane) -> bool:
        return lane.dead and not self.thawed

    # -- what asyncio asks of a loop

    def time(self) -> float:
        return self.now / 1000

    def call_soon(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> Call:
        chosen = contextvars.copy_context() if context is None else context
        call = Call(self.time(), callback, args, self, chosen)
        chosen.get(LANE, self.main).calls.append(call)
        return call

    def call_soon_threadsafe(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> Call:
        chosen = contextvars.copy_context() if context is None else context
        here = chosen.get(LANE, self.main)
        home = self._threads.get(here, here)
        if home is not here:
            chosen = chosen.copy()
            chosen.run(LANE.set, home)
        return self.call_soon(callback, *args, context=chosen)

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> Call:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> Call:
        chosen = contextvars.copy_context() if context is None else context
        call = Call(when, callback, args, self, chosen)
        self._number += 1
        at = max(round(when * 1000), self.now)
        lane = chosen.get(LANE, self.main)
        heapq.heappush(self._timers, (at, self._number, lane, call))
        return call

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: object = None,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[T]:
        """Every task is held to the end, so that none ends because nobody holds it."""
        task = asyncio.Task(
            coro, loop=self, name=None if name is None else str(name), context=context
        )
        self._tasks.append(task)
        return task

    def run_in_executor(
        self,
        executor: Executor | None,
        func: Callable[[*Ts], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        """Soon, in this thread; nothing else runs meanwhile."""
        del executor
        future: asyncio.Future[T] = self.create_future()

        def run() -> None:
            if future.cancelled():
                return
            try:
                future.set_result(func(*args))
            except Exception as problem:
                future.set_exception(problem)

        self.call_soon(run)
        return future

    def run_until_complete(self, future: Generator[Any, None, T] | Awaitable[T]) -> T:
        main = asyncio.ensure_future(cast("Awaitable[T]", future), loop=self)
        self._running = True
        # Reserved for those who write an event loop.
        asyncio._set_running_loop(self)  # pyright: ignore[reportPrivateUsage]
        try:
            while not main.done():
                self._once()
        finally:
            asyncio._set_running_loop(None)  # pyright: ignore[reportPrivateUsage]
            self._running = False
        return main.result()

    def is_running(self) -> bool:
        return self._running

    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._closed = True

    async def shutdown_asyncgens(self) -> None:
        """What was begun while all tasks were cancelled is cancelled too."""
        mine = asyncio.current_task()
        while late := [
            task for task in self._tasks if not task.done() and task is not mine
        ]:
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is none."""

    async def getaddrinfo(self, *_: object, **__: object) -> Any:
        raise NotImplementedError("There is no network in a simulation.")

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:
        """There is no debug mode."""

    def _timer_handle_cancelled(self, _: asyncio.TimerHandle) -> None:
        """A cancelled timer is passed over when its time comes."""

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.call_exception_handler(context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """An exception that nobody took: a fault of the code that runs here."""
        if not self.thawed:
            problem = context.get("exception")
            self.problem(f"{context.get('message')}: {problem!r}")
