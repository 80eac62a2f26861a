"""What tests of machines, handlers and stores use: a clock that is driven, and laws.

`FakeClock` stands still until it is advanced, and wakes whoever waits for it.
`Laws` reads a whole store and says which invariant of the protocol does not hold; a
`Watched` store asks it after every transaction.  `run`, `hold` and `differences` are
of the simulation: whole runs from a seed, and stores held against the one in memory.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from .codec import Codec, text
from .machine import Refused
from .operations import (
    AnyOperation,
    Everything,
    History,
    InstanceRow,
    JournalRow,
    OutboxRow,
    Page,
    Program,
    Sessions,
    Store,
    Transaction,
    ask,
)
from .step import AnyMachine, step
from .values import Rules
from .worker import Worker

if TYPE_CHECKING:
    from .simulation import (
        AnyAnswer,
        Character,
        InMemory,
        OnSqlite,
        Plan,
        Run,
        differences,
        hold,
        plan_of,
        run,
        simulate,
        smallest,
    )

__all__ = [
    "EPOCH",
    "AnyAnswer",
    "Character",
    "FakeClock",
    "FakeTimer",
    "Fault",
    "Faults",
    "InMemory",
    "Laws",
    "OnSqlite",
    "Picture",
    "Plan",
    "Run",
    "Watched",
    "differences",
    "elapse",
    "fold",
    "hold",
    "picture",
    "plan_of",
    "run",
    "settle",
    "simulate",
    "smallest",
    "tampered",
    "void",
]

T = TypeVar("T")
EPOCH: Final = 1_700_000_000_000


class FakeTimer:
    """A call that the clock makes when its time has come."""

    def __init__(self, at: int, call: Callable[[], None]) -> None:
        self.at = at
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """Wall, monotonic and boot time that move only by `advance` and `jump`."""

    def __init__(self, at: int = EPOCH) -> None:
        self._wall = at
        self._monotonic = 0
        self._lock = threading.Lock()
        self._waits: dict[threading.Event, int] = {}
        self._timers: list[FakeTimer] = []

    def wall(self) -> int:
        return self._wall

    def monotonic(self) -> int:
        return self._monotonic

    def boot(self) -> int:
        return self._monotonic

    def host(self) -> str:
        return "a test"

    def wait(self, event: threading.Event, milliseconds: int | None) -> None:
        with self._lock:
            if milliseconds is not None:
                self._waits[event] = self._monotonic + milliseconds
        event.wait()
        with self._lock:
            self._waits.pop(event, None)

    def call_later(
        self,
        loop: asyncio.AbstractEventLoop,
        milliseconds: int,
        callback: Callable[[], None],
    ) -> FakeTimer:
        with self._lock:
            timer = FakeTimer(
                self._monotonic + milliseconds,
                lambda: void(loop.call_soon_threadsafe(callback)),
            )
            self._timers.append(timer)
        return timer

    def next_deadline(self) -> int | None:
        """In how many milliseconds somebody wants to be woken."""
        with self._lock:
            timers = [timer.at for timer in self._timers if not timer.cancelled]
            times = [*self._waits.values(), *timers]
        return max(min(times) - self._monotonic, 0) if times else None

    def advance(self, milliseconds: int) -> None:
        """Let time pass, and wake everybody whose time has come."""
        with self._lock:
            self._wall += milliseconds
            self._monotonic += milliseconds
            due = [timer for timer in self._timers if timer.at <= self._monotonic]
            self._timers = [timer for timer in self._timers if timer not in due]
            for event, until in self._waits.items():
                if until <= self._monotonic:
                    event.set()
        for timer in due:
            if not timer.cancelled:
                timer.call()

    def jump(self, milliseconds: int) -> None:
        """The wall clock is set; the others go on as if nothing had happened."""
        self._wall += milliseconds


def void(_: object) -> None:
    """Drop a result."""


async def settle(*workers: Worker) -> None:
    """Until nothing moves but what waits for a deadline, or for something outside."""
    still, before = 0, None
    while still < 3:
        await asyncio.sleep(0.0003)
        running = [worker.running for worker in workers]
        idle = all(worker.idle for worker in workers) and running == before
        still, before = still + 1 if idle else 0, running


async def elapse(clock: FakeClock, milliseconds: int, *workers: Worker) -> None:
    """Let time pass from deadline to deadline, settling at each."""
    await settle(*workers)
    left = milliseconds
    while left > 0:
        wait = clock.next_deadline()
        stride = left if wait is None else min(max(wait, 1), left)
        clock.advance(stride)
        left -= stride
        await settle(*workers)


class Picture(Struct):
    """All rows of a store, at one moment."""

    instances: dict[str, list[InstanceRow]]
    journal: dict[tuple[str, str], list[JournalRow]]
    outbox: list[OutboxRow]
    sessions: set[int]


def _picture(codecs: Iterable[Codec]) -> Program[Picture]:
    picture = Picture({}, {}, [], set())
    for codec in codecs:
        rows = yield from ask(Page(codec.name, "", None, None, 1_000_000))
        picture.instances[codec.name] = rows
        for row in rows:
            history = yield from ask(History(codec.name, row[0]))
            picture.journal[codec.name, row[0]] = history
    picture.outbox = sorted((yield from ask(Everything())), key=lambda row: row[:3])
    picture.sessions = yield from ask(Sessions())
    return picture


def picture(store: Store, machines: Iterable[AnyMachine]) -> Picture:
    """What a store holds now, in the order of its keys."""
    return store.read(_picture([Codec(machine) for machine in machines]))


class Laws:
    """The invariants of the protocol, over everything that a store holds.

    I1  an awaited ticket has its row, and an awaited row its ticket
    I2  no handler runs whose row is not committed as held by its process
    I3  a row is run by one live process at most
    I4  `rev` is the number of steps in the journal, and folding them gives the state
    I5  `wake_at` is the smallest deadline of the state; of a final, its removal
    I6  a claim is null or an existing session
    I7  the logical time of an instance never falls
    I8  one idempotency key, one deed: always the same command and arguments

    I8 looks back over all pictures that this object has seen.
    """

    def __init__(self, machines: Iterable[AnyMachine], rules: Rules) -> None:
        self._codecs = {machine.name: Codec(machine) for machine in machines}
        self._rules = rules
        self._deeds: dict[str, tuple[str, str]] = {}

    def broken(self, store: Store, *workers: Worker) -> list[str]:
        """What does not hold, in words; an empty list when all is well."""
        picture = store.read(_picture(self._codecs.values()))
        said = [*self._rows(picture), *self._running(picture, workers)]
        for name, rows in picture.instances.items():
            for row in rows:
                said.extend(self._instance(self._codecs[name], row, picture))
        return said

    def _rows(self, picture: Picture) -> Iterable[str]:
        phases = {
            (name, row[0]): row
            for name, rows in picture.instances.items()
            for row in rows
        }
        for row in picture.outbox:
            machine, id, ticket, name, key, claim, *_, version, doc = row
            codec = self._codecs[machine]
            if claim is not None and claim not in picture.sessions:
                yield f"I6: {row[:3]} is claimed by {claim}, which is no session"
            if version > codec.version:
                continue
            command = codec.command(version, name, doc)
            deed = name, text(replace(command, ticket=0))
            if self._deeds.setdefault(key, deed) != deed:
                yield f"I8: {key} was {self._deeds[key]}, now it is {deed}"
            instance = phases.get((machine, id))
            if instance is None or not codec.commands[name].outcomes:
                continue
            if instance[7] is not None or instance[5] != codec.version:
                continue
            state = codec.decode_state(instance[8])
            if codec.machine.awaited(state) != ticket:
                yield f"I1: {row[:3]} is owed, and {instance[2]} does not await it"

    def _instance(
        self, codec: Codec, row: InstanceRow, picture: Picture
    ) -> Iterable[str]:
        id, rev, _, at, _, version, wake_at, parked, doc = row
        if parked is not None or version != codec.version:
            return
        state = codec.decode_state(doc)
        ticket = codec.machine.awaited(state)
        tickets = {key[2] for key in picture.outbox if key[:2] == (codec.name, id)}
        if ticket is not None and ticket not in tickets:
            yield f"I1: {id} awaits {ticket}, of which there is no row"
        if type(state) not in codec.machine.finals:
            if wake_at != codec.machine.wake(state):
                yield f"I5: {id} wakes at {wake_at}, not {codec.machine.wake(state)}"
        elif self._rules.keep is not None and (wake_at or 0) < at + self._rules.keep:
            yield f"I5: {id} has ended at {at} and is removed at {wake_at}"
        journal = picture.journal[codec.name, id]
        steps = [entry for entry in journal if entry[4] == "step"]
        times = [entry[3] for entry in steps]
        if times != sorted(times) or (times and times[-1] != at):
            yield f"I7: the times of {id} are {times}, then {at}"
        # A migration is a revision too: its base stands without a step.
        revs = sorted({entry[2] for entry in journal})
        if revs != list(range(rev - len(revs) + 1, rev + 1)):
            yield f"I4: {id} has rev {rev} and the steps {revs}"
        elif (folded := fold(codec, journal)) != doc:
            yield f"I4: the journal of {id} folds to {folded}, stored is {doc}"

    def _running(self, picture: Picture, workers: Iterable[Worker]) -> Iterable[str]:
        claims = {row[:3]: row[5] for row in picture.outbox}
        seen: set[tuple[str, str, int]] = set()
        for worker in workers:
            for key in worker.running:
                if claims.get(key) != worker.epoch:
                    yield f"I2: {key} runs, and its claim is {claims.get(key)}"
                if key in seen:
                    yield f"I3: {key} runs twice"
                seen.add(key)


def fold(codec: Codec, journal: list[JournalRow]) -> str | None:
    """The state that a journal leads to, from its newest base or its start."""
    bases = [number for number, row in enumerate(journal) if row[4] == "base"]
    state: Any = None
    if bases:
        base = journal[bases[-1]]
        rev = base[2]
        state = codec.decode_state(base[6])
        journal = [row for row in journal if row[2] > rev]
    for row in journal:
        message = codec.journaled(row[6])
        if state is None and type(message) is not codec.machine.start_type:
            return None
        result = step(codec.machine, state, message)
        if isinstance(result, Refused):
            return None
        state = result.state
    return None if state is None else text(state)


class Fault(Struct):
    """What goes wrong at an operation: `problem` is raised, after `instead` was done."""

    problem: Exception
    instead: AnyOperation | None = None


Faults: TypeAlias = Callable[[AnyOperation], "Fault | None"]


def tampered(program: Program[T], faults: Faults) -> Program[T]:
    """The same program over a store in which things go wrong."""
    try:
        operation = next(program)
        while True:
            fault = faults(operation)
            try:
                if fault is None:
                    answer = yield operation
                else:
                    if fault.instead is not None:
                        yield fault.instead
                    raise fault.problem
            except Exception as problem:
                operation = program.throw(problem)
            else:
                operation = program.send(answer)
    except StopIteration as end:
        return cast("T", end.value)


class Watched:
    """A store that checks the laws after each turn of a writer.

    `faults`, when it is set, decides what goes wrong; `seen` are all operations of
    the writer, in their order.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.broken: list[str] = []
        self.seen: list[AnyOperation] = []
        self.faults: Faults | None = None
        self._laws: Laws | None = None

    def watch(self, laws: Laws) -> None:
        self._laws = laws

    def _see(self, operation: AnyOperation) -> Fault | None:
        self.seen.append(operation)
        return None if self.faults is None else self.faults(operation)

    def register(self, machines: Iterable[AnyMachine]) -> None:
        self.store.register(machines)

    def run(self, program: Program[T]) -> T:
        seen = len(self.seen)
        result = self.store.run(tampered(program, self._see))
        if self._laws is not None and len(self.seen) > seen:
            self.broken.extend(self._laws.broken(self.store))
        return result

    def read(self, program: Program[T]) -> T:
        return self.store.read(program)

    def transaction(self) -> AbstractContextManager[Transaction]:
        return self.store.transaction()

    def changed(self, epoch: int) -> bool:
        return self.store.changed(epoch)

    def close(self) -> None:
        self.store.close()


_HERE = frozenset(globals())


def __getattr__(name: str) -> object:
    """Simulated runs are loaded with their first use."""
    if name not in __all__ or name in _HERE:
        raise AttributeError(f"module 'deedbox.testing' has no attribute {name!r}")
    value: object = getattr(import_module(".simulation", __package__), name)
    globals()[name] = value
    return value
