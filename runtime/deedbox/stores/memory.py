"""A store in memory: dictionaries, and an undo log for what is not committed.

For tests and for trying things out: it has sessions, claims and fences like the
others, and is gone with its process.  It is also the shortest reading of what each
operation means; the other stores are held against it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeVar

from ..clock import Clock
from ..errors import MisplacedCall
from ..operations import (
    AnyOperation,
    Begin,
    Commit,
    Enter,
    Fence,
    Look,
    Now,
    Outlook,
    Program,
    Reap,
    Release,
    Rest,
    Rollback,
    Sessions,
    Settle,
)
from ..step import AnyMachine
from .driver import drive
from .memory_instances import Instances
from .memory_outbox import Outbox
from .memory_rows import Session, Tables

T = TypeVar("T")


class MemoryStore:
    """All tables of one store.  One writer at a time; readers see what is committed."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._lock = threading.RLock()
        self.tables = tables = Tables()
        self.instances, self.journal = tables.instances, tables.journal
        self.outbox, self.inbox = tables.outbox, tables.inbox
        self.sessions = tables.sessions
        self._outbox = Outbox(tables)
        self.epochs = 0
        self._author: int | None = None
        self._commits: Counter[int | None] = Counter()
        self._looked: dict[int, int] = {}
        self._perform: dict[type[AnyOperation], Callable[[Any], object]] = {
            Begin: self._begin,
            Commit: self._commit,
            Rollback: self._rollback,
            Now: lambda _: self.clock.wall(),
            Enter: self._enter,
            Fence: self._fence,
            Rest: self._rest,
            Settle: self._settle,
            Reap: self._reap,
            Release: self._release,
            Look: self._look,
            Sessions: lambda _: set(self.sessions.rows),
            **Instances(tables).table(),
            **self._outbox.table(),
        }

    # -- what the shell calls

    def register(self, machines: Iterable[AnyMachine]) -> None:
        for machine in machines:
            self.tables.add(machine.name)

    def perform(self, operation: AnyOperation) -> object:
        return self._perform[type(operation)](operation)

    def run(self, program: Program[T]) -> T:
        with self._lock:
            return drive(program, self.perform)

    def read(self, program: Program[T]) -> T:
        return self.run(program)

    @contextmanager
    def transaction(self) -> Generator[MemoryTransaction]:
        with self._lock:
            self._begin(None)
            try:
                yield MemoryTransaction(self)
            except BaseException:
                self._rollback(None)
                raise
            self._commit(None)

    def changed(self, epoch: int) -> bool:
        """Whether anybody else committed since this session last asked."""
        others = self._commits.total() - self._commits[epoch]
        moved = others != self._looked.get(epoch, 0)
        self._looked[epoch] = others
        return moved

    def close(self) -> None:
        """Nothing to give back: the rows live as long as the object."""

    # -- transaction and sessions

    def _begin(self, _: object) -> None:
        self.tables.undo.clear()
        self._author = None

    def _commit(self, _: object) -> None:
        self._commits[self._author] += 1
        self.tables.undo.clear()

    def _rollback(self, _: object) -> None:
        while self.tables.undo:
            self.tables.undo.pop()()

    def _enter(self, _: Enter) -> int:
        self.epochs += 1
        self._author = self.epochs
        self.sessions.put(self.epochs, Session())
        return self.epochs

    def _fence(self, fence: Fence) -> int | None:
        session = self.sessions.rows.get(fence.epoch)
        if session is None or session.batch != fence.batch:
            return None
        former = session.batch, session.lease_until

        def undo() -> None:
            session.batch, session.lease_until = former

        self.tables.undo.append(undo)
        self._author = fence.epoch
        session.batch += 1
        session.lease_until = self.clock.boot() + fence.lease
        return self.clock.wall()

    def _rest(self, rest: Rest) -> None:
        """After a fence, which has noted what there is to undo."""
        self.sessions.rows[rest.epoch].lease_until = None

    def _settle(self, settle: Settle) -> int | None:
        session = self.sessions.rows.get(settle.epoch)
        return None if session is None else session.batch

    def _reap(self, reap: Reap) -> int:
        boot = self.clock.boot()
        dead = {
            epoch
            for epoch, session in self.sessions.rows.items()
            if epoch != reap.epoch and (_is_over(session, boot) or not session.alive)
        }
        for epoch in dead:
            self.sessions.drop(epoch)
        return self._outbox.free(dead, reap.now, reap.deliveries)

    def _release(self, release: Release) -> int:
        self.sessions.drop(release.epoch)
        return self._outbox.free({release.epoch}, release.now, None)

    # -- looking ahead

    def _look(self, look: Look) -> Outlook:
        wakes: dict[str, int] = {}
        for machine, version in look.machines:
            soonest = [
                row[6]
                for row in self.instances[machine].rows.values()
                if row[6] is not None and row[7] is None and row[5] <= version
            ]
            if soonest:
                wakes[machine] = min(soonest)
        known = dict(look.machines)
        later = [
            row[6]
            for row in self._outbox.waiting()
            if row[6] is not None
            and row[6] > look.after
            and row[11] <= known.get(row[0], -1)
        ]
        leases = [
            session.lease_until
            for epoch, session in self.sessions.rows.items()
            if epoch != look.epoch and session.lease_until is not None
        ]
        ends = min(leases, default=None)
        return Outlook(
            wakes,
            min(later, default=None),
            None if ends is None else look.now + ends - self.clock.boot(),
        )


class MemoryTransaction:
    """A transaction of the caller's on a store that has no connection."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    @property
    def connection(self) -> Any:
        raise MisplacedCall("A store in memory has no connection.")

    def run(self, program: Program[T]) -> T:
        return drive(program, self._store.perform)


def _is_over(session: Session, boot: int) -> bool:
    return session.lease_until is not None and session.lease_until <= boot
