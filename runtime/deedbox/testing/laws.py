"""The invariants of the protocol, over everything that a store holds.

`picture` reads a whole store in one transaction; `Laws` says which of I1 to I8 does not
hold in it, and `fold` what state a journal leads to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..codec import Codec
from ..documents import text
from ..machine import Refused
from ..operations import (
    Everything,
    History,
    InstanceRow,
    JournalRow,
    OutboxRow,
    Page,
    Program,
    Sessions,
    Store,
    ask,
)
from ..step import AnyMachine, step
from ..values import Rules
from ..worker import Worker


class Picture(Struct):
    """All rows of a store, at one moment."""

    instances: dict[str, list[InstanceRow]]
    journal: dict[tuple[str, str], list[JournalRow]]
    outbox: list[OutboxRow]
    sessions: set[int]


def _picture(codecs: Iterable[Codec]) -> Program[Picture]:
    picture = Picture({}, {}, [], set())
    for codec in codecs:
        rows = yield from ask(Page(codec.name, "", None, None, 1_000_000))
        picture.instances[codec.name] = rows
        for row in rows:
            history = yield from ask(History(codec.name, row[0]))
            picture.journal[codec.name, row[0]] = history
    picture.outbox = sorted((yield from ask(Everything())), key=lambda row: row[:3])
    picture.sessions = yield from ask(Sessions())
    return picture


def picture(store: Store, machines: Iterable[AnyMachine]) -> Picture:
    """What a store holds now, in the order of its keys."""
    return store.read(_picture([Codec(machine) for machine in machines]))


class Laws:
    """The invariants of the protocol, over everything that a store holds.

    I1  an awaited ticket has its row, an awaited row its ticket, any row its instance
    I2  no handler runs whose row is not committed as held by its process
    I3  a row is run by one live process at most
    I4  `rev` is the number of steps in the journal, and folding them gives the state
    I5  `wake_at` is the smallest deadline of the state; of a final, its removal
    I6  a claim is null or an existing session
    I7  the logical time of an instance never falls
    I8  one idempotency key, one deed: always the same command and arguments

    I8 looks back over all pictures that this object has seen.
    """

    def __init__(self, machines: Iterable[AnyMachine], rules: Rules) -> None:
        self._codecs = {machine.name: Codec(machine) for machine in machines}
        self._rules = rules
        self._deeds: dict[str, tuple[str, str]] = {}

    def broken(self, store: Store, *workers: Worker) -> list[str]:
        """What does not hold, in words; an empty list when all is well."""
        picture = store.read(_picture(self._codecs.values()))
        said = [*self._rows(picture), *self._running(picture, workers)]
        for name, rows in picture.instances.items():
            for row in rows:
                said.extend(self._instance(self._codecs[name], row, picture))
        return said

    def _rows(self, picture: Picture) -> Iterable[str]:
        phases = {
            (name, row[0]): row
            for name, rows in picture.instances.items()
            for row in rows
        }
        for row in picture.outbox:
            machine, id, ticket, name, key, claim, *_, version, doc = row
            codec = self._codecs[machine]
            if claim is not None and claim not in picture.sessions:
                yield f"I6: {row[:3]} is claimed by {claim}, which is no session"
            if version > codec.version:
                continue
            command = codec.command(version, name, doc)
            deed = name, text(replace(command, ticket=0))
            if self._deeds.setdefault(key, deed) != deed:
                yield f"I8: {key} was {self._deeds[key]}, now it is {deed}"
            instance = phases.get((machine, id))
            if instance is None:
                yield f"I1: {row[:3]} is owed, and {machine} {id} is gone"
                continue
            if not codec.commands[name].outcomes:
                continue
            if instance[7] is not None or instance[5] != codec.version:
                continue
            state = codec.decode_state(instance[8])
            if codec.machine.awaited(state) != ticket:
                yield f"I1: {row[:3]} is owed, and {instance[2]} does not await it"

    def _instance(
        self, codec: Codec, row: InstanceRow, picture: Picture
    ) -> Iterable[str]:
        id, rev, _, at, _, version, wake_at, parked, doc = row
        if parked is not None or version != codec.version:
            return
        state = codec.decode_state(doc)
        ticket = codec.machine.awaited(state)
        tickets = {key[2] for key in picture.outbox if key[:2] == (codec.name, id)}
        if ticket is not None and ticket not in tickets:
            yield f"I1: {id} awaits {ticket}, of which there is no row"
        if type(state) not in codec.machine.finals:
            if wake_at != codec.machine.wake(state):
                yield f"I5: {id} wakes at {wake_at}, not {codec.machine.wake(state)}"
        elif self._rules.keep is not None and (wake_at or 0) < at + self._rules.keep:
            yield f"I5: {id} has ended at {at} and is removed at {wake_at}"
        journal = picture.journal[codec.name, id]
        steps = [entry for entry in journal if entry[4] == "step"]
        times = [entry[3] for entry in steps]
        if times != sorted(times) or (times and times[-1] != at):
            yield f"I7: the times of {id} are {times}, then {at}"
        # A migration is a revision too: its base stands without a step.
        revs = sorted({entry[2] for entry in journal})
        if revs != list(range(rev - len(revs) + 1, rev + 1)):
            yield f"I4: {id} has rev {rev} and the steps {revs}"
        elif (folded := fold(codec, journal)) != doc:
            yield f"I4: the journal of {id} folds to {folded}, stored is {doc}"

    def _running(self, picture: Picture, workers: Iterable[Worker]) -> Iterable[str]:
        claims = {row[:3]: row[5] for row in picture.outbox}
        seen: set[tuple[str, str, int]] = set()
        for worker in workers:
            for key in worker.running:
                if claims.get(key) != worker.epoch:
                    yield f"I2: {key} runs, and its claim is {claims.get(key)}"
                if key in seen:
                    yield f"I3: {key} runs twice"
                seen.add(key)


def fold(codec: Codec, journal: list[JournalRow]) -> str | None:
    """The state that a journal leads to, from its newest base or its start."""
    bases = [number for number, row in enumerate(journal) if row[4] == "base"]
    state: Any = None
    if bases:
        base = journal[bases[-1]]
        rev = base[2]
        state = codec.decode_state(base[6])
        journal = [row for row in journal if row[2] > rev]
    for row in journal:
        message = codec.journaled(row[6])
        if state is None and type(message) is not codec.machine.start_type:
            return None
        result = step(codec.machine, state, message)
        if isinstance(result, Refused):
            return None
        state = result.state
    return None if state is None else text(state)
