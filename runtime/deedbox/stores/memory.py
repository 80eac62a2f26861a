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
from typing import Any, Generic, TypeVar

from ..clock import Clock
from ..errors import MisplacedCall
from ..operations import (
    COMPANY,
    DIED,
    AnyOperation,
    Begin,
    Behind,
    Claim,
    Commit,
    Conflict,
    Enter,
    Everything,
    Fence,
    Gone,
    History,
    InboxRow,
    InstanceRow,
    Journal,
    JournalRow,
    Key,
    ListDue,
    Load,
    Look,
    Mark,
    Now,
    OutboxRow,
    Outlook,
    Owe,
    Owed,
    Owing,
    Page,
    Park,
    Postpone,
    Program,
    Quarantine,
    Reap,
    Redrive,
    Release,
    Remember,
    Remove,
    Rest,
    Rollback,
    Save,
    Seen,
    Sessions,
    Settle,
    Take,
    Trim,
    Withdraw,
)
from ..step import AnyMachine
from .driver import drive

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


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


class MemoryStore:
    """All tables of one store.  One writer at a time; readers see what is committed."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._lock = threading.RLock()
        self._undo: list[Callable[[], object]] = []
        self.instances: dict[str, Table[str, InstanceRow]] = {}
        self.outbox: Table[Key, OutboxRow] = Table(self._undo)
        self.inbox: Table[tuple[str, str, str], InboxRow] = Table(self._undo)
        self.journal: Table[tuple[str, str, int, str], JournalRow] = Table(self._undo)
        self.sessions: Table[int, Session] = Table(self._undo)
        self.gone: Table[str, int] = Table(self._undo)
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
            ListDue: self._list_due,
            Load: self._load,
            Take: self._take,
            Seen: self._seen,
            Owing: self._owing,
            Behind: self._behind,
            Remove: self._remove,
            Gone: lambda gone: self.gone.rows.get(gone.machine, -1),
            Save: self._save,
            Park: self._park,
            Withdraw: self._withdraw,
            Owe: self._owe,
            Journal: self._write_journal,
            Trim: self._trim,
            Remember: self._remember,
            Claim: self._claim,
            Quarantine: self._quarantine,
            Mark: self._mark,
            Postpone: self._postpone,
            Redrive: self._redrive,
            Reap: self._reap,
            Release: self._release,
            Look: self._look,
            Page: self._page,
            Owed: self._owed,
            History: self._history,
            Everything: lambda _: sorted(self.outbox.rows.values()),
            Sessions: lambda _: set(self.sessions.rows),
        }

    # -- what the shell calls

    def register(self, machines: Iterable[AnyMachine]) -> None:
        for machine in machines:
            self.instances.setdefault(machine.name, Table(self._undo))

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
        self._undo.clear()
        self._author = None

    def _commit(self, _: object) -> None:
        self._commits[self._author] += 1
        self._undo.clear()

    def _rollback(self, _: object) -> None:
        while self._undo:
            self._undo.pop()()

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

        self._undo.append(undo)
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
        return self._free(dead, reap.now, reap.deliveries)

    def _free(self, epochs: set[int], now: int, deliveries: int | None) -> int:
        """Give back what these held; after a death, what was delivered too often parks."""
        freed = [row for row in self.outbox.rows.values() if row[5] in epochs]
        for row in freed:
            tries, parked, error = row[7], row[9], None
            if deliveries is None:
                tries = max(tries - 1, 0)
            else:
                error = DIED
                if _is_suspect(row, tries - 1) and tries >= deliveries and not row[8]:
                    parked = f"no answer in {tries} deliveries"
            self._put(
                row, claim=None, next_at=now, tries=tries, parked=parked, error=error
            )
        return len(freed)

    def _release(self, release: Release) -> int:
        self.sessions.drop(release.epoch)
        return self._free({release.epoch}, release.now, None)

    # -- instances

    def _list_due(self, due: ListDue) -> list[InstanceRow]:
        rows = [
            (row[6], row[0], row)
            for row in self.instances[due.machine].rows.values()
            if row[6] is not None
            and row[6] <= due.now
            and row[7] is None
            and row[5] <= due.version
        ]
        return [row for _, _, row in sorted(rows)[: due.limit]]

    def _load(self, load: Load) -> list[InstanceRow]:
        rows = self.instances[load.machine].rows
        return [rows[id] for id in load.ids if id in rows]

    def _save(self, save: Save) -> None:
        table = self.instances[save.machine]
        for row in save.inserts:
            if row[0] in table.rows:
                raise Conflict
            table.put(row[0], row)
        for row, stored_rev in save.updates:
            if row[0] not in table.rows or table.rows[row[0]][1] != stored_rev:
                raise Conflict
            table.put(row[0], row)

    def _park(self, park: Park) -> None:
        table = self.instances[park.machine]
        for id, reason in park.instances:
            row = table.rows[id]
            table.put(id, (*row[:7], reason, row[8]))

    def _remove(self, remove: Remove) -> None:
        table = self.instances[remove.machine]
        for id, rev in remove.instances:
            if id not in table.rows or table.rows[id][1] != rev:
                raise Conflict
            table.drop(id)
            name = remove.machine, id
            for step in [key for key in self.journal.rows if key[:2] == name]:
                self.journal.drop(step)
            for message in [key for key in self.inbox.rows if key[:2] == name]:
                self.inbox.drop(message)
        former = self.gone.rows.get(remove.machine, -1)
        self.gone.put(remove.machine, max(former, remove.until))

    def _page(self, page: Page) -> list[InstanceRow]:
        rows = self.instances[page.machine].rows
        return [
            rows[id]
            for id in sorted(rows)
            if id > page.after
            and (page.phase is None or rows[id][2] == page.phase)
            and (page.due_before is None or _due_by(rows[id], page.due_before))
        ][: page.limit]

    # -- outbox

    def _put(
        self,
        row: OutboxRow,
        *,
        claim: int | None,
        next_at: int | None,
        tries: int,
        parked: str | None,
        error: str | None = None,
    ) -> OutboxRow:
        new = (
            *row[:5],
            claim,
            next_at,
            tries,
            row[8],
            parked,
            error or row[10],
            *row[11:],
        )
        self.outbox.put(row[:3], new)
        return new

    def _take(self, take: Take) -> set[Key]:
        rows = self.outbox.rows
        taken = {key for key in take.keys if key in rows and rows[key][5] == take.epoch}
        for key in taken:
            self.outbox.drop(key)
        return taken

    def _owing(self, owing: Owing) -> set[str]:
        ids = set(owing.ids)
        return {
            id
            for machine, id, _ in self.outbox.rows
            if machine == owing.machine and id in ids
        }

    def _behind(self, behind: Behind) -> set[tuple[str, str, str]]:
        there = {(row[0], row[1], row[3]) for row in self.outbox.rows.values()}
        return there & set(behind.commands)

    def _withdraw(self, withdraw: Withdraw) -> None:
        for key in withdraw.keys:
            self.outbox.drop(key)

    def _owe(self, owe: Owe) -> None:
        for row in owe.rows:
            if row[:3] in self.outbox.rows:
                raise Conflict
            self.outbox.put(row[:3], row)

    def _waiting(self) -> list[OutboxRow]:
        """Rows that nobody holds, and that may be handed out when their time comes."""
        oldest: dict[tuple[str, str, str], int] = {}
        for machine, id, ticket, command, *_ in self.outbox.rows.values():
            name = machine, id, command
            oldest[name] = min(oldest.get(name, ticket), ticket)
        return [
            row
            for row in self.outbox.rows.values()
            if row[5] is None
            and row[9] is None
            and not row[8]
            and oldest[row[0], row[1], row[3]] == row[2]
        ]

    def _due(
        self, wants: Iterable[tuple[str, str, int]], now: int, *, suspects: bool
    ) -> list[OutboxRow]:
        """What waits of these, the longest due first."""
        names = {(machine, command): version for machine, command, version in wants}
        due = [
            (row[6], row[:3], row)
            for row in self._waiting()
            if row[11] <= names.get((row[0], row[3]), -1)
            and row[6] is not None
            and row[6] <= now
            and _is_suspect(row, row[7]) == suspects
        ]
        return [row for _, _, row in sorted(due)]

    def _claimed(self, row: OutboxRow, epoch: int) -> OutboxRow:
        return self._put(row, claim=epoch, next_at=None, tries=row[7] + 1, parked=None)

    def _claim(self, claim: Claim) -> list[OutboxRow]:
        return [
            self._claimed(row, claim.epoch)
            for machine, command, version, limit in claim.wants
            for row in self._due(
                [(machine, command, version)], claim.now, suspects=False
            )[:limit]
        ]

    def _quarantine(self, claim: Quarantine) -> list[OutboxRow]:
        suspects = self._due(claim.wants, claim.now, suspects=True)
        return [self._claimed(row, claim.epoch) for row in suspects[:1]]

    def _mark(self, mark: Mark) -> set[Key]:
        marked: set[Key] = set()
        for key in mark.keys:
            row = self.outbox.rows.get(key)
            if row is not None and row[5] == mark.epoch:
                self.outbox.put(key, (*row[:8], 1, *row[9:]))
                marked.add(key)
        return marked

    def _postpone(self, postpone: Postpone) -> None:
        for key, error, next_at, parked in postpone.rows:
            row = self.outbox.rows.get(key)
            if row is not None and row[5] == postpone.epoch:
                self._put(
                    row,
                    claim=None,
                    next_at=next_at,
                    tries=row[7],
                    parked=parked,
                    error=error,
                )

    def _redrive(self, redrive: Redrive) -> int:
        name, count = (redrive.machine, redrive.id), 0
        table = self.instances[redrive.machine]
        row = table.rows.get(redrive.id)
        if row is not None and row[7] is not None:
            table.put(redrive.id, (*row[:7], None, row[8]))
            count += 1
        for owed in [row for key, row in self.outbox.rows.items() if key[:2] == name]:
            if owed[9] is not None:
                self._put(owed, claim=None, next_at=redrive.now, tries=0, parked=None)
                count += 1
        return count

    def _owed(self, owed: Owed) -> list[OutboxRow]:
        name = owed.machine, owed.id
        return sorted(row for key, row in self.outbox.rows.items() if key[:2] == name)

    # -- inbox and journal

    def _seen(self, seen: Seen) -> list[InboxRow]:
        rows = self.inbox.rows
        return [rows[message] for message in seen.messages if message in rows]

    def _remember(self, remember: Remember) -> None:
        for row in remember.rows:
            if row[:3] in self.inbox.rows:
                raise Conflict
            self.inbox.put(row[:3], row)

    def _write_journal(self, journal: Journal) -> None:
        for row in journal.rows:
            key = (row[0], row[1], row[2], row[4])
            if key in self.journal.rows:
                raise Conflict
            self.journal.put(key, row)

    def _trim(self, trim: Trim) -> None:
        for machine, id, rev, at in trim.before:
            for step in list(self.journal.rows):
                if step[:2] == (machine, id) and step[2] < rev:
                    self.journal.drop(step)
            for message, row in list(self.inbox.rows.items()):
                if message[:2] == (machine, id) and row[4] < at:
                    self.inbox.drop(message)

    def _history(self, history: History) -> list[JournalRow]:
        name = history.machine, history.id
        return [
            self.journal.rows[key]
            for key in sorted(self.journal.rows, key=lambda key: (key[2], key[3]))
            if key[:2] == name
        ]

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
            for row in self._waiting()
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


def _is_suspect(row: OutboxRow, deliveries: int) -> bool:
    return row[10] == DIED and deliveries >= COMPANY


def _due_by(row: InstanceRow, instant: int) -> bool:
    return row[6] is not None and row[6] <= instant
