"""The store on SQLite: its connections, its write lock, its checkpoints.

Write-ahead log, `synchronous=FULL`, one writing connection.  Every write transaction
begins with `begin immediate` behind the turnstile, never with a read that would have
to be upgraded (SQLite answers that with "locked" at once, whatever the timeout).
Checkpoints are explicit and passive, made while the turnstile is held.  Leases are
kept in the boot clock of the host, so that a step of the wall clock kills nobody.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from ..clock import Clock
from ..errors import StoreClosed, StoreFailed, StoreRefused
from ..machine import SqliteTable
from ..operations import (
    AnyOperation,
    Begin,
    Commit,
    CommitUnknown,
    Program,
    Rollback,
    Unstorable,
)
from ..step import AnyMachine
from .driver import drive
from .sqlite_file import SCHEMA, Locks, check_file, file_at
from .sqlite_sql import (
    MACHINE_VERSION,
    NEW_MACHINE_VERSION,
    SCHEMA_NUMBER,
    SHARED,
)
from .sqlite_statements import Statements

T = TypeVar("T")

CREATE_VIEW: Final = "create view if not exists "
VIEW: Final = "select sql from sqlite_master where type = 'view' and name = ?"
ROW_FAULTS: Final = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    UnicodeError,
    OverflowError,
)
"""What SQLite, or its module, says of a value; the rest it says of itself."""

LOG_PAGES: Final = 4_000
"""So many pages may the write-ahead log have before a checkpoint is tried."""


class SqliteStore:
    """One file, one writing connection, one reading one."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        *,
        adopt: bool = False,
        network: bool = False,
        synchronous: str = "FULL",
    ) -> None:
        check_file(path, adopt=adopt, network=network)
        self.path = path = path.absolute()
        self.clock = clock
        self._synchronous = synchronous
        self._tables: dict[str, SqliteTable] = {}
        self._turn = threading.Lock()
        self._reading = threading.Lock()
        self._changes_to_checkpoint = 1_000
        self._checkpointed_at = 0
        self._data_version = 0
        self._holding = False
        self._closed = False
        self._guest: sqlite3.Connection | None = None
        try:
            self._locks = Locks(path)
            self._writer = self._connect()
            with self._exclusive(self._writer) as writer:
                for statement in SHARED:
                    writer.execute(statement)
                writer.execute(SCHEMA_NUMBER, (SCHEMA,))
            self._reader = self._connect()
            self._reader.execute("pragma query_only = on")
        except (sqlite3.Error, OSError) as problem:
            raise StoreRefused(f"{path}: {problem}") from problem
        self._file = file_at(path)
        self._perform = self._operations(self._writer)
        self._read = self._operations(self._reader)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=30.0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        for pragma in (
            "journal_mode = wal",
            f"synchronous = {self._synchronous}",
            "wal_autocheckpoint = 0",
            "mmap_size = 0",
            "trusted_schema = off",
        ):
            connection.execute(f"pragma {pragma}")
        connection.text_factory = _text
        return connection

    # -- what the shell calls

    def register(self, machines: Iterable[AnyMachine]) -> None:
        """Make the tables of these machines where they are not there yet."""
        for machine in machines:
            self._tables[machine.name] = machine.sqlite
            try:
                with self._exclusive(self._writer) as writer:
                    for statement in _tables_of(writer, machine):
                        writer.execute(statement)
            except sqlite3.Error as problem:
                raise StoreRefused(
                    f"{self.path}: {machine.name}: {problem}"
                ) from problem

    def run(self, program: Program[T]) -> T:
        try:
            return drive(program, self.perform)
        finally:
            self._rollback(None)

    def read(self, program: Program[T]) -> T:
        """Run a program that only reads, in one snapshot."""
        with self._reading:
            self._refuse_closed()
            self._say(self._reader, "begin")
            try:
                return drive(program, lambda op: _mapped(self._read, op))
            finally:
                self._reader.execute("rollback")

    @contextmanager
    def transaction(self) -> Generator[SqliteTransaction]:
        """What the caller's own statements raise is the caller's, and rolls back."""
        with self._turn:
            self._refuse_closed()
            if self._guest is None:
                self._guest = self._connect()
            guest = self._guest
            self._locks.enter()
            try:
                self._refuse_lost_file()
                self._say(guest, "begin immediate")
                yield SqliteTransaction(guest, self._operations(guest))
                self._say(guest, "commit")
            finally:
                if guest.in_transaction:
                    guest.execute("rollback")
                self._locks.leave()

    def _say(self, connection: sqlite3.Connection, statement: str) -> None:
        try:
            connection.execute(statement)
        except sqlite3.Error as problem:
            raise StoreFailed(f"{self.path}: {statement}: {problem}") from problem

    def changed(self, epoch: int) -> bool:  # noqa: ARG002  a connection knows itself
        """Whether another connection committed since this was last asked."""
        (now,) = self._writer.execute("pragma data_version").fetchone()
        moved = bool(now != self._data_version)
        self._data_version = now
        return moved

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreClosed

    def close(self) -> None:
        with self._turn, self._reading:
            if self._closed:
                return
            self._closed = True
            for connection in (self._reader, self._guest, self._writer):
                if connection is not None:
                    connection.close()
            self._locks.close()

    # -- the write lock

    def perform(self, operation: AnyOperation) -> object:
        """One operation, within the transaction that was begun, or by itself."""
        return _mapped(self._perform, operation)

    def _begin(self, _: object) -> None:
        self._turn.acquire()
        self._holding = True
        try:
            self._locks.enter()
            self._refuse_lost_file()
            self._writer.execute("begin immediate")
        except BaseException:
            self._step_aside()
            raise

    def _refuse_lost_file(self) -> None:
        """What is written into a file without a name is gone with the process."""
        if file_at(self.path) != self._file:
            raise StoreFailed(
                f"{self.path}: the file was deleted or replaced while it was open;"
                " put it back, or end this process and open it anew"
            )

    def _step_aside(self) -> None:
        self._holding = False
        self._locks.leave()
        self._turn.release()

    def _commit(self, _: object) -> None:
        try:
            self._writer.execute("commit")
        except sqlite3.Error as problem:
            if self._writer.in_transaction:
                raise
            self._step_aside()
            raise CommitUnknown(str(problem)) from problem
        self._checkpoint()
        self._step_aside()

    def _rollback(self, _: object) -> None:
        """Also when SQLite has rolled back by itself, as it does on a full disk."""
        if self._holding:
            try:
                if self._writer.in_transaction:
                    self._writer.execute("rollback")
            finally:
                self._step_aside()

    def _checkpoint(self) -> None:
        """When the log has grown by about `LOG_PAGES`, judged by rows a page before."""
        changes = self._writer.total_changes - self._checkpointed_at
        if changes < self._changes_to_checkpoint:
            return
        try:
            row = self._writer.execute("pragma wal_checkpoint(passive)").fetchone()
        except sqlite3.Error:
            return  # it is tried again after the next commit
        pages = max(int(row[1]), 1)
        self._checkpointed_at = self._writer.total_changes
        self._changes_to_checkpoint = max(256, changes * LOG_PAGES // pages)

    @contextmanager
    def _exclusive(
        self, connection: sqlite3.Connection
    ) -> Generator[sqlite3.Connection]:
        self._locks.enter()
        try:
            connection.execute("begin immediate")
            yield connection
            connection.execute("commit")
        finally:
            if connection.in_transaction:
                connection.execute("rollback")
            self._locks.leave()

    # -- the operations, on one connection

    def _operations(
        self, connection: sqlite3.Connection
    ) -> dict[type[AnyOperation], Callable[[Any], object]]:
        return {
            Begin: self._begin,
            Commit: self._commit,
            Rollback: self._rollback,
            **Statements(connection, self._tables, self._locks, self.clock).table(),
        }


class SqliteTransaction:
    """A write transaction of the caller's."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        perform: dict[type[AnyOperation], Callable[[Any], object]],
    ) -> None:
        self._connection = connection
        self._perform = perform

    @property
    def connection(self) -> sqlite3.Connection:
        return self._connection

    def run(self, program: Program[T]) -> T:
        return drive(program, lambda operation: _mapped(self._perform, operation))


def _text(stored: bytes) -> str:
    """A text of which some is no UTF-8 is for the protocol to park; others go on (R11)."""
    return stored.decode(errors="surrogateescape")


def _tables_of(writer: sqlite3.Connection, machine: AnyMachine) -> Iterable[str]:
    """What makes the tables of a machine, or those of an older version anew.

    A table names its phases and a view its fields, so both follow the newest version
    that was ever opened; those of a newer one also take what an older one writes.
    A view holds no rows: one that says anything else now is made anew.
    """
    name = f"version {machine.name}"
    known = writer.execute(MACHINE_VERSION, (name,)).fetchone()
    if known is None or known[0] <= machine.version:
        yield from _outdated(writer, machine.sqlite.create)
    yield from machine.sqlite.create
    if known is None or known[0] < machine.version:
        yield from machine.sqlite.rebuild
        writer.execute(NEW_MACHINE_VERSION, (name, machine.version))


def _outdated(writer: sqlite3.Connection, create: Iterable[str]) -> Iterable[str]:
    """Drops each view that is there and was made by another statement than its own."""
    for statement in create:
        if statement.startswith(CREATE_VIEW):
            said = statement.removeprefix(CREATE_VIEW)
            view = said.split('"')[1]
            stored = writer.execute(VIEW, (view,)).fetchone()
            if stored is not None and stored[0] != f"CREATE VIEW {said}":
                yield f'drop view "{view}"'


def _mapped(
    perform: dict[type[AnyOperation], Callable[[Any], object]], operation: AnyOperation
) -> object:
    """Perform an operation; what SQLite raises becomes what the protocol knows."""
    try:
        return perform[type(operation)](operation)
    except ROW_FAULTS as problem:
        raise Unstorable(f"{type(operation).__name__}: {problem}") from problem
    except sqlite3.Error as problem:
        raise StoreFailed(f"{type(operation).__name__}: {problem}") from problem
