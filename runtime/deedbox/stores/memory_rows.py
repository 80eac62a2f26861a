"""The tables of a store in memory: dictionaries that can take back what was done to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from ..operations import InboxRow, InstanceRow, JournalRow, Key, OutboxRow

K = TypeVar("K")
V = TypeVar("V")


class Table(Generic[K, V]):
    """A dictionary that can take back what was done to it."""

    def __init__(self, undo: list[Callable[[], object]]) -> None:
        self.rows: dict[K, V] = {}
        self._undo = undo

    def put(self, key: K, row: V) -> None:
        rows = self.rows
        if key in rows:
            former = rows[key]
            self._undo.append(lambda: rows.__setitem__(key, former))
        else:
            self._undo.append(lambda: rows.pop(key))
        rows[key] = row

    def drop(self, key: K) -> bool:
        rows = self.rows
        if key not in rows:
            return False
        former = rows.pop(key)
        self._undo.append(lambda: rows.__setitem__(key, former))
        return True


class Session:
    """A session's row; `alive` is what a kernel lock is to a file."""

    def __init__(self) -> None:
        self.batch = 0
        self.lease_until: int | None = None
        self.alive = True


class Tables:
    """All tables of one store, and what undoes the transaction that is open."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], object]] = []
        self.instances: dict[str, Table[str, InstanceRow]] = {}
        self.outbox: Table[Key, OutboxRow] = Table(self.undo)
        self.inbox: Table[tuple[str, str, str], InboxRow] = Table(self.undo)
        self.journal: Table[tuple[str, str, int, str], JournalRow] = Table(self.undo)
        self.sessions: Table[int, Session] = Table(self.undo)
        self.gone: Table[str, int] = Table(self.undo)

    def add(self, machine: str) -> None:
        self.instances.setdefault(machine, Table(self.undo))
