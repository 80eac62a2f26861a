"""The row of an older version, as one of its processes has left it, put into a store.

Nothing but the row is made up: it is read, brought to this version and written anew by
the code that does it after every upgrade.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from ..operations import (
    Begin,
    Commit,
    InstanceRow,
    OutboxRow,
    Owe,
    Program,
    Save,
    Store,
    ask,
)
from .actions import Stored

FIRST: Final = 1
"""The revision of such a row: what came before it is not told."""


def put(store: Store, machine: str, stored: Stored, at: int) -> None:
    """The last step of the older process was made `at` this time."""
    store.run(_program(machine, stored, at))


def _program(machine: str, stored: Stored, at: int) -> Program[None]:
    state = stored.state
    row: InstanceRow = (
        stored.id,
        FIRST,
        str(state["type"]),
        at,
        _number(state["born"]),
        stored.version,
        stored.wake_at,
        None,
        msgspec.json.encode(state).decode(),
    )
    yield from ask(Begin())
    yield from ask(Save(machine, [row], []))
    yield from ask(Owe(list(_owed(machine, stored, at))))
    yield from ask(Commit())


def _owed(machine: str, stored: Stored, at: int) -> Iterator[OutboxRow]:
    """Rows that nobody has taken up yet."""
    for asks in stored.owed:
        document = asks.document
        yield (
            machine,
            stored.id,
            _number(document["ticket"]),
            asks.command,
            str(document["idempotency_key"]),
            None,
            at,
            0,
            0,
            None,
            None,
            stored.version,
            msgspec.json.encode(document).decode(),
        )


def _number(value: object) -> int:
    return msgspec.convert(value, int)
