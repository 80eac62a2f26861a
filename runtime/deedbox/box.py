"""The box: a store with its machines, for anybody who sends, starts and asks.

Plain and blocking, safe to use from any thread, and in need of neither an event
loop nor handlers.  What it returns is committed; what it raises changed nothing.
Everything goes through the process's one writer.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice
from typing import Final, TypeVar, cast

from msgspec import Struct

from .batch import Migrating, Redriven, Tell
from .clock import Clock
from .errors import (
    MisplacedCall,
    SendError,
    StoreClosed,
    WrongType,
)
from .machine import Instant, Machine
from .machines import Machines
from .operations import (
    History,
    Page,
    Store,
    ask,
)
from .reading import instance, journaled, listed
from .step import AnyMachine
from .transaction import Transaction, given, is_within, within
from .values import Instance, Journaled, Listed, Migrated, Receipt, Rules
from .writer import Stop, Writer

S = TypeVar("S", bound=Struct)
B = TypeVar("B", bound=Struct)
M = TypeVar("M", bound=Struct)
O = TypeVar("O", bound=Struct)  # noqa: E741  the letter that `Machine` uses
C = TypeVar("C", bound=Struct)

CHUNK: Final = 512
WAITING: Final = 10_000
"""So many senders may wait in the queue; the next ones wait before it (R16)."""


LARGEST_PAGE: Final = 10_000

Spawn = Callable[[Callable[[], None]], Callable[[], None]]


def spawn_thread(body: Callable[[], None]) -> Callable[[], None]:
    """Run a body beside the caller; what is returned waits for its end."""
    thread = threading.Thread(target=body, name="deedbox writer", daemon=True)
    thread.start()
    return thread.join


class Box:
    """An open store.  Made by `deedbox.open`; a context manager that closes it."""

    def __init__(
        self,
        store: Store,
        machines: Iterable[AnyMachine],
        *,
        rules: Rules,
        clock: Clock,
        peers: bool,
        waiting: int = WAITING,
        spawn: Spawn = spawn_thread,
    ) -> None:
        self.machines = Machines(machines)
        self.waiting = waiting
        self.store = store
        self.rules = rules
        self.clock = clock
        store.register(codec.machine for codec in self.machines.codecs.values())
        self._writer = Writer(store, self.machines.codecs, rules, clock, peers=peers)
        self._spawn = spawn
        self._join: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self._gate = threading.BoundedSemaphore(waiting)
        self._served = False
        self._closed = False
        self._process = os.getpid()

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- sending

    def start(self, message: Struct, *, message_id: str | None = None) -> Receipt:
        """Begin an instance; its id is the key that the start message carries.

        On return it is committed, with everything it owes.  Starting what was started
        is answered as the spec says: `kept`, applied again, or `Rejected`.
        With a `message_id` (1 to 512 bytes) a repeated call gets the first answer.
        Raises `SendError`s (`Rejected`, `WrongType`, `InstanceParked`, …) and `StoreError`s.
        """
        future: Future[object] = Future()
        return self._sent(
            self.machines.start(message, message_id, future.set_result), future
        )

    def start_many(self, messages: Iterable[Struct]) -> list[Receipt | SendError]:
        """Begin many, in chunks of 512; each has an answer of its own, in their order.

        A chunk is committed before the next is taken from the iterable.  A `StoreError`
        ends it; what was committed before stays.
        """
        answers: list[Receipt | SendError] = []
        source = iter(messages)
        while chunk := list(islice(source, CHUNK)):
            with self._gate:
                for future in self.begun(chunk):
                    answer = future.result()
                    if isinstance(answer, Exception) and not isinstance(
                        answer, SendError
                    ):
                        raise answer
                    answers.append(cast("Receipt | SendError", answer))
        return answers

    def begun(self, chunk: Iterable[Struct]) -> list[Future[object]]:
        """Give the writer all these starts; each has its answer to come."""
        futures: list[Future[object]] = []
        for message in chunk:
            future: Future[object] = Future()
            futures.append(future)
            try:
                self._submit(self.machines.start(message, None, future.set_result))
            except SendError as refusal:
                future.set_result(refusal)
        return futures

    def redriven(self, machine: AnyMachine, id: str) -> Future[object]:
        """Ask the writer to let go of what is parked; the answer is to come."""
        future: Future[object] = Future()
        codec = self.machines.of(machine)
        self._submit(Redriven(codec, codec.checked_id(id), future.set_result))
        return future

    def send(
        self,
        machine: Machine[S, B, M, O, C],
        id: str,
        message: M,
        *,
        message_id: str | None = None,
    ) -> Receipt:
        """Send a message to an instance; on return it is committed.

        Raises `UnknownInstance`, `Rejected`, `WrongType`, `MessageIdReused`,
        `InstanceParked`, `NewerVersion`, `ReducerFailed`, or a `StoreError`; the
        instance is then as it was.
        """
        future: Future[object] = Future()
        return self._sent(
            self.machines.message(machine, id, message, message_id, future.set_result),
            future,
        )

    def redrive(self, machine: AnyMachine, id: str) -> int:
        """Let go of what is parked of an instance: the row, and commands it owes.

        Their deliveries are counted from zero again.  How many rows were parked.
        """
        with self._gate:
            answer = self.redriven(machine, id).result()
        if isinstance(answer, BaseException):
            raise answer
        return cast("int", answer)

    def migrate(self, machine: AnyMachine, *, page: int = 128) -> Migrated:
        """Bring all rows of older versions to this one, a page a transaction.

        Rows are also migrated when they are needed; this is for the rest of them.  A
        row that cannot be brought to this version is parked.  Running it again, or
        beside a worker, does no harm.
        """
        codec, whole = self.machines.of(machine), Migrated(0, 0, 0, "")
        _check_page(page)
        while True:
            future: Future[object] = Future()
            with self._gate:
                self._submit(Migrating(codec, whole.last, page, future.set_result))
                answer = future.result()
            if isinstance(answer, BaseException):
                raise answer
            found = cast("Migrated", answer)
            whole = Migrated(
                whole.rows + found.rows,
                whole.migrated + found.migrated,
                whole.parked + found.parked,
                found.last,
            )
            if found.rows < page:
                return whole

    def _sent(self, tell: Tell, future: Future[object]) -> Receipt:
        with self._gate:
            self._submit(tell)
            return given(future.result())

    def _submit(self, item: Tell | Redriven | Migrating) -> None:
        self.refuse_misplaced()
        self.writer().submit(item)

    def refuse_misplaced(self) -> None:
        """Raise when the box is closed, in a forked process, and in a transaction of it.

        There a call would wait for its own caller: in the block itself, in the tasks
        that it makes and in its `to_thread`.  A fork has no writer, and a connection
        to SQLite that two processes use damages the file.
        """
        if self._closed:
            raise StoreClosed
        if os.getpid() != self._process:
            raise MisplacedCall(
                f"This box was opened by the process {self._process}, of which this one"
                " is a fork; open one here."
            )
        if is_within(self):
            raise MisplacedCall(
                "Inside `box.transaction()` the box waits for you; use what it gave you:"
                " `tx.start`, `tx.send`, `tx.get`."
            )

    def writer(self) -> Writer:
        """The one writer, for a worker; its thread begins with the first use."""
        with self._lock:
            return self._begun()

    def _begun(self) -> Writer:
        if self._closed:
            raise StoreClosed
        if self._join is None:
            self._join = self._spawn(self._writer.serve)
        return self._writer

    def serve(self) -> Writer:
        """The writer, for a worker, of which there is one at a time."""
        with self._lock:
            if self._served:
                raise MisplacedCall("This box has a worker; one serves many machines.")
            writer = self._begun()
            self._served = True
            return writer

    def unserve(self) -> None:
        """The worker has stopped."""
        self._served = False

    # -- asking

    def get(self, machine: Machine[S, B, M, O, C], id: str) -> Instance[S] | None:
        """What is stored of an instance, or None; it reads what is committed.

        Raises `InstanceParked` or `NewerVersion` when the row cannot be read here.
        """
        self.refuse_misplaced()
        codec = self.machines.of(machine)
        return cast("Instance[S] | None", self.store.read(instance(codec, id)))

    def history(self, machine: AnyMachine, id: str) -> list[Journaled]:
        """The journal of an instance, from the oldest entry that is kept.

        An entry that cannot be read here, of a version that this one has no word for,
        has no value and says why.  Folding the reducer over the messages, from the
        newest base or from the start, gives the stored state.
        """
        self.refuse_misplaced()
        codec = self.machines.of(machine)
        rows = self.store.read(ask(History(codec.name, codec.checked_id(id))))
        return [journaled(codec, row) for row in rows]

    def list(
        self,
        machine: AnyMachine,
        *,
        phase: str | None = None,
        due_before: Instant | None = None,
        after: str = "",
        limit: int = 100,
    ) -> list[Listed]:
        """A page of 1 to 10,000 instances by id, those after `after`; parked ones too.

        `due_before`: only with a wake at that instant or earlier.
        """
        self.refuse_misplaced()
        codec = self.machines.of(machine)
        _check_page(limit)
        rows = self.store.read(ask(Page(codec.name, after, phase, due_before, limit)))
        return [listed(row) for row in rows]

    @property
    def counts(self) -> Counter[str]:
        """How each message and command ended in this process, since it began."""
        return Counter(self._writer.counts)

    # -- in a transaction of yours

    @contextmanager
    def transaction(self) -> Generator[Transaction]:
        """A write transaction: your own statements and ours, committed together.

        It commits at the end of the block and rolls back when the block raises.
        All other writers wait for it, so do not wait for them inside of it.  What it
        owes is taken up by a worker after it.  Raises `StoreFailed` when it cannot
        begin or commit.
        """
        self.refuse_misplaced()
        with within(self), self.store.transaction() as transaction:
            yield Transaction(self.machines, self.rules, transaction)
        self._writer.poke()

    def close(self) -> None:
        """Finish what was sent, end the session, close the files.

        What is called after it raises `StoreClosed`; closing again does nothing.
        A worker on this box must be stopped before, or `MisplacedCall` is raised.
        """
        with self._lock:
            if self._served:
                raise MisplacedCall("Stop the worker of this box before closing it.")
            closed, self._closed = self._closed, True
        if closed:
            return
        if self._join is not None:
            self._writer.submit(Stop(lambda _: None))
            self._writer.close()
            self._join()
        self.store.close()

    def abandon(self) -> None:
        """End as a process that is killed: what was sent is dropped, the session stays.

        The store is left to the caller; see `deedbox.testing.crash`.
        """
        with self._lock:
            self._closed, self._served = True, False
        self._writer.abandon()
        if self._join is not None:
            self._join()


def _check_page(rows: int) -> None:
    """A page has an end, and somebody who turns pages gets on (R16)."""
    if not 1 <= rows <= LARGEST_PAGE:
        raise WrongType(f"a page has 1 to {LARGEST_PAGE:,} rows, not {rows}")
