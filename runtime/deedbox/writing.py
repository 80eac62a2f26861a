"""The last half of a transaction: the rows of all steps, then what is handed out next.

A handful of statements, whatever the number of steps (R1).  What is claimed here is
started by nobody before the commit.
"""

from __future__ import annotations

from collections import Counter
from typing import cast

import msgspec

from . import failpoints
from .batch import (
    SUSPECTS,
    Held,
    Live,
    take_place,
)
from .documents import text
from .errors import (
    SendError,
    UnknownVersion,
)
from .machine import Command
from .operations import (
    Behind,
    Claim,
    InstanceRow,
    Journal,
    Key,
    Look,
    OutboxRow,
    Owe,
    Owed,
    Park,
    Postpone,
    Program,
    Quarantine,
    Remember,
    Remove,
    Save,
    Trim,
    Withdraw,
    ask,
    beside,
)
from .work import Work


def write(work: Work) -> Program[None]:
    """The rows of all steps: a handful of statements, whatever the size (R1)."""
    inserts: dict[str, list[InstanceRow]] = {}
    updates: dict[str, list[tuple[InstanceRow, int]]] = {}
    for (machine, id), one in work.live.items():
        if not one.dirty:
            continue
        if one.version != one.codec.version:
            work.renew(one)
        row: InstanceRow = (
            id,
            one.rev,
            one.phase,
            one.at,
            one.born,
            one.version,
            one.wake_at,
            None,
            one.doc,
        )
        if one.stored_rev == 0:
            inserts.setdefault(machine, []).append(row)
        else:
            updates.setdefault(machine, []).append((row, one.stored_rev))
        if one.wake_at is not None:
            known = work.result.wakes.get(machine)
            if known is None or one.wake_at < known:
                work.result.wakes[machine] = one.wake_at
    work.result.steps = len(work.journal)
    if work.journal:
        failpoints.hit("before_save")
    if work.due:
        failpoints.hit("wake_before_save")
    for machine, gone in work.removals.items():
        yield from ask(Remove(machine, gone, work.gone[machine]))
    for machine in sorted(inserts.keys() | updates.keys()):
        yield from ask(
            Save(machine, inserts.get(machine, []), updates.get(machine, []))
        )
    for machine, parks in work.parks.items():
        yield from ask(Park(machine, parks))
    if work.withdrawn:
        yield from ask(Withdraw(work.withdrawn))
    for one in work.older:
        if one.dirty:
            yield from carry_over(one)
    if work.returned:
        yield from ask(Owe(work.returned))
    if work.owed:
        yield from owe(work)
    if work.journal:
        yield from ask(Journal(work.journal))
    if work.trims:
        yield from ask(Trim(work.trims))
    if work.inbox:
        yield from ask(Remember(work.inbox))


def owe(work: Work) -> Program[None]:
    """New commands: held at once when there is room here and none waits before them."""
    room, backlog = work.result.room, work.result.backlog
    desk = work.desk
    rows: list[OutboxRow] = []
    alone = [
        (machine, id, type_.name)
        for (machine, id, _), (type_, *_) in work.owed.items()
        if not type_.outcomes
    ]
    behind = (yield from ask(Behind(alone))) if alone else set[tuple[str, str, str]]()
    for key, (type_, command, document, version) in work.owed.items():
        machine, id, ticket = key
        name = machine, type_.name
        blocked = False
        if not type_.outcomes:
            blocked = (machine, id, type_.name) in behind
            behind.add((machine, id, type_.name))
        claimed = not blocked and name not in backlog and room.get(name, 0) > 0
        if claimed:
            held = Held(key, desk.codecs[machine], type_, command, 1)
            take_place(room, held)
            work.result.started.append(held)
        elif name in room and not blocked:
            backlog.add(name)
        rows.append(
            (
                machine,
                id,
                ticket,
                type_.name,
                cast("Command", command).idempotency_key,
                desk.epoch if claimed else None,
                None if claimed else work.now,
                1 if claimed else 0,
                0,
                None,
                None,
                version,
                document,
            )
        )
    yield from ask(Owe(rows))


def carry_over(one: Live) -> Program[None]:
    """What a migrated instance still owes, in the words of this version.

    Key, ticket, claim and deliveries stay; a process of an older version leaves
    such a row alone.  One that cannot be read is left for `claim` to park.
    """
    codec = one.codec
    rows: list[OutboxRow] = []
    for row in (yield from ask(Owed(codec.name, one.id))):
        version, document = row[11], row[12]
        if version >= codec.version:
            continue
        try:
            command = text(codec.command(version, row[3], document))
        except (msgspec.MsgspecError, SendError):
            continue
        rows.append((*row[:11], codec.version, command))
    if rows:
        yield from ask(Withdraw([row[:3] for row in rows]))
        yield from ask(Owe(rows))


def claim(work: Work) -> Program[None]:
    """Take up waiting rows, as many as there is room for, the longest due first."""
    room, backlog, codecs = work.result.room, work.result.backlog, work.desk.codecs
    yield from quarantine(work)
    wants = [
        (machine, command, codecs[machine].version, room[machine, command])
        for machine, command in sorted(backlog - {SUSPECTS})
        if room.get((machine, command), 0) > 0
    ]
    if not wants:
        return
    rows = yield from ask(Claim(work.desk.epoch, work.now, wants))
    got = Counter((row[0], row[3]) for row in rows)
    backlog.difference_update(
        (machine, name)
        for machine, name, _, limit in wants
        if got[machine, name] < limit
    )
    yield from hold(work, rows)


def quarantine(work: Work) -> Program[None]:
    """Take up rows that may have killed a process, in as much company as each may have.

    The longest due first, so that none waits for ever: one that has to be alone is so
    when those that are here have ended, and what kills is found out.
    """
    room, backlog, codecs = work.result.room, work.result.backlog, work.desk.codecs
    if SUSPECTS not in backlog or room.get(SUSPECTS, 0) <= 0:
        return
    while True:
        held = work.suspects
        latest = beside(work.desk.rules.deliveries, len(held))
        served = [
            (machine, command, codecs[machine].version)
            for (machine, command), free in sorted(room.items())
            if machine and free > 0
        ]
        rows: list[OutboxRow] = []
        if served and max(held, default=0) <= latest:
            rows = yield from ask(Quarantine(work.desk.epoch, work.now, latest, served))
        if not rows:
            backlog.discard(SUSPECTS)
            return
        yield from hold(work, rows, suspect=True)


def hold(work: Work, rows: list[OutboxRow], *, suspect: bool = False) -> Program[None]:
    """These rows are claimed: they are held here, or parked when they cannot be read."""
    broken: list[tuple[Key, str, int, str | None]] = []
    for row in rows:
        machine, id, ticket, name, _, _, _, tries, _, _, _, version, document = row
        key, codec = (machine, id, ticket), work.desk.codecs[machine]
        try:
            command = codec.command(version, name, document)
        except (msgspec.MsgspecError, UnknownVersion) as problem:
            reason = f"does not decode: {problem}"
            broken.append((key, reason, work.now, reason))
            work.result.counts["commands parked"] += 1
            continue
        held = Held(key, codec, codec.commands[name], command, tries, suspect)
        take_place(work.result.room, held)
        work.result.started.append(held)
    if broken:
        yield from ask(Postpone(work.desk.epoch, broken))


def look(work: Work, after: int) -> Program[None]:
    """What will come due next, of all that is stored; of waiting rows, after an instant."""
    machines = [(codec.name, codec.version) for codec in work.desk.codecs.values()]
    work.result.outlook = yield from ask(
        Look(work.desk.epoch, work.now, after, machines)
    )


def overdue(work: Work) -> bool:
    """Whether a look found deadlines that have come: they fire before more is handed out."""
    outlook = work.result.outlook
    return outlook is not None and any(
        wake <= work.now for wake in outlook.wakes.values()
    )
