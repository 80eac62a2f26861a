"""The stores that a run can use: one in memory, or a file that each process opens.

A backing gives every process a store to reach it by, and shows all its rows between
two transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from ..clock import Clock
from ..operations import AnyOperation, InstanceRow, JournalRow, Key, OutboxRow, Store
from ..step import AnyMachine
from ..stores.memory import MemoryStore
from ..testing import picture


class Performer(Store, Protocol):
    """A store that performs one operation at a time, within a transaction or not."""

    def perform(self, operation: AnyOperation) -> object: ...


class Rows(Struct):
    """What is committed: instances and outbox by key, and who has a session.

    `step` finds the journal's step of (machine, id, rev).
    """

    instances: dict[tuple[str, str], InstanceRow]
    outbox: dict[Key, OutboxRow]
    step: Callable[[str, str, int], JournalRow | None]
    sessions: set[int]


def _nothing() -> Rows:
    steps: dict[tuple[str, str, int], JournalRow] = {}
    return Rows({}, {}, lambda machine, id, rev: steps.get((machine, id, rev)), set())


class Backing(Protocol):
    def open(self, clock: Clock, machines: Sequence[AnyMachine]) -> Performer: ...
    def rows(self) -> Rows: ...
    def died(self, store: Performer, epochs: set[int]) -> None: ...
    def close(self) -> None: ...


class InMemory:
    """One store for all; the death of a process frees what a kernel would free."""

    def __init__(self) -> None:
        self._store: MemoryStore | None = None

    def open(self, clock: Clock, machines: Sequence[AnyMachine]) -> Performer:
        if self._store is None:
            self._store = MemoryStore(clock)
        self._store.register(machines)
        return self._store

    def rows(self) -> Rows:
        store = self._store
        if store is None:
            return _nothing()
        journal = store.journal.rows
        return Rows(
            {
                (machine, id): row
                for machine, table in store.instances.items()
                for id, row in table.rows.items()
            },
            dict(store.outbox.rows),
            lambda machine, id, rev: journal.get((machine, id, rev, "step")),
            set(store.sessions.rows),
        )

    def died(self, store: Performer, epochs: set[int]) -> None:
        del store
        if self._store is not None:
            for epoch, session in self._store.sessions.rows.items():
                if epoch in epochs:
                    session.alive = False

    def close(self) -> None:
        """The rows are gone with the object."""


class OnSqlite:
    """A file; each process has connections and kernel locks of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._machines: Sequence[AnyMachine] = ()
        self._looker: Performer | None = None

    def open(self, clock: Clock, machines: Sequence[AnyMachine]) -> Performer:
        from ..stores.sqlite import SqliteStore

        if self._looker is None:
            self._machines = machines
            self._looker = looker = SqliteStore(self._path, clock, synchronous="NORMAL")
            looker.register(machines)
        store = SqliteStore(self._path, clock, synchronous="NORMAL")
        store.register(machines)
        return store

    def rows(self) -> Rows:
        if self._looker is None:
            return _nothing()
        seen = picture(self._looker, self._machines)
        steps = {
            (*name, row[2]): row
            for name, rows in seen.journal.items()
            for row in rows
            if row[4] == "step"
        }
        return Rows(
            {
                (machine, row[0]): row
                for machine, rows in seen.instances.items()
                for row in rows
            },
            {row[:3]: row for row in seen.outbox},
            lambda machine, id, rev: steps.get((machine, id, rev)),
            seen.sessions,
        )

    def died(self, store: Performer, epochs: set[int]) -> None:
        del epochs
        store.close()

    def close(self) -> None:
        if self._looker is not None:
            self._looker.close()
