"""What each operation says to SQLite.

The statements on a machine's own table come with the machine.  Reads of many rows
take a JSON array; writes of many rows are one prepared statement over all of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import json

from ..clock import Clock
from ..machine import SqliteTable
from ..operations import (
    AnyOperation,
    Behind,
    Claim,
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
    Quarantine,
    Reap,
    Redrive,
    Release,
    Remember,
    Remove,
    Rest,
    Save,
    Seen,
    Sessions,
    Settle,
    Still,
    Take,
    Trim,
    Withdraw,
)
from .sqlite_file import Locks
from .sqlite_sql import (
    BEHIND,
    CLAIM,
    DEAD,
    ENTER,
    FENCE,
    FORGET_INBOX,
    FORGET_JOURNAL,
    FREE,
    GONE,
    HISTORY,
    JOURNAL,
    MARK,
    NEW_EPOCH,
    NEXT,
    NOW_GONE,
    OWE,
    OWED,
    OWING,
    POSTPONE,
    QUARANTINE,
    REDRIVE,
    RELEASE,
    REMEMBER,
    REST,
    SEEN,
    STILL,
    TAKE,
    TRIM_INBOX,
    TRIM_JOURNAL,
    WITHDRAW,
)


def _array(values: object) -> str:
    return json.encode(values).decode()


class Statements:
    """What each operation says to SQLite."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        tables: dict[str, SqliteTable],
        locks: Locks,
        clock: Clock,
    ) -> None:
        self._cursor = connection.cursor()
        self._execute = self._cursor.execute
        self._executemany = self._cursor.executemany
        self._tables = tables
        self._locks = locks
        self._clock = clock

    def table(self) -> dict[type[AnyOperation], Callable[[Any], object]]:
        return {
            Now: lambda _: self._clock.wall(),
            Enter: self.enter,
            Fence: self.fence,
            Rest: lambda rest: self._many(REST, [(rest.epoch,)]),
            Settle: self.settle,
            ListDue: self.list_due,
            Load: self.load,
            Take: self.take,
            Seen: self.seen,
            Owing: self.owing,
            Behind: self.behind,
            Remove: self.remove,
            Gone: self.gone,
            Save: self.save,
            Park: self.park,
            Withdraw: lambda withdraw: self._many(WITHDRAW, withdraw.keys),
            Owe: lambda owe: self._many(OWE, owe.rows),
            Journal: lambda journal: self._many(JOURNAL, journal.rows),
            Remember: lambda remember: self._many(REMEMBER, remember.rows),
            Trim: self.trim,
            Claim: self.claim,
            Quarantine: self.quarantine,
            Still: self.still,
            Mark: self.mark,
            Postpone: self.postpone,
            Redrive: self.redrive,
            Reap: self.reap,
            Release: self.release,
            Look: self.look,
            Page: self.page,
            Owed: self.owed,
            History: self.history,
            Everything: self.everything,
            Sessions: self.sessions,
        }

    def _many(self, statement: str, rows: Iterable[Sequence[object]]) -> int:
        self._executemany(statement, rows)
        return self._cursor.rowcount

    # -- sessions

    def enter(self, _: Enter) -> int:
        (epoch,) = self._execute(NEW_EPOCH).fetchone()
        while not self._locks.hold(epoch):
            (epoch,) = self._execute(NEW_EPOCH).fetchone()
        self._execute(ENTER, (epoch, self._clock.host()))
        return int(epoch)

    def fence(self, fence: Fence) -> int | None:
        lease_until = self._clock.boot() + fence.lease
        self._execute(FENCE, (fence.epoch, fence.batch, lease_until))
        return self._clock.wall() if self._cursor.rowcount == 1 else None

    def settle(self, settle: Settle) -> int | None:
        row = self._execute(
            "select batch from deedbox_session where epoch = ?", (settle.epoch,)
        ).fetchone()
        return None if row is None else int(row[0])

    def reap(self, reap: Reap) -> int:
        boot, host = self._clock.boot(), self._clock.host()
        dead = [
            epoch
            for epoch, lease_until, where in self._execute(
                "select epoch, lease_until, host from deedbox_session where epoch != ?",
                (reap.epoch,),
            ).fetchall()
            if where != host
            or (lease_until is not None and lease_until <= boot)
            or self._locks.free(epoch)
        ]
        if not dead:
            return 0
        self._execute(DEAD, (_array(dead),))
        self._execute(FREE, (_array(dead), reap.now, reap.deliveries))
        freed = self._cursor.rowcount
        for epoch in dead:
            if self._locks.free(epoch):
                self._locks.forget(epoch)
        return freed

    def release(self, release: Release) -> int:
        self._execute("delete from deedbox_session where epoch = ?", (release.epoch,))
        self._execute(RELEASE, (release.epoch, release.now))
        freed = self._cursor.rowcount
        self._locks.forget(release.epoch)
        return freed

    # -- instances

    def list_due(self, due: ListDue) -> list[InstanceRow]:
        statement = self._tables[due.machine].due
        return self._execute(statement, (due.now, due.version, due.limit)).fetchall()

    def load(self, load: Load) -> list[InstanceRow]:
        statement = self._tables[load.machine].load
        return self._execute(statement, (_array(load.ids),)).fetchall()

    def save(self, save: Save) -> None:
        table = self._tables[save.machine]
        if save.inserts:
            self._executemany(table.insert, save.inserts)
        if save.updates:
            changed = self._many(
                table.update, [(*row, stored_rev) for row, stored_rev in save.updates]
            )
            if changed != len(save.updates):
                raise Conflict(f"{changed} of {len(save.updates)} instances")

    def park(self, park: Park) -> None:
        self._executemany(self._tables[park.machine].park, park.instances)

    def remove(self, remove: Remove) -> None:
        gone = self._many(self._tables[remove.machine].remove, remove.instances)
        if gone != len(remove.instances):
            raise Conflict(f"{gone} of {len(remove.instances)} instances")
        names = [(remove.machine, id) for id, _ in remove.instances]
        self._executemany(FORGET_JOURNAL, names)
        self._executemany(FORGET_INBOX, names)
        self._execute(NOW_GONE, (remove.machine, remove.until))

    def gone(self, gone: Gone) -> int:
        row = self._execute(GONE, (gone.machine,)).fetchone()
        return -1 if row is None else int(row[0])

    def page(self, page: Page) -> list[InstanceRow]:
        statement = self._tables[page.machine].page
        parameters = (page.after, page.phase, page.due_before, page.limit)
        return self._execute(statement, parameters).fetchall()

    # -- outbox

    def take(self, take: Take) -> set[Key]:
        """All at once; only when some are gone, one by one, to learn which."""
        rows = [(*key, take.epoch) for key in take.keys]
        self._execute("savepoint take")
        if self._many(TAKE, rows) == len(rows):
            self._execute("release take")
            return set(take.keys)
        self._execute("rollback to take")
        self._execute("release take")
        return {key for key in take.keys if self._changed(TAKE, (*key, take.epoch))}

    def _changed(self, statement: str, parameters: Sequence[str | int]) -> bool:
        self._execute(statement, parameters)
        return self._cursor.rowcount == 1

    def owing(self, owing: Owing) -> set[str]:
        rows = self._execute(OWING, (owing.machine, _array(owing.ids)))
        return {id for (id,) in rows}

    def behind(self, behind: Behind) -> set[tuple[str, str, str]]:
        return set(self._execute(BEHIND, (_array(behind.commands),)))

    def claim(self, claim: Claim) -> list[OutboxRow]:
        got: list[OutboxRow] = []
        for want in claim.wants:
            machine, command, version, limit = want
            parameters = (claim.epoch, claim.now, machine, command, version, limit)
            got.extend(self._execute(CLAIM, parameters).fetchall())
        return got

    def quarantine(self, claim: Quarantine) -> list[OutboxRow]:
        parameters = (claim.epoch, claim.now, claim.latest, _array(claim.wants))
        return self._execute(QUARANTINE, parameters).fetchall()

    def still(self, still: Still) -> set[Key]:
        return set(self._execute(STILL, (_array(still.keys), still.epoch)).fetchall())

    def mark(self, mark: Mark) -> set[Key]:
        return {key for key in mark.keys if self._changed(MARK, (*key, mark.epoch))}

    def postpone(self, postpone: Postpone) -> None:
        rows = [
            (error, next_at, parked, *key, postpone.epoch)
            for key, error, next_at, parked in postpone.rows
        ]
        self._executemany(POSTPONE, rows)

    def redrive(self, redrive: Redrive) -> int:
        self._execute(REDRIVE, (redrive.machine, redrive.id, redrive.now))
        count = self._cursor.rowcount
        table = self._tables[redrive.machine]
        rows = self._execute(table.load, (_array([redrive.id]),)).fetchall()
        if any(row[7] is not None for row in rows):
            self._execute(table.park, (redrive.id, None))
            count += 1
        return count

    def owed(self, owed: Owed) -> list[OutboxRow]:
        return self._execute(OWED, (owed.machine, owed.id)).fetchall()

    def everything(self, _: object) -> list[OutboxRow]:
        return self._execute("select * from deedbox_outbox").fetchall()

    def sessions(self, _: object) -> set[int]:
        return {
            epoch for (epoch,) in self._execute("select epoch from deedbox_session")
        }

    # -- inbox and journal

    def seen(self, seen: Seen) -> list[InboxRow]:
        return self._execute(SEEN, (_array(seen.messages),)).fetchall()

    def trim(self, trim: Trim) -> None:
        journal = [(machine, id, rev) for machine, id, rev, _ in trim.before]
        self._executemany(TRIM_JOURNAL, journal)
        inbox = [(machine, id, at) for machine, id, _, at in trim.before]
        self._executemany(TRIM_INBOX, inbox)

    def history(self, history: History) -> list[JournalRow]:
        return self._execute(HISTORY, (history.machine, history.id)).fetchall()

    # -- looking ahead

    def look(self, look: Look) -> Outlook:
        wakes: dict[str, int] = {}
        for machine, version in look.machines:
            row = self._execute(self._tables[machine].soonest, (version,)).fetchone()
            if row is not None:
                wakes[machine] = row[0]
        machines = _array(look.machines)
        later = self._execute(NEXT, (look.after, machines)).fetchone()
        (lease_until,) = self._execute(
            "select min(lease_until) from deedbox_session where epoch != ? and host = ?",
            (look.epoch, self._clock.host()),
        ).fetchone()
        return Outlook(
            wakes,
            None if later is None else later[0],
            None
            if lease_until is None
            else look.now + lease_until - self._clock.boot(),
        )
