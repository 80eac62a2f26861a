"""What the operations on instances, journal and inbox do to the tables in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..operations import (
    AnyOperation,
    Conflict,
    Gone,
    History,
    InboxRow,
    InstanceRow,
    Journal,
    JournalRow,
    ListDue,
    Load,
    Page,
    Park,
    Remember,
    Remove,
    Save,
    Seen,
    Trim,
)
from .memory_rows import Tables


class Instances:
    """One function an operation."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def table(self) -> dict[type[AnyOperation], Callable[[Any], object]]:
        return {
            ListDue: self.list_due,
            Load: self.load,
            Save: self.save,
            Park: self.park,
            Remove: self.remove,
            Gone: lambda gone: self._tables.gone.rows.get(gone.machine, -1),
            Page: self.page,
            Seen: self.seen,
            Remember: self.remember,
            Journal: self.write,
            Trim: self.trim,
            History: self.history,
        }

    def list_due(self, due: ListDue) -> list[InstanceRow]:
        rows = [
            (row[6], row[0], row)
            for row in self._tables.instances[due.machine].rows.values()
            if row[6] is not None
            and row[6] <= due.now
            and row[7] is None
            and row[5] <= due.version
        ]
        return [row for _, _, row in sorted(rows)[: due.limit]]

    def load(self, load: Load) -> list[InstanceRow]:
        rows = self._tables.instances[load.machine].rows
        return [rows[id] for id in load.ids if id in rows]

    def save(self, save: Save) -> None:
        table = self._tables.instances[save.machine]
        for row in save.inserts:
            if row[0] in table.rows:
                raise Conflict
            table.put(row[0], row)
        for row, stored_rev in save.updates:
            if row[0] not in table.rows or table.rows[row[0]][1] != stored_rev:
                raise Conflict
            table.put(row[0], row)

    def park(self, park: Park) -> None:
        table = self._tables.instances[park.machine]
        for id, reason in park.instances:
            row = table.rows[id]
            table.put(id, (*row[:7], reason, row[8]))

    def remove(self, remove: Remove) -> None:
        table = self._tables.instances[remove.machine]
        for id, rev in remove.instances:
            if id not in table.rows or table.rows[id][1] != rev:
                raise Conflict
            table.drop(id)
            name = remove.machine, id
            for step in [key for key in self._tables.journal.rows if key[:2] == name]:
                self._tables.journal.drop(step)
            for message in [key for key in self._tables.inbox.rows if key[:2] == name]:
                self._tables.inbox.drop(message)
        former = self._tables.gone.rows.get(remove.machine, -1)
        self._tables.gone.put(remove.machine, max(former, remove.until))

    def page(self, page: Page) -> list[InstanceRow]:
        rows = self._tables.instances[page.machine].rows
        return [
            rows[id]
            for id in sorted(rows)
            if id > page.after
            and (page.phase is None or rows[id][2] == page.phase)
            and (page.due_before is None or _due_by(rows[id], page.due_before))
        ][: page.limit]

    def seen(self, seen: Seen) -> list[InboxRow]:
        rows = self._tables.inbox.rows
        return [rows[message] for message in seen.messages if message in rows]

    def remember(self, remember: Remember) -> None:
        for row in remember.rows:
            if row[:3] in self._tables.inbox.rows:
                raise Conflict
            self._tables.inbox.put(row[:3], row)

    def write(self, journal: Journal) -> None:
        for row in journal.rows:
            key = (row[0], row[1], row[2], row[4])
            if key in self._tables.journal.rows:
                raise Conflict
            self._tables.journal.put(key, row)

    def trim(self, trim: Trim) -> None:
        for machine, id, rev, at in trim.before:
            for step in list(self._tables.journal.rows):
                if step[:2] == (machine, id) and step[2] < rev:
                    self._tables.journal.drop(step)
            for message, row in list(self._tables.inbox.rows.items()):
                if message[:2] == (machine, id) and row[4] < at:
                    self._tables.inbox.drop(message)

    def history(self, history: History) -> list[JournalRow]:
        name = history.machine, history.id
        return [
            self._tables.journal.rows[key]
            for key in sorted(
                self._tables.journal.rows, key=lambda key: (key[2], key[3])
            )
            if key[:2] == name
        ]


def _due_by(row: InstanceRow, instant: int) -> bool:
    return row[6] is not None and row[6] <= instant
