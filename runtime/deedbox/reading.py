"""From stored rows to what a user is given: instances, listings, histories.

Reads only, and only what is committed.  A row that cannot be read is refused by name
(`get`) or shown with its reason (`list`, `history`); nothing is parked by looking.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from .codec import Codec
from .errors import (
    InstanceParked,
    NewerVersion,
    SendError,
    UnknownVersion,
    printable,
)
from .machine import Instant
from .operations import (
    InstanceRow,
    JournalRow,
    Load,
    OutboxRow,
    Program,
    ask,
)
from .operations import Owed as OwedRows
from .values import Instance, Journaled, Listed, Owed

UNREADABLE: Final = (
    msgspec.MsgspecError,
    SendError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
)
"""What is raised for an entry of which nobody knows how it came to be so."""


def instance(codec: Codec, id: str) -> Program[Any]:
    rows = yield from ask(Load(codec.name, [id]))
    if not rows:
        return None
    _, rev, _, at, _, version, wake_at, parked, doc = rows[0]
    if parked is not None:
        raise InstanceParked(printable(f"{codec.name} {id}: {parked}"))
    if version > codec.version:
        raise NewerVersion(f"{codec.name} {id} has version {version}")
    try:
        found = codec.state(version, doc, at)
    except (msgspec.MsgspecError, UnknownVersion) as problem:
        raise InstanceParked(
            f"{codec.name} {id} does not decode: {problem}"
        ) from problem
    rows_owed = yield from ask(OwedRows(codec.name, id))
    wake = None if wake_at is None else Instant(wake_at)
    phase = codec.phases[type(found.state)]
    waiting = tuple(owed(row) for row in rows_owed)
    return Instance(id, phase, found.state, rev, Instant(at), wake, waiting)


def owed(row: OutboxRow) -> Owed:
    _, _, ticket, command, key, claim, next_at, tries, _, parked, error, _, doc = row
    return Owed(
        ticket,
        command,
        printable(key),
        claim is not None,
        tries,
        None if next_at is None else Instant(next_at),
        error and printable(error),
        parked and printable(parked),
        printable(doc),
    )


def journaled(codec: Codec, row: JournalRow) -> Journaled:
    _, _, rev, at, kind, version, document = row
    entry = Journaled(
        rev, Instant(at), kind == "base", version, printable(document), None, None
    )
    try:
        if kind == "base":
            value = codec.state(version, document, at).state
        elif version == codec.version:
            value = codec.journaled(document)
        else:
            return replace(entry, unread=f"a message of version {version}")
    except UNREADABLE as problem:
        return replace(entry, unread=printable(str(problem)))
    return replace(entry, value=value)


def listed(row: InstanceRow) -> Listed:
    id, rev, phase, at, _, _, wake_at, parked, _ = row
    return Listed(
        printable(id),
        printable(phase),
        rev,
        Instant(at),
        None if wake_at is None else Instant(wake_at),
        parked and printable(parked),
    )
