"""The floor: what a saga costs when nothing but the reducer, asyncio and SQLite is there.

A writer thread takes all that waits, reduces it over states that it keeps in memory,
writes the instance, its journal and what it owes in one commit, and hands the commands
to handlers on the loop.  It has no sessions, claims, deadlines, checks of what comes in,
remembered ids, redeliveries or recovery: it is how fast the interpreter could be, not
something to use.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, cast

from deedbox import Instant, Refused
from msgspec import Struct
from msgspec.json import Encoder
from msgspec.structs import replace
from orders import order

TABLES: Final = """
create table instance (id text primary key, rev integer, doc text) without rowid;
create table outbox (
  id text, ticket integer, key text, doc text, primary key (id, ticket)
) without rowid;
create table journal (
  id text, rev integer, doc text, primary key (id, rev)
) without rowid;
"""
SAVE: Final = """
insert into instance values (?, ?, ?)
on conflict (id) do update set rev = excluded.rev, doc = excluded.doc"""

_encode = Encoder().encode


def _document(value: Struct) -> str:
    return _encode(value).decode()


class Floor:
    """One file, one writer, the handlers of one shop."""

    def __init__(self, path: Path, shop: object) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.executescript(
            "pragma journal_mode = wal; pragma synchronous = full;"
            "pragma wal_autocheckpoint = 4000;" + TABLES
        )
        self._shop = shop
        self._names = {each.struct: each.name for each in order.machine.commands}
        self._loop = asyncio.get_running_loop()
        self._queue: deque[tuple[str, Struct]] = deque()
        self._waking = threading.Event()
        self._open = True
        self._states: dict[str, tuple[order.State, int]] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    async def saga(self, start: order.Start) -> None:
        """Until it has ended."""
        future = self._waiting[start.order] = self._loop.create_future()
        self._submit(start.order, start)
        await future

    def close(self) -> None:
        self._open = False
        self._waking.set()
        self._thread.join()
        self._db.close()

    def _submit(self, id: str, message: Struct) -> None:
        self._queue.append((id, message))
        self._waking.set()

    def _write(self) -> None:
        while self._open:
            self._waking.wait()
            self._waking.clear()
            items = [self._queue.popleft() for _ in range(min(len(self._queue), 512))]
            if self._queue:
                self._waking.set()
            if items:
                started, ended = self._commit(items)
                self._loop.call_soon_threadsafe(self._hand_out, started, ended)

    def _commit(
        self, items: list[tuple[str, Struct]]
    ) -> tuple[list[tuple[str, Struct]], list[str]]:
        at = Instant(time.time_ns() // 1_000_000)
        saves: dict[str, tuple[str, int, str]] = {}
        owes: list[tuple[str, int, str, str]] = []
        takes: list[tuple[str, int]] = []
        journal: list[tuple[str, int, str]] = []
        started: list[tuple[str, Struct]] = []
        ended: list[str] = []
        for id, message in items:
            stamped: Any = replace(message, at=at)
            known = self._states.get(id)
            if known is None:
                state, owed = order.start(stamped)
                rev = 1
            else:
                result = order.reduce(known[0], stamped)
                assert not isinstance(result, Refused)
                state, owed = result
                rev = known[1] + 1
                takes.append((id, stamped.ticket))
            self._states[id] = state, rev
            saves[id] = id, rev, _document(state)
            journal.append((id, rev, _document(stamped)))
            for command in owed:
                key = command.idempotency_key
                owes.append((id, command.ticket, key, _document(command)))
                started.append((id, command))
            if type(state) in order.machine.finals:
                ended.append(id)
                del self._states[id]
        many = self._db.executemany
        self._db.execute("begin immediate")
        many("delete from outbox where id = ? and ticket = ?", takes)
        many(SAVE, saves.values())
        many("insert into outbox values (?, ?, ?, ?)", owes)
        many("insert into journal values (?, ?, ?)", journal)
        self._db.execute("commit")
        return started, ended

    def _hand_out(self, started: list[tuple[str, Struct]], ended: list[str]) -> None:
        for id, command in started:
            task = self._loop.create_task(self._handle(id, command))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        for id in ended:
            self._waiting.pop(id).set_result(None)

    async def _handle(self, id: str, command: Struct) -> None:
        name = self._names[cast("Any", type(command))]
        handler: Callable[[Struct], Awaitable[Struct]] = getattr(self._shop, name)
        answer = await handler(command)
        ticket: int = cast("Any", command).ticket
        self._submit(id, replace(answer, ticket=ticket))
