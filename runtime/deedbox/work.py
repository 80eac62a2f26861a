"""What the parts of one write transaction share: the overlay, and the rows to write.

Rows are read into it, steps are made over it, and what it holds in the end is written.
The rule that keeps it right: whatever can fail is done before the first change here, so
that an item that fails leaves nothing behind.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from .batch import (
    SUSPECTS,
    Answered,
    Batch,
    Desk,
    Held,
    Live,
    Result,
    Tell,
    leave,
)
from .codec import Codec
from .documents import text
from .errors import (
    InstanceParked,
    NewerVersion,
    Rejected,
    SendError,
    printable,
)
from .machine import CommandType
from .operations import (
    InboxRow,
    InstanceRow,
    JournalRow,
    Key,
    OutboxRow,
)
from .upcast import ticket_of
from .values import MINUTE, Receipt, Rules

CLOCK_BEHIND: Final = 5 * MINUTE
"""So far may the clock be behind an instance's time before it is counted (R9)."""


class Work:
    """The overlay of one transaction, and the rows it will write."""

    def __init__(self, desk: Desk, batch: Batch, now: int) -> None:
        self.desk = desk
        self.batch = batch
        self.now = now
        self.result = Result(now, dict(desk.room), set(desk.backlog))
        self.live = self.result.live
        self.due: list[Live] = []
        self.more_due = False
        self.older: list[Live] = []
        self.seen: dict[tuple[str, str, str], tuple[str, Receipt | Rejected]] = {}
        self.taken: list[tuple[Answered, Live | None]] = []
        self.posts: dict[Key, tuple[Held, Tell | SendError]] = {}
        self.returned: list[OutboxRow] = []
        self.owed: dict[Key, tuple[CommandType, Struct, str, int]] = {}
        self.withdrawn: list[Key] = []
        self.journal: list[JournalRow] = []
        self.inbox: list[InboxRow] = []
        self.parks: dict[str, list[tuple[str, str]]] = {}
        self.removals: dict[str, list[tuple[str, int]]] = {}
        self.gone: dict[str, int] = {}
        self.trims: list[tuple[str, str, int, int]] = []
        self.postponed: list[tuple[Key, str, int, str | None]] = []

    def want(self, wanted: dict[str, set[str]], codec: Codec, id: str) -> None:
        if (codec.name, id) not in self.live:
            wanted.setdefault(codec.name, set()).add(id)

    def unborn(self, codec: Codec, id: str, gone: int) -> Live:
        """What is not there may have been: a life of it begins after the last one (I8)."""
        self.check_clock(gone + 1)
        return Live(codec, id, at=gone + 1)

    def check_clock(self, at: int) -> None:
        if at > self.now + CLOCK_BEHIND:
            self.result.counts["clock_behind"] += 1

    def read(self, codec: Codec, row: InstanceRow) -> Live:
        """A row as it stands; one that cannot be read is parked (R11)."""
        id, rev, phase, at, born, version, wake_at, parked, doc = row
        one = Live(codec, id, None, rev, rev, at, born, version, wake_at, doc)
        self.check_clock(at)
        if parked is not None:
            one.refusal = InstanceParked(printable(f"{codec.name} {id}: {parked}"))
        elif version > codec.version:
            one.refusal = NewerVersion(
                f"{codec.name} {id} has version {version}, this is {codec.version}"
            )
        else:
            try:
                self.decode(one, phase)
            except msgspec.MsgspecError as problem:
                self.park(one, f"does not decode: {problem}")
            except SendError as problem:
                self.park(one, f"cannot be brought to this version: {problem}")
        return one

    def decode(self, one: Live, phase: str) -> None:
        """The state of a row; an older one in the words of this version (R12).

        A migrated row is written with the next step, or at once where it changes what
        is owed or when it wakes.
        """
        codec, version = one.codec, one.codec.version
        found = codec.state(one.version, one.doc, one.at)
        if found.phase != phase:
            raise msgspec.ValidationError(
                f"the document is a {found.phase}, the column says {phase}"
            )
        if one.version == version:
            one.state = found.state
            return
        doc = text(found.state)
        wake = self.wake_of(codec, found.state, codec.machine.wake(found.state), one.at)
        owed = [
            (codec.command_types[type(command)], command, text(command))
            for command in found.owed
        ]
        one.state, one.doc = found.state, doc
        self.older.append(one)
        if found.withdrawn is not None:
            key = (codec.name, one.id, found.withdrawn)
            self.withdrawn.append(key)
            self.end(key)
            self.result.counts["withdrawn"] += 1
        for type_, command, document in owed:
            key = (codec.name, one.id, ticket_of(command))
            self.owed[key] = type_, command, document, version
        if found.withdrawn is not None or owed or wake != one.wake_at:
            one.wake_at = wake
            self.renew(one)

    def wake_of(
        self, codec: Codec, state: Struct, wake: int | None, at: int
    ) -> int | None:
        """The next deadline of a state; of a finished one, when it is removed."""
        if type(state) not in codec.machine.finals:
            return wake
        keep = self.desk.rules.keep
        return None if keep is None else at + keep

    def renew(self, one: Live) -> None:
        """Write a migrated row without a step: a revision of its own, with its base."""
        name, version = one.codec.name, one.codec.version
        one.rev, one.version, one.dirty = one.rev + 1, version, True
        self.journal.append((name, one.id, one.rev, one.at, "base", version, one.doc))
        self.result.counts["migrated"] += 1

    def remove(self, one: Live) -> None:
        """A finished instance goes; a life that follows it is born later (I8)."""
        machine = one.codec.name
        self.removals.setdefault(machine, []).append((one.id, one.stored_rev))
        self.gone[machine] = max(self.gone.get(machine, -1), one.at)
        self.live[machine, one.id] = Live(one.codec, one.id, at=one.at + 1)
        self.result.counts["removed"] += 1

    def park(self, one: Live, reason: str) -> None:
        reason = printable(reason)
        one.refusal = InstanceParked(f"{one.codec.name} {one.id}: {reason}")
        self.parks.setdefault(one.codec.name, []).append((one.id, reason))
        self.result.counts["instances parked"] += 1

    def end(self, key: Key) -> None:
        """A row that was held is so no longer: its place is free."""
        held = self.desk.held.get(key)
        if held is not None and key not in self.result.ended:
            name, room = (held.codec.name, held.type.name), self.result.room
            if held.suspect or room[name] == 0:
                self.result.backlog.add(SUSPECTS)
            if not held.type.outcomes:
                self.result.backlog.add(name)
            leave(room, held)
            self.result.ended[key] = held

    @property
    def suspects(self) -> list[int]:
        """At which delivery each suspect is that this process holds."""
        result = self.result
        held = [*self.desk.held.values(), *result.started]
        return [
            one.tries for one in held if one.suspect and one.key not in result.ended
        ]

    @property
    def holds(self) -> bool:
        """Whether this process holds a row after this transaction."""
        result = self.result
        return len(self.desk.held) + len(result.started) > len(result.ended)

    def give_back(self, key: Key, error: str, park: str | None) -> None:
        held = self.desk.held[key]
        park = self.parked(held, park)
        self.postponed.append((key, error, self.later(held, park), park))
        self.end(key)

    def parked(self, held: Held, park: str | None) -> str | None:
        """Why a row is set aside: it cannot be delivered, or was so too often."""
        tries = held.tries
        often = tries >= self.desk.rules.deliveries and not held.type.unrepeatable
        return f"no answer in {tries} deliveries" if park is None and often else park

    def later(self, held: Held, park: str | None) -> int:
        """When a row that was given back may go out again."""
        next_at = self.now + ladder(self.desk.rules, held.tries)
        self.result.counts["raised" if park is None else "commands parked"] += 1
        if park is None:
            self.soon(next_at)
        return next_at

    def soon(self, next_at: int) -> None:
        known = self.result.next_at
        self.result.next_at = next_at if known is None else min(known, next_at)


def ladder(rules: Rules, tries: int) -> int:
    """How long a row waits after its n-th delivery failed."""
    doublings = max(0, min(tries - 1, 20))
    return min(rules.first_delay << doublings, rules.longest_delay)
