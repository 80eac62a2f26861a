"""One simulated process: its box, its worker, its writer and its handlers; it can die.

Everything in it is real but for where it waits: the writer's thread is a task, the
store's operations are awaited, and the handlers ask the far side of the world.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from msgspec import Struct

from ..box import Box
from ..clock import Timer
from ..codec import Codec
from ..machine import CommandType
from ..operations import Key, Program, Transaction
from ..step import AnyMachine
from ..testing import EPOCH
from ..worker import Worker
from ..writer import Writer
from .backing import Performer
from .far_side import key_of
from .guests import inside
from .plan import Fault

if TYPE_CHECKING:
    from .world import World

T = TypeVar("T")
ACTS: Final = {Fault.ACTS_AND_RAISES, Fault.ACTS_AND_HANGS, Fault.ACTS_AND_DIES}
KILLS: Final = {Fault.CALL_DIES, Fault.ACTS_AND_DIES, Fault.CURSED}


class Time:
    """The clocks of one process: all read the loop's virtual time."""

    def __init__(self, world: World) -> None:
        self._world = world

    def wall(self) -> int:
        return EPOCH + self._world.loop.now + self._world.wall_ahead

    def monotonic(self) -> int:
        return self._world.loop.now

    def boot(self) -> int:
        return self._world.loop.now

    def host(self) -> str:
        return "a simulation"

    def wait(self, event: threading.Event, milliseconds: int | None) -> None:
        raise NotImplementedError("No thread waits in a simulation.")

    def call_later(
        self,
        loop: asyncio.AbstractEventLoop,
        milliseconds: int,
        callback: Callable[[], None],
    ) -> Timer:
        return loop.call_later(milliseconds / 1000, callback)


class Hands:
    """Handlers of a machine: every command of it is asked of the far side."""

    def __init__(self, process: Process, codec: Codec, plain: bool) -> None:
        self._process = process
        self._codec = codec
        self._plain = plain

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        type_ = self._codec.commands.get(name)
        if type_ is None:
            raise AttributeError(name)
        process, codec = self._process, self._codec

        async def call(command: Struct) -> object:
            return await process.call(codec, type_, command)

        def call_at_once(command: Struct) -> object:
            return process.call_at_once(codec, type_, command)

        return call_at_once if self._plain else call


class Wire:
    """The store as one process reaches it."""

    def __init__(self, process: Process, store: Performer) -> None:
        self._process = process
        self._store = store

    def register(self, machines: Iterable[AnyMachine]) -> None:
        self._store.register(machines)

    def run(self, program: Program[T]) -> T:
        raise NotImplementedError("The writer of a simulated process is awaited.")

    def read(self, program: Program[T]) -> T:
        return self._store.read(program)

    def transaction(self) -> AbstractContextManager[Transaction]:
        return self._process.transaction()

    def changed(self, epoch: int) -> bool:
        del epoch
        return False

    def close(self) -> None:
        """The rows stay."""


class Process:
    """One process: a box, a worker, its writer and its event loop; it can die."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.home = world.loop.lane(name)
        self.writing = world.loop.lane(f"{name} writer", self.home)
        self.dead = False
        self.stopping = False
        self.waited_for: list[asyncio.Future[Any]] = []
        self.told = False
        self.renewal: tuple[int, int] | None = None
        self.nap: asyncio.Future[None] | None = None
        self.writer: Writer | None = None
        self.store = world.backing.open(Time(world), world.machines)
        self.box = Box(
            Wire(self, self.store),
            world.machines,
            rules=world.plan.rules,
            clock=Time(world),
            peers=False,
            spawn=lambda _: lambda: None,
        )
        hands = {
            codec.machine: Hands(self, codec, world.plan.plain)
            for codec in self.box.machines.codecs.values()
        }
        self.worker = Worker(
            self.box,
            hands,
            window=world.plan.window,
            limit=world.plan.limit / 1000,
            patience=5.0,
        )

    # -- life

    async def open(self) -> None:
        await self.worker.__aenter__()
        self.writer = self.box.writer()
        self.world.spawn(self._write(self.writer), self.writing)

    async def stop(self) -> None:
        """An orderly stop, and a close."""
        self.stopping = True
        await self.worker.stop()
        self.box.close()

    async def _write(self, writer: Writer) -> None:
        """The body of the writer's thread, awaiting where the thread waits."""
        while not writer.over:
            try:
                wait = await self._drive(writer.turn())
            except Exception as problem:
                self.world.note(self.name, f"a turn fails: {problem!r}")
                wait = writer.failed()
            if writer.rests(wait):
                await self._nap(writer, wait)
                writer.roused()

    async def _nap(self, writer: Writer, milliseconds: int | None) -> None:
        if writer.called:
            return
        loop = self.world.loop
        nap = self.nap = loop.create_future()
        timer = None
        if milliseconds is not None:
            timer = loop.call_later(milliseconds / 1000, resolve, nap)
        await nap
        self.nap = None
        if timer is not None:
            timer.cancel()

    def hear(self) -> None:
        """What another process committed is seen at the next poll."""
        self.told = False
        if self.writer is not None:
            self.writer.overhear()

    def rouse(self) -> None:
        """End the writer's sleep if somebody has called it."""
        if self.nap is not None and self.writer is not None and self.writer.called:
            resolve(self.nap)

    # -- the store

    async def _drive(self, program: Program[T]) -> T:
        try:
            operation = next(program)
            while True:
                try:
                    answer = await self.world.perform(self, operation)
                except Exception as problem:
                    operation = program.throw(problem)
                else:
                    operation = program.send(answer)
        except StopIteration as end:
            return cast("T", end.value)

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction of the caller's."""
        return inside(self)

    # -- handlers

    def call_at_once(self, codec: Codec, type_: CommandType, command: Struct) -> object:
        world, key = self.world, row_key(codec, command)
        fault = world.begin_call(self, key, command)
        if fault is Fault.WRONG:
            return "nonsense"
        answer = None
        if fault is None or fault in ACTS:
            answer = world.ask(codec, type_, command)
        if fault in KILLS:
            world.kill(self)
        if fault is not None:
            raise OSError(fault.value)
        world.record.done(key, command)
        return answer

    async def call(self, codec: Codec, type_: CommandType, command: Struct) -> object:
        world, key = self.world, row_key(codec, command)
        trouble = world.trouble_at_call(self, key, command)
        fault = None if trouble is None else trouble.fault
        long = 0 if trouble is None else trouble.milliseconds
        delay = world.delays(key_of(command))
        await asyncio.sleep(delay.randrange(4) * delay.randrange(10) / 1000)
        match fault:
            case Fault.RAISES:
                raise OSError(fault.value)
            case Fault.HANGS:
                await world.never()
            case Fault.CALL_DIES | Fault.CURSED:
                await world.die(self)
            case Fault.ARRIVES_LATE:
                world.arrive_later(codec, type_, command, long)
                raise OSError(fault.value)
            case Fault.LATE if delay.random() < 0.5:
                await asyncio.sleep(long / 1000)
            case _:
                pass
        answer = world.ask(codec, type_, command)
        match fault:
            case Fault.ACTS_AND_RAISES:
                raise OSError(fault.value)
            case Fault.ACTS_AND_HANGS:
                await world.never()
            case Fault.ACTS_AND_DIES:
                await world.die(self)
            case Fault.LATE:
                await asyncio.sleep(long / 1000)
            case Fault.WRONG:
                return "nonsense"
            case _:
                await asyncio.sleep(delay.randrange(3) * delay.randrange(10) / 1000)
        world.record.done(key, command)
        return answer


def row_key(codec: Codec, command: Struct) -> Key:
    """The outbox row of a command, from its idempotency key."""
    id = key_of(command).rsplit("/", 2)[0].removeprefix(f"{codec.name}/")
    return codec.name, id, cast(int, getattr(command, "ticket"))  # noqa: B009


def resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
