"""One run: processes over one store, on one virtual clock, as a plan says.

The protocol, the writer, the worker and the machines are the real ones; the store is
the one in memory, behind `Wire`, where each operation is numbered and is a point to
fail, to die, to stall, or to lose an answer.  Handlers ask the `FarSide`.  A process
that dies is never run again; another one opens.  When the plan is done, faults end,
one fresh process is left, and what was owed must be seen to.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from random import Random
from typing import Any, Final, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from ..box import Box
from ..clock import Timer
from ..codec import Codec, text
from ..errors import (
    DeedboxError,
    Rejected,
    SendError,
    StoreClosed,
    StoreFailed,
    Unsettled,
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
    Program,
    Rollback,
    Settle,
    Transaction,
)
from ..step import AnyMachine
from ..testing import EPOCH, Laws
from ..values import HOUR, Receipt
from ..worker import Worker
from ..writer import Writer
from .backing import Backing, InMemory, Performer
from .far_side import AnyAnswer, Character, FarSide, key_of
from .loop import Deadlock, Endless, Lane, Loop
from .plan import ONLY_COMMIT, Fault, Plan, Sending, Trouble
from .watch import Decided, Step, Watch

T = TypeVar("T")

Tamper = Callable[["Process", AnyOperation, Callable[[AnyOperation], object]], object]
"""Performs an operation for a process in another way than the store does."""

ACTS: Final = {Fault.ACTS_AND_RAISES, Fault.ACTS_AND_HANGS, Fault.ACTS_AND_DIES}
KILLS: Final = {Fault.CALL_DIES, Fault.ACTS_AND_DIES, Fault.CURSED}
HEARD_AFTER: Final = 50
"""Milliseconds after which a process has heard at the latest that another wrote."""
QUIET_AFTER: Final = 900_000
"""Milliseconds without faults after which nothing may be owed: every ladder is over."""
DRAINING: Final = 600
"""Operations that a machine without an end may use up in the quiet part of a run."""


class Happened(Struct, frozen=True):
    """A line of a run: when, where, what."""

    at: int
    who: str
    what: str | AnyOperation

    def __str__(self) -> str:
        return f"{self.at:>10} {self.who:<10} {self.what}"


class Run(Struct):
    """What became of a plan: the laws that did not hold, and how it went.

    `events` are the steps of all instances and what the far side did, in their order.
    """

    plan: Plan
    broken: list[str]
    trace: list[Happened]
    events: list[Step | Decided]
    phases: dict[tuple[str, str], str]
    operations: int
    calls: int

    @property
    def story(self) -> str:
        """The run for a reader: what was sent, done, saved and broken, line by line."""
        told = [str(line) for line in self.trace if isinstance(line.what, str)]
        return "\n".join(
            [
                f"seed {self.plan.seed}",
                *told,
                *(f"BROKEN {text}" for text in self.broken),
            ]
        )

    @property
    def hash(self) -> str:
        """Of everything that happened, each operation of the store included."""
        lines = "\n".join(map(str, self.trace))
        return hashlib.sha256(lines.encode()).hexdigest()


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
        self.waited_for: list[asyncio.Future[object]] = []
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
            timer = loop.call_later(milliseconds / 1000, _resolve, nap)
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
            _resolve(self.nap)

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

    @contextmanager
    def transaction(self) -> Generator[Transaction]:
        """A transaction of the caller's: nothing else runs within it."""
        if self.world.holder is not None:
            raise StoreFailed("the write lock is held")
        with self.store.transaction() as transaction:
            yield transaction
        self.world.after_commit(self)

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
        world.watch.done(key, command)
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
        world.watch.done(key, command)
        return answer


def row_key(codec: Codec, command: Struct) -> Key:
    """The outbox row of a command, from its idempotency key."""
    id = key_of(command).rsplit("/", 2)[0].removeprefix(f"{codec.name}/")
    return codec.name, id, cast(int, getattr(command, "ticket"))  # noqa: B009


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


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
        self.watch = Watch(codecs, plan.rules, self.far_side, self.clock.boot)
        self.processes: list[Process] = []
        self.holder: Process | None = None
        self.operations = 0
        self.transactions = 0
        self.calls = 0
        self.quiet = False
        self.closed = False
        self._codecs = codecs
        self._tamper = tamper
        self._random = Random(f"world {plan.seed}")
        self._waiting: list[asyncio.Future[None]] = []
        self._troubles = list(plan.operations)
        self._call_troubles = list(plan.calls)
        self._cursed: set[str] = set()
        self._answers: dict[tuple[str, str, str], object] = {}
        self._broken: list[str] = []
        self._over: asyncio.Future[None] | None = None

    # -- what is seen of the run

    def note(self, who: str, what: str | AnyOperation) -> None:
        self.trace.append(Happened(self.loop.now, who, what))

    def break_(self, text: str) -> None:
        self._broken.append(text)
        if self._over is not None:
            _resolve(self._over)

    def result(self) -> Run:
        return Run(
            self.plan,
            list(self._broken),
            list(self.trace),
            self.watch.events,
            {name: seen.row[2] for name, seen in self.watch.seen.items()},
            self.operations,
            self.calls,
        )

    def _look(self) -> None:
        for found in (self.watch.broken, self.far_side.broken):
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
        self.watch.dead.add(process.name)
        if self.holder is process:
            process.store.perform(Rollback())
            self._release()
        held_by = self.watch.held_by
        mine = {epoch for epoch, name in held_by.items() if name == process.name}
        self.backing.died(process.store, mine)
        for answer in process.waited_for:
            if not answer.done():
                answer.set_result(None)
        if reopens:
            self.spawn(self._reopen(self._random.choice(self.plan.reopens)))

    async def die(self, process: Process) -> None:
        self.kill(process)
        await self.never()

    async def _reopen(self, after: int) -> None:
        await self.sleep(after)
        if not self.quiet or not self.living:
            self.open()

    async def _restart(self, process: Process) -> None:
        self.note(process.name, "is stopped in order")
        self.spawn(process.stop(), process.home)
        await self._reopen(50)

    # -- senders

    async def _send(self, sending: Sending) -> None:
        """One sender; with a `message_id` it asks until it has an answer."""
        left = 1 if sending.message_id is None else 1 + sending.copies
        for _ in range(40):
            answer = await self._sent(sending)
            said = answer if isinstance(answer, Receipt | None) else repr(answer)
            self.note("sender", f"{sending.message} to {sending.id} hears {said}")
            if sending.message_id is None:
                return
            if isinstance(answer, Receipt | SendError):
                self._compare(sending, answer)
                left -= 1
                if left == 0:
                    return
            await self.sleep(self._random.choice((0, 40, 3_000)))

    async def _sent(self, sending: Sending) -> object:
        """The answer, or None when the process died before it gave one."""
        while not (open_ := [one for one in self.living if one.writer is not None]):
            await self.sleep(100)
        process = self._random.choice(open_)
        answer: asyncio.Future[object] = self.loop.create_future()
        process.waited_for.append(answer)
        self.spawn(self._ask(process, sending, answer), process.home)
        said = await answer
        process.waited_for.remove(answer)
        return said

    async def _ask(
        self, process: Process, sending: Sending, answer: asyncio.Future[object]
    ) -> None:
        machine = self._codecs[sending.machine].machine
        message, message_id = sending.message, sending.message_id
        sent = sending.machine, sending.id, text(replace(message, at=-1))
        self.watch.sent[sent] += 1
        said: object
        try:
            if type(message) is machine.start_type:
                said = await process.worker.start(message, message_id=message_id)
            else:
                said = await process.worker.send(
                    machine, sending.id, message, message_id=message_id
                )
        except DeedboxError as problem:
            said = problem
        if isinstance(said, Receipt) and said.answer == "applied":
            self._is_committed(sending, said)
        elif not isinstance(said, Unsettled):
            self.watch.sent[sent] -= 1
            if self.watch.sent[sent] < 0 and sending.machine not in self.watch.told:
                self.break_(f"R2: {message} was applied, and its sender hears {said!r}")
        if not answer.done():
            answer.set_result(said)

    def _is_committed(self, sending: Sending, receipt: Receipt) -> None:
        """Who hears that it is applied can read it."""
        name = sending.machine, sending.id
        seen = self.watch.seen.get(name)
        if name in self.watch.removed:
            return
        if seen is None or seen.row[1] < receipt.rev:
            self.break_(f"R1: {name} hears {receipt}, committed is {seen}")

    def _compare(self, sending: Sending, answer: Receipt | SendError) -> None:
        """R14: the first answer to a message id is the answer."""
        name = sending.machine, sending.id
        if name in self.watch.removed or not isinstance(answer, Receipt | Rejected):
            return
        said = answer if isinstance(answer, Receipt) else str(answer)
        first = self._answers.setdefault((*name, sending.message_id or ""), said)
        if first != said:
            self.break_(f"R14: {sending.message_id} heard {first}, and now {said}")

    # -- the script of a run

    async def main(self) -> None:
        self._over = self.loop.create_future()
        script = self.spawn(self._script())
        script.add_done_callback(self._ended)
        await self._over

    def _ended(self, script: asyncio.Task[None]) -> None:
        if not script.cancelled() and (problem := script.exception()) is not None:
            self.break_(f"the script of the run fails: {problem!r}")
        if self._over is not None:
            _resolve(self._over)

    async def _script(self) -> None:
        senders: list[asyncio.Task[None]] = []
        for _ in range(self.plan.processes):
            self.open()
        for sending in self.plan.sendings:
            await self.sleep(self._gap(sending.after))
            senders.append(self.spawn(self._send(sending)))
        for _ in range(60):
            if not self._troubles and not self._call_troubles:
                break
            await self.sleep(1_000)
        await self._quiet_down(senders)
        laws = Laws(self.machines, self.plan.rules)
        for said in laws.broken(self.processes[-1].store):
            self.break_(said)

    def _gap(self, after: int | None) -> int:
        if after is not None:
            return after
        now = self.clock.wall()
        wakes = [
            seen.row[6] - now
            for seen in self.watch.seen.values()
            if seen.row[6] is not None
        ]
        soonest = min((wake for wake in wakes if 0 <= wake < HOUR), default=0)
        return max(soonest + self._random.choice((-1, 0, 1)), 0)

    async def _quiet_down(self, senders: list[asyncio.Task[None]]) -> None:
        """No more faults, one fresh process: what was owed is seen to."""
        self.quiet = True
        self.note("the world", "no more faults")
        jumps = abs(self.wall_ahead)
        for process in self.living:
            process.home.stopped_until = process.writing.stopped_until = 0
            self.kill(process, reopens=False)
        owed = {(key, row[4]) for key, row in self.watch.outbox.items()}
        self.open()
        begun = self.operations
        until = self.loop.now + QUIET_AFTER + jumps
        while self.loop.now < until and self.operations < begun + DRAINING:
            await self.sleep(5_000)
        if not all(sender.done() for sender in senders):
            self.break_("a sender has no answer, long after the last fault")
        if self.loop.now >= until:
            for said in self.watch.lost(owed):
                self.break_(said)
            await self._is_quiet()

    async def _is_quiet(self) -> None:
        """With nothing due and nothing at work, nothing is done.

        But for one look for each machine: a deadline that was left is known as long as
        nobody has looked.
        """
        process = self.processes[-1]
        if (
            self.watch.outbox
            or process.dead
            or process.writer is None
            or not process.writer.quiet
        ):
            return
        now = self.clock.wall()
        wakes = [
            seen.row[6] - now
            for seen in self.watch.seen.values()
            if seen.row[6] is not None and seen.row[7] is None
        ]
        span = min([*wakes, HOUR]) - 1
        before = self.transactions
        if span > 0:
            await self.sleep(span)
            done = self.transactions - before
            if done > len(self.machines):
                self.break_(f"{done} transactions, and nothing is due")

    # -- operations

    async def perform(self, process: Process, operation: AnyOperation) -> object:
        """One operation of a process, and what goes wrong with it."""
        if self.closed:
            raise StoreClosed
        self.operations += 1
        is_edge = isinstance(operation, Begin | Commit)
        if is_edge or self._random.random() < 0.25:
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
                while self.holder is not None:
                    await self._queue()
            case _:
                pass
        self.note(process.name, operation)
        if fault is Fault.NOT_COMMITTED:
            raise CommitUnknown(fault.value)
        answer = self._answer(process, operation)
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
        trouble = self._trouble(operation)
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
                # Not a round number: a life that begins in the very millisecond of a
                # removed one has its keys, and a clock that is set back may do that.
                sign = self._random.choice((-1, 1))
                self.wall_ahead += sign * (trouble.milliseconds + 7 * self.operations)
            case Fault.RESTART:
                if not process.stopping:
                    self.spawn(self._restart(process))
            case _:
                return fault
        return None

    def _trouble(self, operation: AnyOperation) -> Trouble | None:
        if self.quiet:
            return None
        for number, trouble in enumerate(self._troubles):
            if trouble.at > self.operations:
                return None
            if isinstance(operation, Rollback) and trouble.fault is not Fault.FAILS:
                continue
            if trouble.fault in ONLY_COMMIT and not isinstance(operation, Commit):
                continue
            del self._troubles[number]
            return trouble
        return None

    def _lease(self, process: Process, operation: AnyOperation, answer: object) -> None:
        """Which session is whose, and until when; a commit makes it count."""
        match operation:
            case Enter():
                epoch = cast(int, answer)
                self.watch.held_by[epoch] = process.name
                process.renewal = epoch, self.loop.now + operation.lease
            case Fence() if answer is not None:
                process.renewal = operation.epoch, self.loop.now + operation.lease
            case Commit() if process.renewal is not None:
                epoch, until = process.renewal
                self.watch.leases[epoch] = until
            case Rollback():
                process.renewal = None
            case _:
                pass

    def _answer(self, process: Process, operation: AnyOperation) -> object:
        if self._tamper is None:
            return process.store.perform(operation)
        return self._tamper(process, operation, process.store.perform)

    async def _acquire(self, process: Process) -> None:
        while self.holder is not None:
            await self._queue()
        self.holder = process

    async def _queue(self) -> None:
        turn: asyncio.Future[None] = self.loop.create_future()
        self._waiting.append(turn)
        await turn

    def _release(self) -> None:
        self.holder = None
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            _resolve(turn)

    def after_commit(self, process: Process) -> None:
        """The laws are looked at, and the other processes see that somebody wrote."""
        self.watch.committed(process.name, self.backing.rows())
        for said in self.watch.notes:
            self.note(process.name, said)
        self.watch.notes.clear()
        self._look()
        for other in self.living:
            if other is not process and other.writer is not None and not other.told:
                other.told = True
                self.loop.call_later(
                    self._random.randrange(HEARD_AFTER) / 1000,
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
        if key_of(command) in self._cursed:
            return Trouble(self.calls, Fault.CURSED, 0)
        if self.quiet or not self._call_troubles:
            return None
        if self._call_troubles[0].at > self.calls:
            return None
        trouble = self._call_troubles.pop(0)
        self.note(process.name, f"{trouble.fault.name}: {trouble.fault.value}")
        if trouble.fault is Fault.CURSED:
            self._cursed.add(key_of(command))
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
            self.watch.events.append(Decided(machine, id, key, type_.name, answer))
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


def simulate(
    plan: Plan,
    machines: Sequence[AnyMachine],
    character: Character | None = None,
    tamper: Tamper | None = None,
    backing: Backing | None = None,
) -> Run:
    """Run a plan to its end, or to the first law that does not hold."""
    world = World(
        plan, machines, character or AnyAnswer(), tamper, backing or InMemory()
    )
    log = logging.getLogger("deedbox")
    was_disabled, log.disabled = log.disabled, True
    try:
        with asyncio.Runner(loop_factory=lambda: world.loop) as runner:
            try:
                runner.run(world.main())
            except (Deadlock, Endless) as problem:
                world.break_(f"the run does not end: {problem!r}")
            run = world.result()
            world.closed = world.loop.thawed = True
    finally:
        log.disabled = was_disabled
    return run
