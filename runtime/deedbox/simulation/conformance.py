"""Whether a store does what the operations say: held against the one in memory.

A script of random transactions is drawn from a seed and performed by both.  Every
answer, every refusal and, after each transaction, every row must be equal.  The
operations are those that the protocol could yield, in orders in which it never does;
some of them conflict, some transactions are rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, cast

from ..clock import Clock
from ..codec import Codec
from ..operations import (
    DIED,
    FOREVER,
    AnyOperation,
    Begin,
    Behind,
    Claim,
    Commit,
    Conflict,
    Enter,
    Everything,
    Fence,
    Gone,
    History,
    InstanceRow,
    Journal,
    Key,
    ListDue,
    Load,
    Look,
    Mark,
    OutboxRow,
    Owe,
    Owed,
    Owing,
    Page,
    Park,
    Postpone,
    Program,
    Quarantine,
    Reap,
    Redrive,
    Release,
    Remember,
    Remove,
    Rest,
    Rollback,
    Save,
    Seen,
    Sessions,
    Settle,
    Still,
    Store,
    Take,
    Trim,
    Unstorable,
    Withdraw,
)
from ..step import AnyMachine
from ..stores.memory import MemoryStore
from ..testing import FakeClock, picture

OpenStore = Callable[[Clock], Store]
"""Opens one store, as often as it is called: at first it holds nothing."""

IDS: tuple[str, ...] = ("a", "b", "ä", 'with "quotes"', "d'accord", "Z")
LEASE: Final = 10_000
TRANSACTIONS: Final = 30
STEPS: Final = 6


def differences(
    open_store: OpenStore, machines: Sequence[AnyMachine], seed: int
) -> list[str]:
    """Where the store and the one in memory part, in a script drawn from the seed."""
    clock = FakeClock()
    stores = [open_store(clock), open_store(clock)]
    reference, random = MemoryStore(clock), Random(f"script {seed}")
    said: list[str] = []
    try:
        for each in (*stores, reference):
            each.register(machines)
        scripts = [_Script(reference, machines, clock, random, said) for _ in stores]
        for number in range(TRANSACTIONS):
            at = random.randrange(len(stores))
            stores[at].run(scripts[at].transaction())
            for store in stores:
                rows, expected = picture(store, machines), picture(reference, machines)
                if rows != expected:
                    said.append(f"after transaction {number}: {rows}, not {expected}")
            if said:
                break
            clock.advance(random.choice((0, 1, 700, 6_000)))
        return said
    finally:
        for store in stores:
            store.close()


class _Script:
    """One process: draws operations by what the reference holds, compares the answers."""

    def __init__(
        self,
        reference: MemoryStore,
        machines: Sequence[AnyMachine],
        clock: FakeClock,
        random: Random,
        said: list[str],
    ) -> None:
        self.random = random
        self.said = said
        self._reference = reference
        self._codecs = [Codec(machine) for machine in machines]
        self._clock = clock
        self._session: tuple[int, int] | None = None

    def transaction(self) -> Program[None]:
        """Prove a session, some steps, then an end."""
        random = self.random
        if self._session is None:
            yield from self._enter()
        yield from self._both(Begin())
        if self._session is None:
            return
        epoch, batch = self._session
        proved = yield from self._both(Fence(epoch, batch, LEASE))
        if proved is None:
            self._session = None
            yield from self._both(Rollback())
            return
        batch += 1
        for _ in range(random.randrange(STEPS)):
            refused = yield from self._refused(self._operation(epoch))
            if refused:
                yield from self._both(Rollback())
                return
        if random.random() < 0.2:
            yield from self._both(Rollback())
            return
        if random.random() < 0.3:
            yield from self._both(Rest(epoch))
        over = random.random() < 0.05
        if over:
            # The last that a process does: what it holds of the kernel is gone then.
            yield from self._both(Release(epoch, self._clock.wall()))
        yield from self._both(Commit())
        self._session = None if over else (epoch, batch)
        yield from self._both(Settle(epoch))

    def _enter(self) -> Program[None]:
        """A session of its own; a transaction that enters one does nothing else."""
        yield from self._both(Begin())
        epoch = yield from self._both(Enter())
        yield from self._both(Commit())
        self._session = cast(int, epoch), 0

    def _both(self, operation: AnyOperation) -> Program[object]:
        answers: list[object] = []
        yield from self._performed(operation, answers)
        return answers[0]

    def _refused(self, operation: AnyOperation) -> Program[bool]:
        answers: list[object] = []
        yield from self._performed(operation, answers)
        return isinstance(answers[0], Exception)

    def _performed(
        self, operation: AnyOperation, answers: list[object]
    ) -> Program[None]:
        try:
            expected: object = self._reference.perform(operation)
        except (Conflict, Unstorable) as problem:
            expected = problem
        try:
            answer: object = yield operation
        except (Conflict, Unstorable) as problem:
            answer = problem
        answers.append(expected)
        if _plain(operation, answer) != _plain(operation, expected):
            self.said.append(f"{operation}\n  is answered {answer}\n  not {expected}")

    # -- what to do next

    def _operation(self, epoch: int) -> AnyOperation:
        choices = list(self._choices(epoch))
        return self.random.choice(choices)

    def _choices(self, epoch: int) -> Iterator[AnyOperation]:
        random, now = self.random, self._clock.wall()
        codec = random.choice(self._codecs)
        name = codec.name
        ids: list[str] = list(random.sample(IDS, random.randrange(1, 4)))
        there = sorted(self._reference.instances[name].rows.values())
        owed = sorted(self._reference.outbox.rows)
        keys = random.sample(owed, min(len(owed), random.randrange(3)))
        yield Load(name, sorted(ids))
        yield self._save(codec, there)
        yield self._save(codec, there)
        yield ListDue(name, codec.version, now, random.choice((1, 2, 100)))
        yield Page(name, random.choice(("", *IDS)), None, None, random.choice((1, 3)))
        yield Page(name, "", random.choice(list(codec.phases.values())), now, 9)
        yield Owing(name, ids)
        yield Gone(name)
        yield History(name, ids[0])
        yield Owed(name, ids[0])
        yield Everything()
        yield Sessions()
        yield Reap(epoch, now, random.choice((1, 10)))
        yield Redrive(name, ids[0], now)
        yield Journal([self._step(codec, id) for id in ids])
        yield Trim([(name, id, random.randrange(4), now - 5_000) for id in ids])
        messages = [(name, id, random.choice("mn")) for id in ids]
        yield Seen(messages)
        yield Remember([(*message, "hash", now, "{}") for message in messages])
        if there:
            one = random.choice(there)
            yield Park(name, [(one[0], "its reason")])
            rev = one[1] + random.choice((0, 0, 1))
            yield Remove(name, [(one[0], rev)], one[3] + random.choice((-3, 0, 5)))
        yield from self._on_outbox(epoch, codec, keys, ids)
        known = [(each.name, each.version) for each in self._codecs]
        yield Look(epoch, now, random.choice((-1, now)), known)

    def _on_outbox(
        self, epoch: int, codec: Codec, keys: list[Key], ids: list[str]
    ) -> Iterator[AnyOperation]:
        random, now = self.random, self._clock.wall()
        commands = sorted(codec.commands)
        if not commands:
            return
        rows = [self._owed(codec, random.choice(commands), id, epoch) for id in ids]
        yield Owe(rows)
        yield Owe(rows)
        yield Behind([(codec.name, id, random.choice(commands)) for id in ids])
        yield Take(epoch, keys)
        yield Still(epoch, keys)
        yield Mark(epoch, keys)
        yield Withdraw(keys)
        parked = random.choice((None, "its reason"))
        yield Postpone(epoch, [(key, "its error", now + 900, parked) for key in keys])
        known = [(codec.name, each, codec.version) for each in commands]
        yield Quarantine(epoch, now, random.choice((2, 3, FOREVER)), known)
        yield Claim(
            epoch,
            now,
            [
                (codec.name, each, codec.version, random.randrange(1, 3))
                for each in commands
            ],
        )

    def _save(self, codec: Codec, there: list[InstanceRow]) -> Save:
        random = self.random
        inserts = [self._row(codec, random.choice(IDS), 1)]
        updates: list[tuple[InstanceRow, int]] = []
        if there:
            one = random.choice(there)
            stored = one[1] + random.choice((0, 0, 0, 1))
            updates.append((self._row(codec, one[0], stored + 1), stored))
            if random.random() < 0.7:
                inserts = []
        return Save(codec.name, inserts, updates)

    def _row(self, codec: Codec, id: str, rev: int) -> InstanceRow:
        random, now = self.random, self._clock.wall()
        phase = random.choice(list(codec.phases.values()))
        wake = random.choice((None, now - 1, now, now + 5_000))
        version = codec.version + random.choice((0, 0, 0, 1))
        return id, rev, phase, now, now - 9, version, wake, None, '{"text":"ä"}'

    def _step(self, codec: Codec, id: str) -> tuple[str, str, int, int, str, int, str]:
        kind = self.random.choice(("step", "step", "base"))
        rev = self.random.randrange(1, 5)
        return codec.name, id, rev, self._clock.wall(), kind, codec.version, "{}"

    def _owed(self, codec: Codec, command: str, id: str, epoch: int) -> OutboxRow:
        random, now = self.random, self._clock.wall()
        ticket, held = random.randrange(1, 6), random.random() < 0.4
        return (
            codec.name,
            id,
            ticket,
            command,
            f"{codec.name}/{id}/{ticket}",
            epoch if held else None,
            # Each row comes due at an instant of its own: equal ones have no order.
            None if held else now + 17 * ticket + 101 * IDS.index(id) - 300,
            random.choice((1, 2, 3)) if held else random.choice((0, 2)),
            0,
            None,
            random.choice((None, "its error", DIED)),
            codec.version,
            "{}",
        )


UNANSWERED: Final = (
    Begin | Commit | Rollback | Save | Remove | Park | Withdraw | Owe | Journal
    | Remember | Trim | Postpone | Rest
)  # fmt: skip
"""Operations of which the protocol asks only that they are done, or refused."""


def _plain(operation: AnyOperation, answer: object) -> object:
    """An answer as it is compared: what has no order is sorted, a refusal is its kind."""
    match answer:
        case Conflict() | Unstorable():
            return "refused"
        case _ if isinstance(operation, UNANSWERED):
            return None
        case list():
            return sorted(cast("list[tuple[object, ...]]", answer), key=repr)
        case _:
            return answer
