"""The calls of handlers that are under way, on the event loop of one worker.

A call begins with a row that is committed and held (R1), and ends in an item of the
writer's queue: the answer, or that it raised or ran over its time limit.  It decides
nothing about an instance.  A plain `def` runs in a bounded pool of threads.  Every
task is held until it has ended.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from msgspec import Struct

from .batch import Answered, Held, Raised
from .clock import Clock, Timer
from .errors import failure
from .handlers import Handler
from .operations import Key, Name
from .writer import Writer

log = logging.getLogger("deedbox")


class Call(Struct):
    """A handler at work; `until` is when its time is over, on the monotonic clock."""

    task: asyncio.Task[None]
    until: int | None
    held: Held


class Calls:
    """By the key of the row; made on the event loop that runs them.

    `limit` is the time of one call in milliseconds, `threads` is how many plain
    handlers run at once.
    """

    def __init__(
        self,
        writer: Writer,
        handlers: Mapping[Name, Handler],
        clock: Clock,
        *,
        limit: int,
        threads: int,
    ) -> None:
        self._writer = writer
        self._handlers = handlers
        self._clock = clock
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(threads, "deedbox handler")
        self._calls: dict[Key, Call] = {}
        self._dropped: set[asyncio.Task[None]] = set()
        self._timer: Timer | None = None
        self._none_left = asyncio.Event()
        self.over = False

    @property
    def keys(self) -> list[Key]:
        """The rows whose handlers are at work, in the order of their start."""
        return list(self._calls)

    # -- one call

    def begin(self, held: Held) -> None:
        """Start the handler of a row that is committed and held."""
        if self.over:
            return
        # A former life may have a handler at work under the same key of a row.
        self.drop(held.key)
        handler = self._handlers[held.codec.name, held.type.name]
        task = self._loop.create_task(self._handle(held, handler), name=held.type.name)
        until = None
        if not held.type.deadline:
            until = self._clock.monotonic() + self._limit
            if self._timer is None:
                self._time_out_at(until)
        self._calls[held.key] = Call(task, until, held)

    async def _handle(self, held: Held, handler: Handler) -> None:
        """Call it; its answer, or that it raised, becomes an item of the queue."""
        key = held.key
        item: Answered | Raised
        try:
            if not self._writer.surely_holds(held):
                raise TimeoutError("its process stood still for longer than its lease")
            if handler.on_loop:
                answer = await handler.call(held.command)
            else:
                answer = await self._loop.run_in_executor(
                    self._pool, _in_thread, handler, held.command
                )
                if inspect.isawaitable(answer):
                    answer = await cast("Awaitable[object]", answer)
            item = Answered(key, held.codec.outcome(held.type, answer), held)
        except BaseException as problem:
            if isinstance(problem, GeneratorExit) and not self._loop.is_running():
                raise  # nobody raised it: the loop is gone
            # A handler ends no process: `sys.exit` would be called again without end.
            item = Raised(key, failure(problem), held=held)
            if isinstance(problem, KeyboardInterrupt):
                self._ended(held, item)
                raise
        self._ended(held, item)

    def _ended(self, held: Held, item: Answered | Raised) -> None:
        """The call is over: the writer hears of it, if anybody still waits."""
        key = held.key
        call = self._calls.get(key)
        if call is None or call.held is not held:
            return  # withdrawn, over its time, or stopped: nobody waits for it
        if isinstance(item, Raised):
            log.error(
                "%s of %s %s raised, delivery %d\n%s",
                held.type.name,
                held.codec.name,
                held.key[1],
                held.tries,
                item.error,
            )
        self._end(key)
        self._writer.submit(item)

    def _end(self, key: Key) -> None:
        del self._calls[key]
        if not self._calls:
            self._none_left.set()

    def drop(self, key: Key) -> None:
        """Cancel a handler whose answer nobody takes; it is held until it has ended."""
        call = self._calls.get(key)
        if call is not None:
            self._end(key)
            self._dropped.add(call.task)
            call.task.add_done_callback(self._dropped.discard)
            call.task.cancel()

    # -- the time limit

    def _time_out_at(self, until: int) -> None:
        wait = max(until - self._clock.monotonic(), 1)
        self._timer = self._clock.call_later(self._loop, wait, self._time_out)

    def _time_out(self) -> None:
        """Drop what is over its time; handlers stand in the order of their start."""
        self._timer = None
        now = self._clock.monotonic()
        for key, call in list(self._calls.items()):
            if call.until is None:
                continue
            if call.until > now:
                self._time_out_at(call.until)
                return
            log.error(
                "%s of %s %s ran over its time limit, delivery %d",
                call.held.type.name,
                call.held.codec.name,
                key[1],
                call.held.tries,
            )
            self.drop(key)
            limit = f"over the time limit of {self._limit} ms"
            self._writer.submit(Raised(key, limit, held=call.held))

    # -- the end

    async def none_left(self) -> None:
        """Wait until no handler is at work, or it is said to be over."""
        while self._calls and not self.over:
            self._none_left.clear()
            await self._none_left.wait()

    def close(self) -> None:
        """Begin no more, and wait for none."""
        self.over = True
        self._none_left.set()

    def abandon(self) -> None:
        """Cancel all that is at work, and let go of the threads."""
        self.close()
        for key in self.keys:
            self.drop(key)
        if self._timer is not None:
            self._timer.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def dropped(self) -> None:
        """Wait for those that were cancelled, at most a second."""
        if self._dropped:
            await asyncio.wait(self._dropped, timeout=1.0)


def _in_thread(handler: Handler, command: Struct) -> object:
    """A future cannot carry a `StopIteration` out of its thread."""
    try:
        return handler.call(command)
    except StopIteration as problem:
        raise RuntimeError("the handler raised StopIteration") from problem
