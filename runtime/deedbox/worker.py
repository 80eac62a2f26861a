"""The worker: it serves commands of a box on an asyncio event loop.

It opens and closes what is between the writer's thread and the handlers: the way to the
loop (`Crossing`) and the calls that are under way (`Calls`).  Who is on that loop sends
and waits through it.  It decides nothing about an instance and writes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Final, TypeVar, cast

from msgspec import Struct

from .batch import Tell, Watch
from .box import Box
from .calls import Calls
from .clock import Timer
from .crossing import Crossing, settle
from .errors import (
    MisplacedCall,
    StoreClosed,
    UnknownMachine,
    WrongType,
)
from .handlers import found, told
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
MOST: Final = 1_000_000_000

log = logging.getLogger("deedbox")


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
        _check("window", window, 1)
        _check("threads", threads, 1)
        _check("limit", limit, 0.001)
        _check("patience", patience, 0)
        self._box = box
        for machine in handlers:
            box.machines.of(machine)
        self._handlers = found(handlers, only)
        self._room = {
            name: window if handler.on_loop else min(window, threads)
            for name, handler in self._handlers.items()
        }
        self._room |= dict.fromkeys(told(box), window)
        self._threads = threads
        self._limit = _milliseconds(limit)
        self._patience = _milliseconds(patience)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False

    # -- opening and stopping

    async def __aenter__(self) -> Worker:
        """Serve from now on: what a dead process held, and what waits, is taken up."""
        if self._loop is not None:
            raise MisplacedCall("A worker is opened once.")
        self._writer = self._box.serve()
        self._loop = asyncio.get_running_loop()
        self._gate = asyncio.Semaphore(self._box.waiting)
        self._calls = Calls(
            self._writer,
            self._handlers,
            self._box.clock,
            limit=self._limit,
            threads=self._threads,
        )
        self.crossing = Crossing(self._calls, self._box.clock)
        self._writer.submit(Serve(self.crossing, self._room))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> int:
        """Claim nothing more, let running handlers end, cancel those that do not.

        How many commands were given back unfinished; they stay owed (R15).  Who waits
        by this worker, or asks it from then on, hears `StoreClosed`.
        """
        if self._loop is None or self._calls.over:
            return 0
        timer = self._box.clock.call_later(
            self._loop, self._patience, self._calls.close
        )
        drained = self._loop.create_future()
        self._writer.submit(Drain(self.crossing.reply(drained)))
        await drained
        await self._calls.none_left()
        timer.cancel()
        self._calls.abandon()
        stopped = self._loop.create_future()
        self._stopped = True
        self._writer.submit(Stop(self.crossing.reply(stopped)))
        count = cast("int", await stopped)
        self._box.unserve()
        await self._calls.dropped()
        if count:
            log.warning("stopped with %d commands unfinished; they stay owed", count)
        return count

    def abandon(self) -> None:
        """End as a process that is killed: nothing is given back, no answer is taken."""
        self._stopped = True
        self._calls.abandon()

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
        watch = Watch(codec, codec.checked_id(id), names, self.crossing.reply(future))
        self._submit(watch)
        timer: Timer | None = None
        if timeout is not None:
            late = TimeoutError(f"{machine.name} {id} is not yet in {sorted(names)}")
            timer = self._box.clock.call_later(
                loop, _milliseconds(timeout), lambda: settle(future, late)
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
        tell = make(self.crossing.reply(future))
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
        if asyncio.get_running_loop() is not self._loop:
            raise MisplacedCall(
                "A worker is used on the event loop that opened it; elsewhere use its box."
            )
        return self._loop

    @property
    def idle(self) -> bool:
        """Whether nothing is to be done before a deadline or a handler's answer."""
        return self.crossing.empty and self._writer.quiet

    @property
    def running(self) -> list[Key]:
        """The rows whose handlers are at work."""
        return self._calls.keys

    @property
    def queued(self) -> list[object]:
        """What waits for the writer."""
        return self._writer.queued

    @property
    def epoch(self) -> int:
        """The session by which this worker holds rows."""
        return self._writer.desk.epoch


def _check(name: str, value: float, least: float) -> None:
    """With room for none, or no time, nothing would ever be done, and nobody told."""
    if not least <= value <= MOST:
        raise WrongType(f"`{name}` of a worker is {least} to {MOST:,}, not {value!r}")


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
