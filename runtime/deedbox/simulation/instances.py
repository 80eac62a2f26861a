"""What must hold of instances and their steps: I4, I5, I7, I8, and answers that were given.

Each step is done once more from its journal row, by the real reducer: the fold must
lead to what is stored, byte for byte, and every message must have been sent, awaited
or due.
"""

from __future__ import annotations

from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from ..codec import Codec
from ..documents import text
from ..machine import Due, Refused
from ..operations import InstanceRow, Key, OutboxRow
from ..step import step
from .backing import Rows
from .sagas import Sagas
from .scans import Scans
from .seen import Record, Seen, Step


class Instances:
    """The laws of instances."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._sagas = Sagas(record.say)
        self._scans = Scans(record.far_side.lists, record.say)

    def changed(
        self,
        name: tuple[str, str],
        seen: Seen | None,
        row: InstanceRow,
        rows: Rows,
        before: dict[Key, OutboxRow],
    ) -> None:
        machine, id = name
        codec = self._record.codecs[machine]
        _, rev, phase, at, born, version, wake_at, parked, doc = row
        if seen is not None and seen.row[4] != born:
            self.removed(name)
            seen = None
        if seen is None and born <= self._record.times.get(name, -1):
            self._record.say(
                f"I8: {name} is born at {born}, and was there at {self._record.times}"
            )
        self._record.times[name] = at
        state = None if seen is None else seen.state
        former = 0 if seen is None else seen.row[1]
        if parked is not None:
            self._record.seen[machine, id] = Seen(row, state)
            self._record.say(f"{machine} {id} is parked: {parked}")
            return
        if seen is not None and at < seen.row[3]:
            self._record.say(f"I7: {machine} {id} goes back from {seen.row[3]} to {at}")
        if rev < former or (rev == former and seen is not None and doc != seen.row[8]):
            self._record.say(f"I4: {machine} {id} goes from rev {former} to {rev}")
        last = born if seen is None else seen.row[3]
        for number in range(former + 1, rev + 1):
            entry = rows.step(machine, id, number)
            if entry is None:
                self._record.say(f"I4: {machine} {id} has no step {number}")
                continue
            if entry[3] < last:
                self._record.say(
                    f"I7: step {number} of {machine} {id} is at {entry[3]}"
                )
            last = entry[3]
            state = self._step(codec, id, state, codec.journaled(entry[6]), before)
        decoded: Struct = codec.decode_state(doc)
        self._record.seen[machine, id] = Seen(row, decoded)
        if state != decoded or text(decoded) != doc:
            self._record.say(
                f"I4: the journal of {id} leads to {state}, stored is {doc}"
            )
        if last != at:
            self._record.say(f"I7: the last step of {id} is at {last}, its row at {at}")
        if codec.phases[type(decoded)] != phase or version != codec.version:
            self._record.say(
                f"{machine} {id}: the columns {phase}, {version} are wrong"
            )
        if type(decoded) not in codec.machine.finals:
            if wake_at != codec.machine.wake(decoded):
                self._record.say(
                    f"I5: {machine} {id} wakes at {wake_at}, it is {decoded}"
                )
            self._is_not_stranded(codec, decoded)
        elif self._record.rules.keep is None:
            if wake_at is not None:
                self._record.say(f"I5: {machine} {id} has ended and wakes at {wake_at}")
        elif wake_at is None or wake_at < at + self._record.rules.keep:
            self._record.say(f"I5: {machine} {id} has ended at {at}, goes at {wake_at}")

    def _step(
        self,
        codec: Codec,
        id: str,
        state: Struct | None,
        message: Struct,
        before: dict[Key, OutboxRow],
    ) -> Struct | None:
        """The state after a step that was journaled, and whether the step was due."""
        machine = codec.machine
        ticket: int | None = None
        if any(type(message) in command.outcomes for command in machine.commands):
            ticket = cast(int, getattr(message, "ticket"))  # noqa: B009
        if isinstance(message, Due) and state is not None:
            wake = machine.wake(state)
            if wake is None or wake > message.at:
                self._record.say(
                    f"{machine.name} {id}: at {message.at} nothing is due: {state}"
                )
        answered: str | None = None
        if ticket is not None:
            row = before.get((machine.name, id, ticket))
            if state is None or machine.awaited(state) != ticket or row is None:
                self._record.say(
                    f"{machine.name} {id}: {message} answers what is not awaited"
                )
            else:
                answered = row[4]
                self._answers(row, message)
        if ticket is None and not isinstance(message, Due):
            self._was_sent(codec, id, message)
        result = step(machine, state, message)
        if isinstance(result, Refused):
            self._record.say(
                f"I4: {machine.name} {id}: {message} is journaled and refused"
            )
            return state
        after, owed = (
            cast(Struct, result.state),
            cast("tuple[Struct, ...]", result.owed),
        )
        done = Step(machine.name, id, state, message, after, owed, answered)
        self._record.events.append(done)
        self._sagas.stepped(codec, done)
        self._scans.stepped(codec, done)
        then = "" if state is None else f"{codec.phases[type(state)]} -> "
        phase = codec.phases[type(after)]
        self._record.notes.append(
            f"{machine.name} {id}: {then}{phase} by {type(message).__name__}"
        )
        return after

    def _was_sent(self, codec: Codec, id: str, message: Struct) -> None:
        """No message is applied more often than it was sent."""
        if codec.name in self._record.told:
            return  # what is told by another machine is in its outbox, exactly once
        sent = codec.name, id, text(replace(message, at=-1))
        self._record.sent[sent] -= 1
        if self._record.sent[sent] < 0:
            self._record.say(
                f"{codec.name} {id}: {message} was applied, and not sent again"
            )

    def _answers(self, row: OutboxRow, message: Struct) -> None:
        """What is taken is what the far side answered to the key of the row."""
        key = row[4]
        said = self._record.far_side.answered.get(key)
        taken = replace(message, at=-1, ticket=0)
        if said is None or replace(said, at=-1, ticket=0) != taken:
            self._record.say(f"{key} is answered {said}, and taken as {taken}")

    def _is_not_stranded(self, codec: Codec, state: Struct) -> None:
        """Every state that is no end waits for an answer, a deadline or a message."""
        machine = codec.machine
        if machine.awaited(state) is not None or machine.wake(state) is not None:
            return
        phase = codec.phases[type(state)]
        inbound = {type_.__name__ for type_ in machine.messages}
        inbound.add(machine.start_type.__name__)
        if not any(
            transition.source == phase and transition.trigger in inbound
            for transition in machine.transitions
        ):
            self._record.say(f"{machine.name}: nothing ever moves {state}")

    def removed(self, name: tuple[str, str]) -> None:
        seen = self._record.seen.pop(name)
        self._record.removed.add(name)
        codec = self._record.codecs[name[0]]
        if type(seen.state) not in codec.machine.finals:
            self._record.say(f"{name} was removed, and it was {seen.state}")
