"""What the operations on the outbox do to the table in memory.

The shortest reading of what may be handed out: see `waiting`, and what a suspect is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..operations import (
    COMPANY,
    DIED,
    AnyOperation,
    Behind,
    Claim,
    Conflict,
    Everything,
    Key,
    Mark,
    OutboxRow,
    Owe,
    Owed,
    Owing,
    Postpone,
    Quarantine,
    Redrive,
    Still,
    Take,
    Withdraw,
)
from .memory_rows import Tables


class Outbox:
    """One function an operation."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def table(self) -> dict[type[AnyOperation], Callable[[Any], object]]:
        return {
            Take: self.take,
            Owing: self.owing,
            Behind: self.behind,
            Withdraw: self.withdraw,
            Owe: self.owe,
            Claim: self.claim,
            Quarantine: self.quarantine,
            Still: self.still,
            Mark: self.mark,
            Postpone: self.postpone,
            Redrive: self.redrive,
            Owed: self.owed,
            Everything: lambda _: sorted(self._tables.outbox.rows.values()),
        }

    def free(self, epochs: set[int], now: int, deliveries: int | None) -> int:
        """Give back what these held; after a death, what was delivered too often parks."""
        freed = [row for row in self._tables.outbox.rows.values() if row[5] in epochs]
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
        self._tables.outbox.put(row[:3], new)
        return new

    def take(self, take: Take) -> set[Key]:
        rows = self._tables.outbox.rows
        taken = {key for key in take.keys if key in rows and rows[key][5] == take.epoch}
        for key in taken:
            self._tables.outbox.drop(key)
        return taken

    def owing(self, owing: Owing) -> set[str]:
        ids = set(owing.ids)
        return {
            id
            for machine, id, _ in self._tables.outbox.rows
            if machine == owing.machine and id in ids
        }

    def behind(self, behind: Behind) -> set[tuple[str, str, str]]:
        there = {(row[0], row[1], row[3]) for row in self._tables.outbox.rows.values()}
        return there & set(behind.commands)

    def withdraw(self, withdraw: Withdraw) -> None:
        for key in withdraw.keys:
            self._tables.outbox.drop(key)

    def owe(self, owe: Owe) -> None:
        for row in owe.rows:
            if row[:3] in self._tables.outbox.rows:
                raise Conflict
            self._tables.outbox.put(row[:3], row)

    def waiting(self) -> list[OutboxRow]:
        """Rows that nobody holds, and that may be handed out when their time comes."""
        oldest: dict[tuple[str, str, str], int] = {}
        for machine, id, ticket, command, *_ in self._tables.outbox.rows.values():
            name = machine, id, command
            oldest[name] = min(oldest.get(name, ticket), ticket)
        return [
            row
            for row in self._tables.outbox.rows.values()
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
            for row in self.waiting()
            if row[11] <= names.get((row[0], row[3]), -1)
            and row[6] is not None
            and row[6] <= now
            and _is_suspect(row, row[7]) == suspects
        ]
        return [row for _, _, row in sorted(due)]

    def _claimed(self, row: OutboxRow, epoch: int) -> OutboxRow:
        return self._put(row, claim=epoch, next_at=None, tries=row[7] + 1, parked=None)

    def claim(self, claim: Claim) -> list[OutboxRow]:
        return [
            self._claimed(row, claim.epoch)
            for machine, command, version, limit in claim.wants
            for row in self._due(
                [(machine, command, version)], claim.now, suspects=False
            )[:limit]
        ]

    def quarantine(self, claim: Quarantine) -> list[OutboxRow]:
        suspects = self._due(claim.wants, claim.now, suspects=True)
        return [
            self._claimed(row, claim.epoch)
            for row in suspects[:1]
            if row[7] < claim.latest
        ]

    def still(self, still: Still) -> set[Key]:
        rows = self._tables.outbox.rows
        return {
            key for key in still.keys if key in rows and rows[key][5] == still.epoch
        }

    def mark(self, mark: Mark) -> set[Key]:
        marked: set[Key] = set()
        for key in mark.keys:
            row = self._tables.outbox.rows.get(key)
            if row is not None and row[5] == mark.epoch:
                self._tables.outbox.put(key, (*row[:8], 1, *row[9:]))
                marked.add(key)
        return marked

    def postpone(self, postpone: Postpone) -> None:
        for key, error, next_at, parked in postpone.rows:
            row = self._tables.outbox.rows.get(key)
            if row is not None and row[5] == postpone.epoch:
                self._put(
                    row,
                    claim=None,
                    next_at=next_at,
                    tries=row[7],
                    parked=parked,
                    error=error,
                )

    def redrive(self, redrive: Redrive) -> int:
        name, count = (redrive.machine, redrive.id), 0
        table = self._tables.instances[redrive.machine]
        row = table.rows.get(redrive.id)
        if row is not None and row[7] is not None:
            table.put(redrive.id, (*row[:7], None, row[8]))
            count += 1
        for owed in [
            row for key, row in self._tables.outbox.rows.items() if key[:2] == name
        ]:
            if owed[9] is not None:
                self._put(owed, claim=None, next_at=redrive.now, tries=0, parked=None)
                count += 1
        return count

    def owed(self, owed: Owed) -> list[OutboxRow]:
        name = owed.machine, owed.id
        return sorted(
            row for key, row in self._tables.outbox.rows.items() if key[:2] == name
        )


def _is_suspect(row: OutboxRow, deliveries: int) -> bool:
    return row[10] == DIED and deliveries >= COMPANY
