"""What must hold of a simulated run, looked at after each commit and at each call.

`Watch` compares what is committed now with what was committed before, and shows the
laws only what has changed: those of instances, of what is owed, and of calls.  `Laws`
holds the whole store against the same invariants once, at the end of a run.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ..operations import Key
from .backing import Rows
from .calls import Calls
from .instances import Instances
from .owed import Owed
from .seen import Deed, Record


class Watch:
    """Compares each commit with the one before."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._instances = Instances(record)
        self._owed = Owed(record)
        self._calls = Calls(record)

    def committed(self, author: str, rows: Rows) -> None:
        """What a transaction of this process has changed."""
        record = self._record
        outbox = rows.outbox
        changed = {
            key: row for key, row in outbox.items() if record.outbox.get(key) != row
        }
        gone = {key: row for key, row in record.outbox.items() if key not in outbox}
        before, record.outbox = record.outbox, outbox
        touched = {key[:2] for key in (*changed, *gone)}
        for name, row in rows.instances.items():
            seen = record.seen.get(name)
            if seen is None or seen.row != row:
                self._instances.changed(name, seen, row, rows, before)
                touched.add(name)
        for name in [name for name in record.seen if name not in rows.instances]:
            self._instances.removed(name)
            if rows.step(*name, 1) is not None:
                record.say(f"{name} was removed, and its journal was not")
            touched.add(name)
        record.sessions, sessions = rows.sessions, record.sessions
        for key, owed in changed.items():
            self._owed.changed(author, key, before.get(key), owed)
        for key, owed in gone.items():
            self._owed.gone(key, owed)
        for name in touched:
            self._owed.awaits(name)
        for epoch in sessions - record.sessions:
            if record.held_by.get(epoch) != author and record.lives(epoch):
                record.say(f"{author} ends the live session {epoch}")

    def called(self, process: str, key: Key, command: Struct) -> None:
        self._calls.called(process, key, command)

    def lost(self, owed: set[Deed]) -> Iterator[str]:
        return self._owed.lost(owed)
