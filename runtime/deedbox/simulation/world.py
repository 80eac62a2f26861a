"""The world of a run: processes over one store, on one virtual clock, as a plan says.

The protocol, the writer, the worker and the machines are the real ones; the store is
the one in memory, behind `Wire`, where each operation is numbered and is a point to
fail, to die, to stall, or to lose an answer.  Handlers ask the `FarSide`.  A process
that dies is never run again; another one opens.  When the plan is done, faults end,
one fresh process is left, and what was owed must be seen to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from random import Random
from typing import Any, Final, TypeVar, cast

from msgspec import Struct

from ..codec import Codec
from ..errors import (
    StoreClosed,
    StoreFailed,
)
from ..machine import CommandType
from ..operations import (
    AnyOperation,
    Begin,
    Commit,
    CommitUnknown,
    Enter,
    Fence,
    Key,
    Rest,
    Rollback,
    Settle,
)
from ..step import AnyMachine
from ..testing import EPOCH
from .backing import Backing
from .far_side import Character, FarSide, key_of
from .happened import Happened, Run
from .loop import Lane, Loop
from .mishaps import Mishaps
from .plan import Fault, Plan, Trouble
from .process import Process, Time, resolve, row_key
from .seen import Decided, Record
from .watch import Watch

T = TypeVar("T")

Tamper = Callable[[Process, AnyOperation, Callable[[AnyOperation], object]], object]
"""Performs an operation for a process in another way than the store does."""

FOREVER: Final = 1 << 62
"""What holds nothing has no lease that could run out."""
HEARD_AFTER: Final = 50
"""Milliseconds after which a process has heard at the latest that another wrote."""


class World:
    """The store, the far side, the clock, the processes, and what goes wrong."""

    def __init__(
        self,
        plan: Plan,
        machines: Sequence[AnyMachine],
        character: Character,
        tamper: Tamper | None,
        backing: Backing,
    ) -> None:
        self.plan = plan
        self.machines = machines
        self.loop = Loop(Random(f"order {plan.seed}"))
        self.loop.after = self._after
        self.loop.problem = self.break_
        self.wall_ahead = 0
        self.trace: list[Happened] = []
        self.backing = backing
        self.clock = Time(self)
        self.far_side = FarSide(plan.seed, character)
        codecs = {machine.name: Codec(machine) for machine in machines}
        self.record = Record(codecs, plan.rules, self.far_side, self.clock.boot)
        self.watch = Watch(self.record)
        self.processes: list[Process] = []
        self.holder: Process | None = None
        self.operations = 0
        self.transactions = 0
        self.commits = 0
        self.calls = 0
        self.closed = False
        self.codecs = codecs
        self._tamper = tamper
        self.random = Random(f"world {plan.seed}")
        self._waiting: list[asyncio.Future[None]] = []
        self.mishaps = Mishaps(plan)
        self._broken: list[str] = []
        self.over: asyncio.Future[None] | None = None

    # -- what is seen of the run

    def note(self, who: str, what: str | AnyOperation) -> None:
        self.trace.append(Happened(self.loop.now, who, what))

    def break_(self, text: str) -> None:
        self._broken.append(text)
        if self.over is not None:
            resolve(self.over)

    def result(self) -> Run:
        return Run(
            self.plan,
            list(self._broken),
            list(self.trace),
            self.record.events,
            {name: seen.row[2] for name, seen in self.record.seen.items()},
            self.operations,
            self.calls,
        )

    def _look(self) -> None:
        for found in (self.record.broken, self.far_side.broken):
            for said in found:
                self.break_(said)
            found.clear()

    def _after(self) -> None:
        for process in self.processes:
            if process.nap is not None and not process.dead:
                process.rouse()

    # -- tasks

    def spawn(
        self, coroutine: Coroutine[Any, Any, T], lane: Lane | None = None
    ) -> asyncio.Task[T]:
        """A task in a lane; without one, in the world's own."""
        context = self.loop.within(lane or self.loop.main)
        return self.loop.create_task(coroutine, context=context)

    async def never(self) -> None:
        await self.loop.create_future()

    async def sleep(self, milliseconds: int) -> None:
        await asyncio.sleep(milliseconds / 1000)

    def delays(self, key: str) -> Random:
        return Random(f"delay {self.plan.seed} {key} {self.calls}")

    # -- processes

    def open(self) -> Process:
        process = Process(self, f"p{len(self.processes) + 1}")
        self.processes.append(process)
        self.note(process.name, "opens")
        self.spawn(process.open(), process.home)
        return process

    @property
    def living(self) -> list[Process]:
        return [one for one in self.processes if not one.dead and not one.stopping]

    def kill(self, process: Process, *, reopens: bool = True) -> None:
        """SIGKILL: its transaction is undone, its locks are free, nothing of it runs."""
        if process.dead:
            return
        self.note(process.name, "DIES")
        process.dead = True
        self.loop.forget(process.home)
        self.loop.forget(process.writing)
        self.record.dead.add(process.name)
        if self.holder is process:
            process.store.perform(Rollback())
            self._release()
        held_by = self.record.held_by
        mine = {epoch for epoch, name in held_by.items() if name == process.name}
        self.backing.died(process.store, mine)
        for answer in process.waited_for:
            resolve(answer)
        if reopens:
            self.spawn(self._reopen(self.random.choice(self.plan.reopens)))

    async def die(self, process: Process) -> None:
        self.kill(process)
        await self.never()

    async def _reopen(self, after: int) -> None:
        await self.sleep(after)
        if not self.mishaps.quiet or not self.living:
            self.open()

    async def _restart(self, process: Process) -> None:
        self.note(process.name, "is stopped in order")
        self.spawn(process.stop(), process.home)
        await self._reopen(50)

    # -- operations

    async def perform(self, process: Process, operation: AnyOperation) -> object:
        """One operation of a process, and what goes wrong with it."""
        if self.closed:
            raise StoreClosed
        self.operations += 1
        is_edge = isinstance(operation, Begin | Commit)
        if is_edge or self.random.random() < 0.25:
            await asyncio.sleep(0)
        fault = await self._before(process, operation)
        mine = self.holder is process
        match operation:
            case Begin():
                self.transactions += 1
                await self._acquire(process)
            case Rollback() if not mine:
                return None
            case Settle():
                await self.free()
            case _:
                pass
        self.note(process.name, operation)
        if fault is Fault.NOT_COMMITTED:
            raise CommitUnknown(fault.value)
        answer = self.answer(process, operation, process.store.perform)
        self._lease(process, operation, answer)
        if isinstance(operation, Commit | Rollback):
            self._release()
        if isinstance(operation, Commit):
            self.after_commit(process)
        if fault is Fault.DIES_AFTER:
            await self.die(process)
        if fault is Fault.COMMITTED:
            raise CommitUnknown(fault.value)
        return answer

    async def _before(self, process: Process, operation: AnyOperation) -> Fault | None:
        trouble = self.mishaps.at_operation(self.operations, operation)
        if trouble is None:
            return None
        fault = trouble.fault
        self.note(process.name, f"{fault.name}: {fault.value} ({operation!r:.60})")
        match fault:
            case Fault.FAILS:
                if isinstance(operation, Rollback) and self.holder is process:
                    # What was not committed is gone all the same.
                    process.store.perform(operation)
                    self._release()
                raise StoreFailed(fault.value)
            case Fault.DIES:
                await self.die(process)
            case Fault.STOPPED:
                until = self.loop.now + trouble.milliseconds
                process.home.stopped_until = process.writing.stopped_until = until
                await asyncio.sleep(0)
            case Fault.SLOW:
                await self.sleep(trouble.milliseconds)
            case Fault.JUMP:
                self.wall_ahead = self._set_clock(trouble.milliseconds)
            case Fault.RESTART:
                if not process.stopping:
                    self.spawn(self._restart(process))
            case _:
                return fault
        return None

    def _set_clock(self, milliseconds: int) -> int:
        """Ahead, back, or to the very millisecond in which an instance was last written."""
        ahead = self.wall_ahead + self.random.choice((-1, 1)) * milliseconds
        times = [at - EPOCH - self.loop.now for at in self.record.times.values()]
        return self.random.choice([ahead, *times[-1:]])

    def _lease(self, process: Process, operation: AnyOperation, answer: object) -> None:
        """Which session is whose, and until when; a commit makes it count."""
        match operation:
            case Enter():
                epoch = cast(int, answer)
                self.record.held_by[epoch] = process.name
                process.renewal = epoch, FOREVER
            case Fence() if answer is not None:
                process.renewal = operation.epoch, self.loop.now + operation.lease
            case Rest():
                process.renewal = operation.epoch, FOREVER
            case Commit() if process.renewal is not None:
                epoch, until = process.renewal
                self.record.leases[epoch] = until
            case Rollback():
                process.renewal = None
            case _:
                pass

    def answer(
        self,
        process: Process,
        operation: AnyOperation,
        perform: Callable[[AnyOperation], object],
    ) -> object:
        if self._tamper is None:
            return perform(operation)
        return self._tamper(process, operation, perform)

    async def _acquire(self, process: Process) -> None:
        await self.free()
        self.holder = process

    async def free(self) -> None:
        """Wait until nobody holds the write lock."""
        while self.holder is not None:
            await self._queue()

    async def _queue(self) -> None:
        turn: asyncio.Future[None] = self.loop.create_future()
        self._waiting.append(turn)
        await turn

    def _release(self) -> None:
        self.holder = None
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            resolve(turn)

    def after_commit(self, process: Process) -> None:
        """The laws are looked at, and the other processes see that somebody wrote."""
        self.commits += 1
        self.watch.committed(process.name, self.backing.rows())
        for said in self.record.notes:
            self.note(process.name, said)
        self.record.notes.clear()
        self._look()
        for other in self.living:
            if other is not process and other.writer is not None and not other.told:
                other.told = True
                self.loop.call_later(
                    self.random.randrange(HEARD_AFTER) / 1000,
                    other.hear,
                    context=self.loop.within(other.home),
                )

    # -- calls of handlers

    def trouble_at_call(
        self, process: Process, key: Key, command: Struct
    ) -> Trouble | None:
        self.calls += 1
        self.note(process.name, f"calls {command}")
        self.watch.called(process.name, key, command)
        self._look()
        trouble = self.mishaps.at_call(self.calls, key_of(command))
        if trouble is not None:
            self.note(process.name, f"{trouble.fault.name}: {trouble.fault.value}")
        return trouble

    def begin_call(self, process: Process, key: Key, command: Struct) -> Fault | None:
        trouble = self.trouble_at_call(process, key, command)
        return None if trouble is None else trouble.fault

    def ask(self, codec: Codec, type_: CommandType, command: Struct) -> Struct | None:
        key = key_of(command)
        is_new = key not in self.far_side.answered
        answer = self.far_side.ask(codec, type_, command, EPOCH + self.loop.now)
        if is_new:
            machine, id, _ = row_key(codec, command)
            self.record.events.append(Decided(machine, id, key, type_.name, answer))
        self.note("far side", f"{key_of(command)} is answered {answer}")
        self._look()
        return answer

    def arrive_later(
        self, codec: Codec, type_: CommandType, command: Struct, after: int
    ) -> None:
        """A request that nobody waits for any more is still on its way."""

        async def arrive() -> None:
            await self.sleep(after)
            try:
                self.ask(codec, type_, command)
            except Exception as problem:
                self.note("far side", f"{problem!r}")

        self.spawn(arrive())
