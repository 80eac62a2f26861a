"""The worker: it runs the handlers of what is owed, on an asyncio event loop.

It starts a handler when the writer says that the row is committed and held (R1),
gives the answer back as an item of the queue, cancels what was withdrawn, and
measures the time limit.  It decides nothing about an instance and writes nothing.
A plain `def` runs in a bounded pool of threads.  Every task is held until it ends.
A handler that blocks the loop delays the others, never a commit or a lease; the
writer's thread, which asks the loop to take what has come, says where it stands.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
import threading
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, TypeVar, cast

from msgspec import Struct

from .batch import Answered, Held, Raised, Tell, Watch
from .box import Box
from .clock import Timer
from .errors import (
    MisplacedCall,
    StoreClosed,
    UnknownMachine,
    failure,
)
from .handlers import Handler, found, told
from .machine import Machine
from .operations import Key
from .step import AnyMachine
from .values import Instance, Receipt
from .writer import Drain, Serve, Stop

S = TypeVar("S", bound=Struct)
B = TypeVar("B", bound=Struct)
M = TypeVar("M", bound=Struct)
O = TypeVar("O", bound=Struct)  # noqa: E741  the letter that `Machine` uses
C = TypeVar("C", bound=Struct)

LIMIT: Final = 60.0
PATIENCE: Final = 30.0
BLOCKED: Final = 1_000
"""Milliseconds after which a loop that does not answer is said to be blocked."""

log = logging.getLogger("deedbox")


class Running(Struct):
    """A handler at work; `until` is when its time is over, on the monotonic clock."""

    task: asyncio.Task[None]
    until: int | None
    held: Held


class Worker:
    """Runs handlers for a box; an async context manager.

    `handlers` gives each machine an object with one method for each of its commands,
    named as the command, `async def` or `def`.  `only` names the commands to serve
    (`"Order.charge"`), when other workers serve the others.

    `window` handlers of one command run at once at most, `threads` of the plain ones.
    `limit` is the time of one call in seconds (a command whose state has a deadline of its own
    is not limited by it); over it, or when it raises, the handler is called again
    later with the same command, and the row is parked after the tenth call.
    `patience` is how many seconds stopping waits for running handlers.

    What machines of the box tell each other needs no handler: any worker delivers it.

    Raises `MissingHandlers` when a served command has no method, `MissingMachines` when
    a machine is told something that the box was not opened with.
    """

    def __init__(
        self,
        box: Box,
        handlers: Mapping[AnyMachine, object],
        *,
        only: Collection[str] | None = None,
        window: int = 256,
        threads: int = 32,
        limit: float = LIMIT,
        patience: float = PATIENCE,
    ) -> None:
        self._box = box
        self._handlers = found(handlers, only)
        self._room = {
            name: window if handler.on_loop else min(window, threads)
            for name, handler in self._handlers.items()
        }
        for machine in handlers:
            box.machines.of(machine)
        self._room |= dict.fromkeys(told(box), window)
        self._threads = threads
        self._limit = _milliseconds(limit)
        self._patience = _milliseconds(patience)
        self._running: dict[Key, Running] = {}
        self._dropped: set[asyncio.Task[None]] = set()
        self._timer: Timer | None = None
        self._arrived: deque[tuple[list[Held], Iterable[Key]]] = deque()
        self._answers: deque[tuple[asyncio.Future[object], object]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = False
        self._stopped = False
        self._thread = 0
        self._asked_at: int | None = None
        self._heard_at = 0
        self._blocked_at: int | None = None

    # -- opening and stopping

    async def __aenter__(self) -> Worker:
        """Serve from now on: what a dead process held, and what waits, is taken up."""
        if self._loop is not None:
            raise MisplacedCall("A worker is opened once.")
        self._writer = self._box.serve()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._gate = asyncio.Semaphore(self._box.waiting)
        self._still = asyncio.Event()
        self._pool = ThreadPoolExecutor(self._threads, "deedbox handler")
        self._writer.submit(Serve(self, self._room))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> int:
        """Claim nothing more, let running handlers end, cancel those that do not.

        How many commands were given back unfinished; they stay owed (R15).  Who waits
        by this worker, or asks it from then on, hears `StoreClosed`.
        """
        if self._loop is None or self._stopping:
            return 0
        timer = self._box.clock.call_later(
            self._loop, self._patience, self._out_of_patience
        )
        drained = self._loop.create_future()
        self._writer.submit(Drain(self._reply(drained)))
        await drained
        while self._running and not self._stopping:
            self._still.clear()
            await self._still.wait()
        timer.cancel()
        self._stopping = True
        for key in list(self._running):
            self._drop(key)
        stopped = self._loop.create_future()
        self._stopped = True
        self._writer.submit(Stop(self._reply(stopped)))
        count = cast("int", await stopped)
        self._box.unserve()
        if self._timer is not None:
            self._timer.cancel()
        if self._dropped:
            await asyncio.wait(self._dropped, timeout=1.0)
        self._pool.shutdown(wait=False, cancel_futures=True)
        if count:
            log.warning("stopped with %d commands unfinished; they stay owed", count)
        return count

    def abandon(self) -> None:
        """End as a process that is killed: nothing is given back, no answer is taken."""
        self._stopping = self._stopped = True
        for key in list(self._running):
            self._drop(key)
        if self._timer is not None:
            self._timer.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _out_of_patience(self) -> None:
        self._stopping = True
        self._still.set()

    # -- sending, from the event loop

    async def start(self, message: Struct, *, message_id: str | None = None) -> Receipt:
        """As `Box.start`: when this returns, it is committed."""
        return await self._sent(
            lambda reply: self._box.machines.start(message, message_id, reply)
        )

    async def send(
        self,
        machine: Machine[S, B, M, O, C],
        id: str,
        message: M,
        *,
        message_id: str | None = None,
    ) -> Receipt:
        """As `Box.send`: when this returns, it is committed."""
        return await self._sent(
            lambda reply: self._box.machines.message(
                machine, id, message, message_id, reply
            )
        )

    async def get(self, machine: Machine[S, B, M, O, C], id: str) -> Instance[S] | None:
        """As `Box.get`."""
        return await asyncio.to_thread(self._box.get, machine, id)

    async def wait(
        self,
        machine: Machine[S, B, M, O, C],
        id: str,
        *,
        phases: Collection[str] | None = None,
        timeout: float | None = None,
    ) -> S:
        """The state of an instance as soon as it is in one of `phases` (default: ended).

        `phases` are names of states.  The instance may be started later.  Raises
        `TimeoutError` after `timeout` seconds.
        """
        loop = self._serving()
        self._box.refuse_misplaced()
        codec = self._box.machines.of(machine)
        names = codec.ends if phases is None else frozenset(phases)
        if phases is not None and (unknown := names - set(codec.phases.values())):
            raise UnknownMachine(f"{machine.name} has no phase {min(unknown)}")
        future: asyncio.Future[object] = loop.create_future()
        watch = Watch(codec, codec.checked_id(id), names, self._reply(future))
        self._submit(watch)
        timer: Timer | None = None
        if timeout is not None:
            late = TimeoutError(f"{machine.name} {id} is not yet in {sorted(names)}")
            timer = self._box.clock.call_later(
                loop, _milliseconds(timeout), lambda: _settle(future, late)
            )
        try:
            answer = await future
        except BaseException:
            watch.over = True
            with suppress(StoreClosed):
                self._submit(watch)
            raise
        finally:
            if timer is not None:
                timer.cancel()
        return cast("S", answer)

    async def _sent(self, make: Callable[[Callable[[object], None]], Tell]) -> Receipt:
        future: asyncio.Future[object] = self._serving().create_future()
        self._box.refuse_misplaced()
        tell = make(self._reply(future))
        async with self._gate:
            self._submit(tell)
            return cast("Receipt", await future)

    def _submit(self, item: Tell | Watch) -> None:
        """After its last turn for this worker the writer has nobody to answer."""
        if self._stopped:
            raise StoreClosed
        self._writer.submit(item)

    def _serving(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise MisplacedCall("The worker is not open; use it in `async with`.")
        return self._loop

    def _reply(self, future: asyncio.Future[object]) -> Callable[[object], None]:
        """An answer from the writer's thread, which tells the loop at its turn's end."""
        return lambda value: self._answers.append((future, value))

    # -- from the writer's thread, and back on the loop

    def deliver(self, started: list[Held], ended: Iterable[Key]) -> None:
        """What a commit brought; called by the writer."""
        if started or ended:
            self._arrived.append((started, ended))

    def flush(self) -> None:
        """Tell the loop, once for all that has arrived; called by the writer."""
        now = self._box.clock.monotonic()
        if self._asked_at is None:
            ask = self._running and now - self._heard_at >= BLOCKED
            if not (ask or self._arrived or self._answers):
                return
            self._asked_at = now
        elif now - self._asked_at >= BLOCKED and self._blocked_at != self._asked_at:
            self._blocked_at = self._asked_at
            log.warning("the event loop is blocked here:\n%s", self._where())
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._receive)
            except RuntimeError:
                log.debug("the event loop is closed")

    def _where(self) -> str:
        """What the loop's thread is doing: the handler that does not let go of it."""
        frame = sys._current_frames().get(self._thread)  # pyright: ignore[reportPrivateUsage]  its only name
        return "".join(traceback.format_stack(frame)[-8:])

    def _receive(self) -> None:
        self._asked_at, self._heard_at = None, self._box.clock.monotonic()
        answers, arrived = self._answers, self._arrived
        while answers:
            _settle(*answers.popleft())
        while arrived:
            started, ended = arrived.popleft()
            for key in ended:
                self._drop(key)
            for held in started:
                self._begin(held)

    @property
    def idle(self) -> bool:
        """Whether nothing is to be done before a deadline or a handler's answer."""
        return not (self._arrived or self._answers) and self._writer.quiet

    @property
    def running(self) -> list[Key]:
        """The rows whose handlers are at work."""
        return list(self._running)

    @property
    def queued(self) -> list[object]:
        """What waits for the writer."""
        return self._writer.queued

    @property
    def epoch(self) -> int:
        """The session by which this worker holds rows."""
        return self._writer.desk.epoch

    # -- handlers

    def _begin(self, held: Held) -> None:
        """Start the handler of a row that is committed and held."""
        if self._stopping:
            return
        # A former life may have a handler at work under the same key of a row.
        self._drop(held.key)
        loop = self._serving()
        handler = self._handlers[held.codec.name, held.type.name]
        task = loop.create_task(self._handle(held, handler), name=held.type.name)
        until = None
        if not held.type.deadline:
            until = self._box.clock.monotonic() + self._limit
            if self._timer is None:
                self._time_out_at(until)
        self._running[held.key] = Running(task, until, held)

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
                loop = self._serving()
                answer = await loop.run_in_executor(
                    self._pool, handler.call, held.command
                )
                if inspect.isawaitable(answer):
                    answer = await cast("Awaitable[object]", answer)
            item = Answered(key, held.codec.outcome(held.type, answer), held)
        except (Exception, asyncio.CancelledError) as problem:
            item = Raised(key, failure(problem), held=held)
        running = self._running.get(key)
        if running is None or running.held is not held:
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
        del self._running[key]
        if not self._running:
            self._still.set()

    def _drop(self, key: Key) -> None:
        """Cancel a handler whose answer nobody takes; it is held until it has ended."""
        running = self._running.get(key)
        if running is not None:
            self._end(key)
            self._dropped.add(running.task)
            running.task.add_done_callback(self._dropped.discard)
            running.task.cancel()

    # -- the time limit

    def _time_out_at(self, until: int) -> None:
        clock = self._box.clock
        wait = max(until - clock.monotonic(), 1)
        self._timer = clock.call_later(self._serving(), wait, self._time_out)

    def _time_out(self) -> None:
        """Drop what is over its time; handlers stand in the order of their start."""
        self._timer = None
        now = self._box.clock.monotonic()
        for key, running in list(self._running.items()):
            if running.until is None:
                continue
            if running.until > now:
                self._time_out_at(running.until)
                return
            log.error("%s of %s ran over its time limit", key[2], key[:2])
            self._drop(key)
            limit = f"over the time limit of {self._limit} ms"
            self._writer.submit(Raised(key, limit, held=running.held))


def _settle(future: asyncio.Future[object], value: object) -> None:
    if future.done():
        return
    if isinstance(value, BaseException):
        future.set_exception(value)
    else:
        future.set_result(value)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
