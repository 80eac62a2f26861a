"""One run of one instance, step by step, on the real interpreter.

A run is what others do: messages, the far side's decisions, answers, deadlines, crashes.
What the machine makes of it is the interpreter's, its store's and its handlers' business.
On SQLite each life of the process is a process of its own, and a crash is a SIGKILL;
in memory the worker is stopped at once and another takes over.  A run that the
machine does not follow ends where they part, and says so.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Literal, TypeAlias, TypeVar, assert_never

import msgspec
from msgspec import Struct

from .box import Box
from .codec import Codec
from .errors import SendError
from .opening import open as open_box
from .step import AnyMachine
from .stores.memory import MemoryStore
from .testing import EPOCH, FakeClock, elapse, settle
from .values import Instance, Rules
from .worker import Worker

T = TypeVar("T")
Where: TypeAlias = Literal["memory", "sqlite"]
MANY: Final = 2
"""The explorer counts so far and no further."""
PATIENCE: Final = 20_000
"""Milliseconds in which a row of a dead process, or of a handler that raised, is handed out."""


class Begin(Struct, frozen=True):
    message: Struct


class Tell(Struct, frozen=True):
    message: Struct


class HandedOut(Struct, frozen=True):
    """The handler of the awaited issue is at work."""


class Decides(Struct, frozen=True):
    """The far side ends a deed, the first being 1; None: one that nobody waits for.

    `counts`: it has really happened.
    """

    deed: int | None
    command: str
    outcome: str
    answer: Struct
    counts: bool = True


class Answers(Struct, frozen=True):
    """The handler of the awaited issue returns what the far side has decided."""


class Raises(Struct, frozen=True):
    """The handler of the awaited issue raises."""


class Fires(Struct, frozen=True):
    """Time passes, up to the next deadline of the state."""


class Crash(Struct, frozen=True):
    """The process dies."""


Action: TypeAlias = (
    Begin | Tell | HandedOut | Decides | Answers | Raises | Fires | Crash
)


class Does(Struct, frozen=True):
    """A step, and the phase in which it leaves the instance."""

    action: Action
    phase: str


class End(Struct):
    """Where a run has come to.  `parted`: why no further, empty when it was carried out."""

    phase: str = ""
    fields: dict[str, Any] = {}
    counts: dict[str, int] = {}
    parted: str = ""

    def reached(
        self, phase: str, counts: Mapping[str, int], fields: Mapping[str, object]
    ) -> bool:
        """Whether it was carried out, and ended so; two stands for more, too."""
        return (
            not self.parted
            and self.phase == phase
            and all(min(self.counts.get(n, 0), MANY) == c for n, c in counts.items())
            and all(self.fields.get(name) == value for name, value in fields.items())
        )


class Ledger(Struct):
    """What survives a process: the far side's book, the time, and the place in the run."""

    next: int = 0
    at: int = EPOCH
    id: str = ""
    keys: list[tuple[str, str]] = []
    decided: dict[str, int] = {}
    end: End = msgspec.field(default_factory=End)


class Parted(Exception):
    """The machine does something else than the run says."""


class HandlerFailed(Exception):
    """The run says that this handler raises."""


def read(type_: type[T], document: str) -> T:
    """A message from its JSON."""
    return msgspec.json.decode(document, type=type_)


def replay(machine: AnyMachine, run: Sequence[Does], where: Where, folder: Path) -> End:
    """Carry a run out; `folder` is empty, and `machine` that of an importable module."""
    if where == "memory":
        return asyncio.run(_in_memory(machine, run))
    module = machine.start_type.__module__
    book = folder / "ledger.json"
    book.write_bytes(msgspec.json.encode(Ledger()))
    for _ in range(1 + sum(isinstance(each.action, Crash) for each in run)):
        life = get_context("spawn").Process(
            target=_process, args=(module, tuple(run), folder)
        )
        life.start()
        life.join()
        if life.exitcode == 0:
            return msgspec.json.decode(book.read_bytes(), type=Ledger).end
        if life.exitcode != -signal.SIGKILL:
            raise RuntimeError(f"a process of the replay ended with {life.exitcode}")
    raise RuntimeError("more processes died than the run says")


async def _in_memory(machine: AnyMachine, run: Sequence[Does]) -> End:
    """The store is what survives a worker that is stopped at once."""
    ledger, clock = Ledger(), FakeClock()
    store = MemoryStore(clock)
    crashed = True
    while crashed:
        box = Box(store, [machine], rules=Rules(), clock=clock, peers=False)
        life = Life(machine, run, ledger, clock, box)
        async with Worker(box, life.handlers(), patience=0) as worker:
            crashed = await life.live(worker)
            await _stopped(worker, clock)
    return ledger.end


async def _stopped(worker: Worker, clock: FakeClock) -> None:
    """Let go of every handler, and of what they held."""
    stopping = asyncio.ensure_future(worker.stop())
    while not stopping.done():
        clock.advance(1)
        await asyncio.sleep(0.0003)
    await stopping


def _process(module: str, run: tuple[Does, ...], folder: Path) -> None:
    """One process, up to its crash or to the end of the run."""
    book = folder / "ledger.json"
    ledger = msgspec.json.decode(book.read_bytes(), type=Ledger)
    machine: AnyMachine = import_module(module).machine
    clock = FakeClock()
    clock.advance(ledger.at - EPOCH)

    async def live() -> None:
        with open_box(f"sqlite:///{folder / 'run.db'}", [machine], clock=clock) as box:
            life = Life(machine, run, ledger, clock, box)
            async with Worker(box, life.handlers(), patience=0) as worker:
                crashed = await life.live(worker)
                book.write_bytes(msgspec.json.encode(ledger))
                if crashed:
                    os.kill(os.getpid(), signal.SIGKILL)
                await _stopped(worker, clock)

    asyncio.run(live())


class Life:
    """What happens between two crashes."""

    def __init__(
        self,
        machine: AnyMachine,
        run: Sequence[Does],
        ledger: Ledger,
        clock: FakeClock,
        box: Box,
    ) -> None:
        self._machine = machine
        self._run = run
        self._ledger = ledger
        self._clock = clock
        self._box = box
        self._asked: dict[str, asyncio.Future[Struct]] = {}
        self._with_outcomes = {
            command.name for command in machine.commands if command.outcomes
        }

    def handlers(self) -> dict[AnyMachine, object]:
        """A command with outcomes waits until the run says what becomes of it."""

        async def wait(command: Any) -> Struct:
            future: asyncio.Future[Struct] = asyncio.get_running_loop().create_future()
            self._asked[command.idempotency_key] = future
            return await future

        async def done(_: Any) -> None:
            return None

        names = {
            command.name: wait if command.outcomes else done
            for command in self._machine.commands
        }
        return {self._machine: SimpleNamespace(**names)}

    async def live(self, worker: Worker) -> bool:
        """Whether it ends in a crash."""
        ledger = self._ledger
        while ledger.next < len(self._run):
            does = self._run[ledger.next]
            ledger.next += 1
            if isinstance(does.action, Crash):
                ledger.at = self._clock.wall()
                return True
            try:
                await self._do(worker, does.action)
                await settle(worker)
            except (Parted, SendError) as problem:
                ledger.end.parted = f"at step {ledger.next}: {problem}"
                return False
            found = self._instance()
            ledger.end.phase = "" if found is None else found.phase
            ledger.end.fields = (
                {} if found is None else msgspec.to_builtins(found.state)
            )
            if ledger.end.phase != does.phase:
                ledger.end.parted = f"at step {ledger.next}: it is {ledger.end.phase or 'unknown'}, not {does.phase}"
                return False
        return False

    async def _do(self, worker: Worker, action: Action) -> None:
        match action:
            case Begin(message):
                self._ledger.id = Codec(self._machine).id_of(message)
                await worker.start(message)
            case Tell(message):
                await worker.send(self._machine, self._ledger.id, message)
            case HandedOut():
                await self._handed_out(worker)
            case Decides():
                self._decide(action)
            case Answers():
                key = self._awaited()
                number = self._ledger.decided.get(key)
                if number is None:
                    raise Parted("the far side has not decided")
                decision = self._run[number].action
                assert isinstance(decision, Decides)
                self._take(key).set_result(decision.answer)
            case Raises():
                self._take(self._awaited()).set_exception(HandlerFailed())
            case Fires():
                found = self._instance()
                if found is None or found.wake_at is None:
                    raise Parted("there is no deadline")
                wait = max(found.wake_at - self._clock.wall(), 0)
                await elapse(self._clock, wait, worker)
            case Crash():
                raise AssertionError("a crash ends a life")
            case _:
                assert_never(action)

    def _instance(self) -> Instance[Any] | None:
        """What is stored; every deed that is owed is entered in the ledger."""
        found = self._box.get(self._machine, self._ledger.id)
        if found is not None:
            for owed in found.owed:
                entry = owed.idempotency_key, owed.command
                outcomes = owed.command in self._with_outcomes
                if outcomes and entry not in self._ledger.keys:
                    self._ledger.keys.append(entry)
        return found

    def _awaited(self) -> str:
        """The key of the issue that the state awaits."""
        found = self._instance()
        for owed in () if found is None else found.owed:
            if owed.command in self._with_outcomes:
                return owed.idempotency_key
        raise Parted("nothing is awaited")

    def _take(self, key: str) -> asyncio.Future[Struct]:
        future = self._asked.pop(key, None)
        if future is None or future.done():
            raise Parted("no handler is at work")
        return future

    async def _handed_out(self, worker: Worker) -> None:
        key = self._awaited()
        left = PATIENCE
        await settle(worker)
        while key not in self._asked or self._asked[key].done():
            wait = self._clock.next_deadline()
            if wait is None or left <= 0:
                raise Parted("the command is not handed out")
            await elapse(self._clock, max(wait, 1), worker)
            left -= max(wait, 1)

    def _decide(self, action: Decides) -> None:
        """One key, one answer: a deed that was decided before stays as it was."""
        ledger = self._ledger
        key = self._forgotten(action.command)
        if action.deed is not None:
            key = dict(enumerate(ledger.keys, 1)).get(action.deed, ("", ""))[0]
        if not key:
            raise Parted(f"there is no such deed of {action.command}")
        if key not in ledger.decided:
            ledger.decided[key] = ledger.next - 1
            if action.counts:
                name = f"{action.command}.{action.outcome}"
                ledger.end.counts[name] = ledger.end.counts.get(name, 0) + 1

    def _forgotten(self, command: str) -> str:
        """The oldest undecided deed of a command that is not awaited."""
        found = self._instance()
        owed = {each.idempotency_key for each in found.owed} if found else set[str]()
        for key, name in self._ledger.keys:
            if name == command and key not in self._ledger.decided and key not in owed:
                return key
        return ""
