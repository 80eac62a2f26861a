"""What happens between two crashes of a run, step by step, on the real interpreter.

Handlers wait until the run says what becomes of them, and time stands still until it
says that it goes on, so nothing happens but what it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, assert_never

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..box import Box
from ..codec import Codec
from ..errors import InstanceParked, ReducerFailed, Rejected, SendError
from ..machine import Due, Instant, Refused
from ..step import AnyMachine, step
from ..testing import FakeClock, elapse, settle
from ..values import Instance, Owed
from ..worker import Worker
from .actions import (
    Action,
    Answers,
    Arrives,
    Begin,
    Comes,
    Crash,
    Decides,
    Does,
    Early,
    Fires,
    HandedOut,
    Late,
    Passes,
    Raises,
    Stored,
    Tell,
    Waits,
)
from .ledger import Asked, Entry, Ledger
from .promises import Promises, survives_storage
from .stored import FIRST, put

REDUCED: Final = Begin | Tell | Answers | Fires | Early | Late
"""Each of these is one step of the machine; what comes of it at once is the next `Fires`."""
PATIENCE: Final = 1_000
"""Milliseconds in which the row of a handler that raised is handed out again."""


class Parted(Exception):
    """The machine does something else than the run says."""


class NotTakenOver(Exception):
    """What an older version has stored becomes nothing in this one."""


class HandlerFailed(Exception):
    """The run says that this handler raises."""


class Life:
    """One process of a run."""

    def __init__(
        self,
        promises: Promises,
        run: Sequence[Does],
        ledger: Ledger,
        clock: FakeClock,
        box: Box,
    ) -> None:
        self._promises = promises
        self._machine = promises.machine
        self._codec = Codec(promises.machine)
        self._run = run
        self._ledger = ledger
        self._clock = clock
        self._box = box
        self._asked: dict[str, tuple[Struct, asyncio.Future[Struct]]] = {}
        self._command_of = {
            outcome: command.name
            for command in self._machine.commands
            for outcome in command.outcomes
        }
        self._with_outcomes = frozenset(self._command_of.values())
        self._unrepeatable = {
            command.name for command in self._machine.commands if command.unrepeatable
        }

    def handlers(self) -> dict[AnyMachine, object]:
        """A command with outcomes waits until the run says what becomes of it."""

        async def wait(command: Any) -> Struct:
            future: asyncio.Future[Struct] = asyncio.get_running_loop().create_future()
            self._asked[command.idempotency_key] = command, future
            return await future

        async def done(_: Any) -> None:
            return None

        names = {
            command.name: wait if command.outcomes else done
            for command in self._machine.commands
        }
        return {self._machine: SimpleNamespace(**names)}

    async def live(self, worker: Worker) -> bool:
        """Whether it ends in a crash."""
        ledger = self._ledger
        if ledger.next:
            await self._taken_over(worker)
        while ledger.next < len(self._run) and not ledger.parted:
            does = self._run[ledger.next]
            ledger.next += 1
            if isinstance(does.action, Crash):
                ledger.at = self._clock.wall()
                return True
            try:
                await self._do(worker, does.action)
                await settle(worker)
                self._look(does)
            except (ReducerFailed, NotTakenOver) as problem:
                self._fell(str(problem))
            except (Parted, SendError) as problem:
                ledger.parted = f"at step {ledger.next}: {problem}"
            ledger.broke |= self._promises.broken
        if not ledger.parted:
            ledger.raised = ledger.raised or ledger.fallen
        return False

    async def _taken_over(self, worker: Worker) -> None:
        """The crash is the step before; what it left is seen by the one who comes next."""
        await settle(worker)
        try:
            self._look(self._run[self._ledger.next - 1])
        except Parted as problem:
            self._ledger.parted = f"at step {self._ledger.next}: {problem}"

    def _look(self, does: Does) -> None:
        """Enter in the ledger what the step made, and part if that is in another phase."""
        ledger = self._ledger
        try:
            found = self._instance()
        except InstanceParked as parked:
            found, ledger.fallen = None, str(parked)
        ledger.pending += self._revisions(found)
        if ledger.pending and isinstance(does.action, Passes | Waits):
            ledger.entries.append(ledger.pending[-1])
            ledger.pending.clear()
        elif ledger.pending and isinstance(does.action, REDUCED):
            ledger.entries.append(ledger.pending.pop(0))
        elif isinstance(does.action, Stored) and found is not None:
            document = msgspec.json.encode(found.state).decode()
            ledger.entries.append(self._entry(found, document, found.at, found.wake_at))
        elif ledger.fallen and isinstance(does.action, REDUCED | Stored):
            self._fell(ledger.fallen)
            return
        elif ledger.entries:
            last = ledger.entries[-1]
            same = self._entry(found, last.document, last.at, last.wake_at)
            ledger.entries.append(same)
        else:
            raise Parted("there is no instance")
        for row in () if found is None else found.owed:
            if row.parked and row.parked == row.error:
                self._fell(row.parked)
        phase = self._phase(ledger.entries[-1])
        if phase != does.phase:
            raise Parted(f"it is {phase}, not {does.phase}")

    def _revisions(self, found: Instance[Any] | None) -> list[Entry]:
        """What the instance has become since it was last looked at, step after step."""
        ledger, machine = self._ledger, self._machine
        known = [*ledger.entries, *ledger.pending][-1:]
        state: Any = self._codec.decode_state(known[0].document) if known else None
        fresh: list[Entry] = []
        for row in self._box.history(machine, ledger.id):
            if row.rev <= ledger.rev or row.base:
                continue
            ledger.rev = row.rev
            if found is not None and row.rev == found.rev:
                state = found.state
            elif self._promises.slipped is not None:
                state = self._promises.slipped
            else:
                result = step(machine, state, row.value)
                state = state if isinstance(result, Refused) else result.state
            self._promises.slipped = None
            if not survives_storage(state):
                break
            document = msgspec.json.encode(state).decode()
            fresh.append(self._entry(found, document, row.at, machine.wake(state)))
        return fresh

    def _entry(
        self, found: Instance[Any] | None, document: str, at: int, wake: int | None
    ) -> Entry:
        owed = () if found is None else tuple(self._coming(found))
        counts = dict(self._ledger.counts)
        return Entry(document, at, self._clock.wall(), wake, owed, counts)

    def _phase(self, entry: Entry) -> str:
        return self._codec.phases[type(self._codec.decode_state(entry.document))]

    def _fell(self, words: str) -> None:
        """The reducer raised: the end of the run, or where it parts."""
        ledger = self._ledger
        if ledger.next == len(self._run):
            ledger.raised = words
        else:
            ledger.parted = f"at step {ledger.next}: {words}"

    async def _do(self, worker: Worker, action: Action) -> None:
        clock = self._clock
        if self._ledger.pending or self._ledger.fallen:
            if isinstance(action, Fires):
                return
            raise Parted("a deadline has fired")
        match action:
            case Begin(message):
                self._ledger.id = self._codec.id_of(message)
                await self._send(worker, message)
            case Tell(message):
                await self._send(worker, message)
            case HandedOut(asks):
                await self._handed_out(worker, asks)
            case Decides(answer, counts):
                self._decide(self._key(), answer, counts)
            case Arrives(answer, deed, counts):
                self._decide(self._deed(answer, deed), answer, counts)
            case Answers(answer):
                key = self._key()
                self._take(key).set_result(answer or self._decision(key))
            case Raises():
                self._take(self._key()).set_exception(HandlerFailed())
            case Comes(field, after):
                clock.jump(max(self._instant(field) + after - clock.wall(), 0))
            case Passes(milliseconds):
                await self._pass(worker, clock.wall() + milliseconds)
            case Waits(milliseconds):
                clock.advance(milliseconds)
                self._box.writer().poke()
            case Fires():
                found = self._instance()
                if found is None or found.wake_at is None:
                    raise Parted("there is no deadline")
                clock.jump(max(found.wake_at - clock.wall(), 0))
                self._box.writer().poke()
            case Early():
                await self._slip(worker, Due(Instant(clock.wall())))
            case Late(answer):
                await self._slip(worker, replace(answer, at=clock.wall()))
            case Stored():
                await self._begun_before(action)
            case Crash():
                raise AssertionError("a crash ends a life")
            case _:
                assert_never(action)

    async def _begun_before(self, stored: Stored) -> None:
        """An older process has left a row; this one brings it to its own version."""
        ledger = self._ledger
        put(self._box.store, self._machine.name, stored, self._clock.wall())
        ledger.id, ledger.rev = stored.id, FIRST
        ledger.counts |= stored.counts
        for asks in stored.asked:
            arguments = {k: v for k, v in asks.document.items() if k != "ticket"}
            key = str(arguments["idempotency_key"])
            ledger.asked.append(Asked(key, asks.command, arguments))
        try:
            await asyncio.to_thread(self._box.migrate, self._machine)
        except Exception as problem:  # the upcaster's own, of which the run may be
            raise NotTakenOver(f"{type(problem).__name__}: {problem}") from problem

    async def _pass(self, worker: Worker, end: int) -> None:
        """Time goes on to `end`, and what is due before it fires on time."""
        found = self._instance()
        while found is not None and found.wake_at is not None and found.wake_at < end:
            self._clock.jump(found.wake_at - self._clock.wall())
            self._box.writer().poke()
            await settle(worker)
            found = self._instance()
        self._clock.jump(end - self._clock.wall())

    async def _send(self, worker: Worker, message: Struct) -> None:
        """What is rejected changes nothing, and the phase will say so."""
        try:
            if isinstance(message, self._machine.start_type):
                await worker.start(message)
            else:
                await worker.send(self._machine, self._ledger.id, message)
        except Rejected:
            return

    async def _slip(self, worker: Worker, message: Struct) -> None:
        """Hand the reducer a message that nobody can send, in the place of a start."""
        self._promises.slip = message
        first = self._run[0].action
        assert isinstance(first, Begin)
        await self._send(worker, first.message)

    def _instance(self) -> Instance[Any] | None:
        """What is stored; every deed that is owed is entered in the ledger."""
        found = self._box.get(self._machine, self._ledger.id)
        for owed in () if found is None else self._awaited(found):
            self._enter(owed)
        return found

    def _enter(self, owed: Owed) -> None:
        ledger, key = self._ledger, owed.idempotency_key
        arguments: dict[str, Any] = msgspec.json.decode(owed.arguments)
        arguments.pop("ticket", None)
        known = next((one for one in ledger.asked if one.key == key), None)
        if known is None:
            ledger.asked.append(Asked(key, owed.command, arguments))
            if not key.startswith(f"{self._machine.name}/{ledger.id}/"):
                ledger.broke.add("keys_are_own")
        elif (known.command, known.arguments) != (owed.command, arguments):
            ledger.broke.add("same_arguments")

    def _awaited(self, found: Instance[Any]) -> list[Owed]:
        """The rows that are owed an answer."""
        return [row for row in found.owed if row.command in self._with_outcomes]

    def _coming(self, found: Instance[Any]) -> Iterator[str]:
        """The commands of those rows, but for what is never handed out again."""
        for row in self._awaited(found):
            once = row.command in self._unrepeatable
            if not (once and row.deliveries and not row.claimed):
                yield row.command

    def _instant(self, field: str) -> int:
        found = self._instance()
        value = None if found is None else getattr(found.state, field, None)
        if not isinstance(value, int):
            raise Parted(f"it has no {field}")
        return value

    # ---- handlers and the far side ---------------------------------------------------

    def _key(self) -> str:
        """The key of the issue that the state awaits."""
        found = self._instance()
        for owed in () if found is None else self._awaited(found):
            return owed.idempotency_key
        raise Parted("nothing is awaited")

    def _take(self, key: str) -> asyncio.Future[Struct]:
        _, future = self._asked.pop(key, (None, None))
        if future is None or future.done():
            raise Parted("no handler is at work")
        return future

    async def _handed_out(self, worker: Worker, asks: Mapping[str, object]) -> None:
        key = self._key()
        left = PATIENCE
        await settle(worker)
        while key not in self._asked or self._asked[key][1].done():
            wait = self._clock.next_deadline()
            if wait is None or left <= 0:
                raise Parted("the command is not handed out")
            await elapse(self._clock, max(wait, 1), worker)
            left -= max(wait, 1)
        command = self._asked[key][0]
        for name, value in asks.items():
            if getattr(command, name) != value:
                raise Parted(f"{name} is {getattr(command, name)!r}, not {value!r}")

    def _decision(self, key: str) -> Struct:
        number = self._ledger.decided.get(key)
        if number is None:
            raise Parted("the far side has not decided")
        decision = self._run[number].action
        assert isinstance(decision, Decides | Arrives)
        return decision.answer

    def _decide(self, key: str, answer: Struct, counts: bool) -> None:
        """One key, one answer: a deed that was decided before stays as it was."""
        ledger, name = self._ledger, type(answer).__name__
        if key not in ledger.decided:
            ledger.decided[key] = ledger.next - 1
            if counts:
                ledger.counts[name] = ledger.counts.get(name, 0) + 1

    def _deed(self, answer: Struct, number: int) -> str:
        """The key of the n-th deed, or of the oldest forgotten one that may end so."""
        found = self._instance()
        owed = {row.idempotency_key for row in found.owed} if found else set[str]()
        command = self._command_of[type(answer)]
        for n, one in enumerate(self._ledger.asked, 1):
            undecided = one.key not in self._ledger.decided and one.key not in owed
            if one.command == command and (n == number if number else undecided):
                return one.key
        raise Parted(f"there is no such deed of {command}")
