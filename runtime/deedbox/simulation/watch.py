"""What must hold of a simulated run, looked at after each commit and at each call.

`Watch` compares what is committed now with what was committed before, and looks only
at what has changed: I1 to I8, and that nothing is lost, nothing is done twice by key,
and what comes too late is inert.  `Laws` holds the whole store against the same
invariants once, at the end of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from ..codec import Codec, text
from ..machine import Due, Refused
from ..operations import COMPANY, DIED, InstanceRow, Key, OutboxRow
from ..step import step
from ..values import Rules
from .backing import Rows
from .far_side import FarSide, key_of

Deed = tuple[Key, str]
"""An issue: the key of its row, and its idempotency key (a later life has others)."""


class Step(Struct, frozen=True):
    """A committed step of an instance; there is no state before the first."""

    machine: str
    id: str
    before: Struct | None
    message: Struct
    after: Struct


class Decided(Struct, frozen=True):
    """The far side has acted, for the first time, on a key of this instance."""

    machine: str
    id: str
    key: str
    command: str
    answer: Struct | None


class Seen(Struct):
    """An instance as it was last committed."""

    row: InstanceRow
    state: Struct | None


class Watch:
    """Compares each commit with the one before."""

    def __init__(
        self,
        codecs: dict[str, Codec],
        rules: Rules,
        far_side: FarSide,
        boot: Callable[[], int],
    ) -> None:
        self._boot = boot
        self._codecs = codecs
        self._rules = rules
        self._far_side = far_side
        self.told = {
            target for codec in codecs.values() for target in codec.targets.values()
        }
        self.broken: list[str] = []
        self.seen: dict[tuple[str, str], Seen] = {}
        self.outbox: dict[Key, OutboxRow] = {}
        self.sessions: set[int] = set()
        self.held_by: dict[int, str] = {}
        """Which process entered which session."""
        self.leases: dict[int, int] = {}
        """Until when a session has shown, in a committed transaction, that it lives."""
        self.dead: set[str] = set()
        self.claimed: dict[Deed, set[int]] = {}
        self.calls: dict[Deed, int] = {}
        self.returned: set[Deed] = set()
        self.removed: set[tuple[str, str]] = set()
        self.times: dict[tuple[str, str], int] = {}
        """The time of the last step under each name, whatever became of the instance."""
        self.sent: Counter[tuple[str, str, str]] = Counter()
        """How often each message was given to a process; a step uses one of them up."""
        self.notes: list[str] = []
        """What the last commit has changed, in words."""
        self.events: list[Step | Decided] = []
        """What happened to the instances, in the order of the commits."""

    def say(self, text: str) -> None:
        self.broken.append(text)

    # -- after a commit

    def committed(self, author: str, rows: Rows) -> None:
        """What a transaction of this process has changed."""
        outbox = rows.outbox
        changed = {
            key: row for key, row in outbox.items() if self.outbox.get(key) != row
        }
        gone = {key: row for key, row in self.outbox.items() if key not in outbox}
        before, self.outbox = self.outbox, outbox
        touched = {key[:2] for key in (*changed, *gone)}
        for name, row in rows.instances.items():
            seen = self.seen.get(name)
            if seen is None or seen.row != row:
                self._instance(name, seen, row, rows, before)
                touched.add(name)
        for name in [name for name in self.seen if name not in rows.instances]:
            self._removed(name)
            if rows.step(*name, 1) is not None:
                self.say(f"{name} was removed, and its journal was not")
            touched.add(name)
        self.sessions, sessions = rows.sessions, self.sessions
        for key, owed in changed.items():
            self._row(author, key, before.get(key), owed)
        for key, owed in gone.items():
            self._gone(key, owed)
        for name in touched:
            self._awaits(name)
        for epoch in sessions - self.sessions:
            if self.held_by.get(epoch) != author and self._lives(epoch):
                self.say(f"{author} ends the live session {epoch}")

    def _instance(
        self,
        name: tuple[str, str],
        seen: Seen | None,
        row: InstanceRow,
        rows: Rows,
        before: dict[Key, OutboxRow],
    ) -> None:
        machine, id = name
        codec = self._codecs[machine]
        _, rev, phase, at, born, version, wake_at, parked, doc = row
        if seen is not None and seen.row[4] != born:
            self._removed(name)
            seen = None
        if seen is None and born <= self.times.get(name, -1):
            self.say(f"I8: {name} is born at {born}, and was there at {self.times}")
        self.times[name] = at
        state = None if seen is None else seen.state
        former = 0 if seen is None else seen.row[1]
        if parked is not None:
            self.seen[machine, id] = Seen(row, state)
            self.say(f"{machine} {id} is parked: {parked}")
            return
        if seen is not None and at < seen.row[3]:
            self.say(f"I7: {machine} {id} goes back from {seen.row[3]} to {at}")
        if rev < former or (rev == former and seen is not None and doc != seen.row[8]):
            self.say(f"I4: {machine} {id} goes from rev {former} to {rev}")
        last = born if seen is None else seen.row[3]
        for number in range(former + 1, rev + 1):
            entry = rows.step(machine, id, number)
            if entry is None:
                self.say(f"I4: {machine} {id} has no step {number}")
                continue
            if entry[3] < last:
                self.say(f"I7: step {number} of {machine} {id} is at {entry[3]}")
            last = entry[3]
            state = self._step(codec, id, state, codec.journaled(entry[6]), before)
        decoded: Struct = codec.decode_state(doc)
        self.seen[machine, id] = Seen(row, decoded)
        if state != decoded or text(decoded) != doc:
            self.say(f"I4: the journal of {id} leads to {state}, stored is {doc}")
        if last != at:
            self.say(f"I7: the last step of {id} is at {last}, its row at {at}")
        if codec.phases[type(decoded)] != phase or version != codec.version:
            self.say(f"{machine} {id}: the columns {phase}, {version} are wrong")
        if type(decoded) not in codec.machine.finals:
            if wake_at != codec.machine.wake(decoded):
                self.say(f"I5: {machine} {id} wakes at {wake_at}, it is {decoded}")
            self._is_not_stranded(codec, decoded)
        elif self._rules.keep is None:
            if wake_at is not None:
                self.say(f"I5: {machine} {id} has ended and wakes at {wake_at}")
        elif wake_at is None or wake_at < at + self._rules.keep:
            self.say(f"I5: {machine} {id} has ended at {at}, goes at {wake_at}")

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
                self.say(
                    f"{machine.name} {id}: at {message.at} nothing is due: {state}"
                )
        if ticket is not None:
            row = before.get((machine.name, id, ticket))
            if state is None or machine.awaited(state) != ticket or row is None:
                self.say(f"{machine.name} {id}: {message} answers what is not awaited")
            else:
                self._answers(row, message)
        if ticket is None and not isinstance(message, Due):
            self._was_sent(codec, id, message)
        result = step(machine, state, message)
        if isinstance(result, Refused):
            self.say(f"I4: {machine.name} {id}: {message} is journaled and refused")
            return state
        self.events.append(Step(machine.name, id, state, message, result.state))
        then = "" if state is None else f"{codec.phases[type(state)]} -> "
        phase = codec.phases[type(result.state)]
        self.notes.append(
            f"{machine.name} {id}: {then}{phase} by {type(message).__name__}"
        )
        return cast(Struct, result.state)

    def _was_sent(self, codec: Codec, id: str, message: Struct) -> None:
        """No message is applied more often than it was sent."""
        if codec.name in self.told:
            return  # what is told by another machine is in its outbox, exactly once
        sent = codec.name, id, text(replace(message, at=-1))
        self.sent[sent] -= 1
        if self.sent[sent] < 0:
            self.say(f"{codec.name} {id}: {message} was applied, and not sent again")

    def _answers(self, row: OutboxRow, message: Struct) -> None:
        """What is taken is what the far side answered to the key of the row."""
        key = row[4]
        said = self._far_side.answered.get(key)
        taken = replace(message, at=-1, ticket=0)
        if said is None or replace(said, at=-1, ticket=0) != taken:
            self.say(f"{key} is answered {said}, and taken as {taken}")

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
            self.say(f"{machine.name}: nothing ever moves {state}")

    def _removed(self, name: tuple[str, str]) -> None:
        seen = self.seen.pop(name)
        self.removed.add(name)
        codec = self._codecs[name[0]]
        if type(seen.state) not in codec.machine.finals:
            self.say(f"{name} was removed, and it was {seen.state}")

    def _row(
        self, author: str, key: Key, before: OutboxRow | None, row: OutboxRow
    ) -> None:
        codec = self._codecs[key[0]]
        _, _, ticket, name, deed, claim, next_at, tries, started, parked, *_ = row
        if before is not None and before[4] != deed:
            before = None  # the row of another life, gone and come in one transaction
        if before is None:
            command = codec.command(row[11], name, row[12])
            if key_of(command) != deed or command.ticket != ticket:  # type: ignore[attr-defined]
                self.say(f"{key}: the row says {deed}, its document {row[12]}")
        holder = "nobody" if claim is None else self.held_by.get(claim)
        owed = "" if before is not None else "is owed, "
        aside = "" if parked is None else ", parked"
        self.notes.append(
            f"{name} {deed}, ticket {ticket}: {owed}held by {holder}{aside}"
        )
        if claim is not None:
            if claim not in self.sessions:
                self.say(f"I6: {key} is claimed by {claim}, which is no session")
            elif self.held_by.get(claim) != author and (
                before is None or before[5] != claim
            ):
                self.say(f"I6: {author} claims {key} for the session {claim}")
            self.claimed.setdefault((key, deed), set()).add(claim)
            self._is_only_suspect(claim, row)
        elif next_at is None and parked is None:
            self.say(f"{key} is not held, and comes due never")
        if before is None:
            return
        if before[5] != claim and before[5] is not None:
            self._let_go(author, key, before[5])
        if tries < before[7]:
            # Given back unfinished in an orderly stop, or let go by a person.
            left = self.calls.get((key, deed), 0) - (before[7] - tries)
            self.calls[key, deed] = max(left, 0)
        if started < before[8]:
            self.say(f"{key} was started, and is not any more")

    def _is_only_suspect(self, claim: int, row: OutboxRow) -> None:
        """R6: of those that may have killed a process, a session holds one at a time."""
        if _is_suspect(row):
            held = [
                key
                for key, each in self.outbox.items()
                if each[5] == claim and _is_suspect(each)
            ]
            if len(held) > 1:
                self.say(f"R6: {claim} holds the suspects {held}")

    def _let_go(self, author: str, key: Key, epoch: int) -> None:
        """A claim is given back by its own process, or when its session is over."""
        if self.held_by.get(epoch) == author:
            return
        if self._lives(epoch):
            self.say(f"I3: {author} takes {key} from the live session {epoch}")

    def _lives(self, epoch: int) -> bool:
        """Whether nobody else may end this session yet."""
        process = self.held_by.get(epoch)
        return process not in self.dead and self.leases.get(epoch, 0) > self._boot()

    def _gone(self, key: Key, row: OutboxRow) -> None:
        """A row goes when it is answered, or when its state is left."""
        self.notes.append(f"{row[3]} {row[4]}, ticket {key[2]}: is owed no more")
        codec = self._codecs[key[0]]
        seen = self.seen.get(key[:2])
        if codec.commands[row[3]].outcomes:
            if (
                seen is not None
                and seen.state is not None
                and codec.machine.awaited(seen.state) == key[2]
            ):
                self.say(f"I1: {key} is gone, and {seen.state} awaits it")
        elif row[3] in codec.targets:
            # Deedbox itself delivers it: to an instance that is there, or was.
            target = self._codecs[codec.targets[row[3]]]
            id, _ = target.told(codec.command(row[11], row[3], row[12]))
            if (target.name, id) not in self.seen.keys() | self.removed:
                self.say(f"{key} was told to {target.name} {id}, which never was")
        elif (key, row[4]) not in self.returned:
            self.say(f"{key} is gone, and its handler has never returned")

    def _awaits(self, name: tuple[str, str]) -> None:
        """I1, both ways, and the key of the deed (R4)."""
        codec = self._codecs[name[0]]
        seen = self.seen.get(name)
        if seen is None or seen.state is None or seen.row[7] is not None:
            rows = [key for key in self.outbox if key[:2] == name]
            if seen is None and rows:
                self.say(f"I1: {name} is gone, and {rows} are owed")
            return
        awaited = codec.machine.awaited(seen.state)
        own: list[int] = []
        for key, row in self.outbox.items():
            if key[:2] != name or not codec.commands[row[3]].outcomes:
                continue
            own.append(key[2])
            number = getattr(seen.state, "deed_number", None)
            deed = f"{name[0]}/{name[1]}/{seen.row[4]}/{number}"
            if number is not None and row[4] != deed:
                self.say(f"R4: {key} has the key {row[4]}, its deed is {deed}")
        if own != ([] if awaited is None else [awaited]):
            self.say(f"I1: {name} awaits {awaited}, owed are {own}")

    # -- at a call

    def called(self, process: str, key: Key, command: Struct) -> None:
        """A handler begins.  R1: its row is committed and was claimed for its process."""
        codec, deed = self._codecs[key[0]], (key, key_of(command))
        mine = {
            epoch
            for epoch in self.claimed.get(deed, ())
            if self.held_by.get(epoch) == process
        }
        if not mine:
            self.say(f"I2: {process} runs {key}, which it does not hold")
        row = self.outbox.get(key)
        if row is not None and row[4] == deed[1]:
            if codec.command(row[11], row[3], row[12]) != command:
                self.say(f"R4: {key} is called with {command}, owed is {row[12]}")
            name = codec.commands[row[3]]
            older = [
                other
                for other, each in self.outbox.items()
                if other[:2] == key[:2] and other[2] < key[2] and each[3] == row[3]
            ]
            if older and not name.outcomes:
                self.say(f"R20: {key} is called before {older}")
            self._is_alone(process, key, row)
        count = self.calls[deed] = self.calls.get(deed, 0) + 1
        type_ = next(
            type_ for type_ in codec.machine.commands if type_.struct is type(command)
        )
        if type_.unrepeatable and count > 1:
            self.say(f"{key} is unrepeatable, and called {count} times")
        most = max(self._rules.deliveries, COMPANY) + 1
        if count > most and not type_.unrepeatable:
            self.say(f"R6: {key} is called {count} times")

    def _is_alone(self, process: str, key: Key, row: OutboxRow) -> None:
        """I3: the process that calls holds the row, or its session is over."""
        claim = row[5]
        if claim is None or self.held_by.get(claim) == process:
            return
        mine = [epoch for epoch, name in self.held_by.items() if name == process]
        if mine and mine[-1] in self.sessions and self._lives(mine[-1]):
            self.say(f"I3: {process} runs {key}, and {claim} holds it")

    def done(self, key: Key, command: Struct) -> None:
        """A handler returned."""
        self.returned.add((key, key_of(command)))

    # -- at the end

    def lost(self, owed: set[Deed]) -> Iterator[str]:
        """What was owed so long ago and was not seen to, with nothing gone wrong since.

        A row that is parked is seen to by a person, with those behind it (R20); a
        started one is never called again.
        """
        aside = {
            (*key[:2], row[3]) for key, row in self.outbox.items() if row[9] is not None
        }
        for key, row in self.outbox.items():
            if (key, row[4]) not in owed or row[8] or (*key[:2], row[3]) in aside:
                continue
            yield f"{key} is still owed ({row[3]}, claim {row[5]}, tries {row[7]})"


def _is_suspect(held: OutboxRow) -> bool:
    """Whether the deliveries before this one ended with the death of its process."""
    return held[10] == DIED and held[7] > COMPANY
