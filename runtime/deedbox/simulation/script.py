"""The script of a run: who sends what, and what must be so when all has gone quiet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from ..codec import text
from ..errors import DeedboxError, Rejected, SendError, Unsettled
from ..step import AnyMachine
from ..testing import Laws
from ..values import HOUR, Receipt
from .backing import Backing, InMemory
from .far_side import AnyAnswer, Character
from .happened import Run
from .loop import Deadlock, Endless
from .plan import Plan, Sending
from .process import Process, resolve
from .world import Tamper, World

QUIET_AFTER: Final = 900_000
"""Milliseconds without faults after which nothing may be owed: every ladder is over."""
DRAINING: Final = 600
"""Operations that a machine without an end may use up in the quiet part of a run."""


class Script:
    """Senders and the end, over a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._answers: dict[tuple[str, str, str], object] = {}

    # -- senders

    async def _send(self, sending: Sending) -> None:
        """One sender; with a `message_id` it asks until it has an answer."""
        left = 1 if sending.message_id is None else 1 + sending.copies
        for _ in range(40):
            answer = await self._sent(sending)
            said = answer if isinstance(answer, Receipt | None) else repr(answer)
            self.world.note("sender", f"{sending.message} to {sending.id} hears {said}")
            if sending.message_id is None:
                return
            if isinstance(answer, Receipt | SendError):
                self._compare(sending, answer)
                left -= 1
                if left == 0:
                    return
            await self.world.sleep(self.world.random.choice((0, 40, 3_000)))

    async def _sent(self, sending: Sending) -> object:
        """The answer, or None when the process died before it gave one."""
        while not (
            open_ := [one for one in self.world.living if one.writer is not None]
        ):
            await self.world.sleep(100)
        process = self.world.random.choice(open_)
        answer: asyncio.Future[object] = self.world.loop.create_future()
        process.waited_for.append(answer)
        self.world.spawn(self._ask(process, sending, answer), process.home)
        said = await answer
        process.waited_for.remove(answer)
        return said

    async def _ask(
        self, process: Process, sending: Sending, answer: asyncio.Future[object]
    ) -> None:
        machine = self.world.codecs[sending.machine].machine
        message, message_id = sending.message, sending.message_id
        sent = sending.machine, sending.id, text(replace(message, at=-1))
        self.world.record.sent[sent] += 1
        said: object
        try:
            if type(message) is machine.start_type:
                said = await process.worker.start(message, message_id=message_id)
            else:
                said = await process.worker.send(
                    machine, sending.id, message, message_id=message_id
                )
        except DeedboxError as problem:
            said = problem
        if isinstance(said, Receipt) and said.answer == "applied":
            self._is_committed(sending, said)
        elif not isinstance(said, Unsettled):
            self.world.record.sent[sent] -= 1
            if (
                self.world.record.sent[sent] < 0
                and sending.machine not in self.world.record.told
            ):
                self.world.break_(
                    f"R2: {message} was applied, and its sender hears {said!r}"
                )
        if not answer.done():
            answer.set_result(said)

    def _is_committed(self, sending: Sending, receipt: Receipt) -> None:
        """Who hears that it is applied can read it."""
        name = sending.machine, sending.id
        seen = self.world.record.seen.get(name)
        if name in self.world.record.removed:
            return
        if seen is None or seen.row[1] < receipt.rev:
            self.world.break_(f"R1: {name} hears {receipt}, committed is {seen}")

    def _compare(self, sending: Sending, answer: Receipt | SendError) -> None:
        """R14: the first answer to a message id is the answer."""
        name = sending.machine, sending.id
        if name in self.world.record.removed or not isinstance(
            answer, Receipt | Rejected
        ):
            return
        said = answer if isinstance(answer, Receipt) else str(answer)
        first = self._answers.setdefault((*name, sending.message_id or ""), said)
        if first != said:
            self.world.break_(
                f"R14: {sending.message_id} heard {first}, and now {said}"
            )

    # -- the script of a run

    async def main(self) -> None:
        self.world.over = self.world.loop.create_future()
        script = self.world.spawn(self._script())
        script.add_done_callback(self._ended)
        await self.world.over

    def _ended(self, script: asyncio.Task[None]) -> None:
        if not script.cancelled() and (problem := script.exception()) is not None:
            self.world.break_(f"the script of the run fails: {problem!r}")
        if self.world.over is not None:
            resolve(self.world.over)

    async def _script(self) -> None:
        senders: list[asyncio.Task[None]] = []
        for _ in range(self.world.plan.processes):
            self.world.open()
        for sending in self.world.plan.sendings:
            await self.world.sleep(self._gap(sending.after))
            senders.append(self.world.spawn(self._send(sending)))
        for _ in range(60):
            if not self.world.troubles and not self.world.call_troubles:
                break
            await self.world.sleep(1_000)
        await self._quiet_down(senders)
        laws = Laws(self.world.machines, self.world.plan.rules)
        for said in laws.broken(self.world.processes[-1].store):
            self.world.break_(said)

    def _gap(self, after: int | None) -> int:
        if after is not None:
            return after
        now = self.world.clock.wall()
        wakes = [
            seen.row[6] - now
            for seen in self.world.record.seen.values()
            if seen.row[6] is not None
        ]
        soonest = min((wake for wake in wakes if 0 <= wake < HOUR), default=0)
        return max(soonest + self.world.random.choice((-1, 0, 1)), 0)

    async def _quiet_down(self, senders: list[asyncio.Task[None]]) -> None:
        """No more faults, one fresh process: what was owed is seen to."""
        self.world.quiet = True
        self.world.note("the world", "no more faults")
        jumps = abs(self.world.wall_ahead)
        for process in self.world.living:
            process.home.stopped_until = process.writing.stopped_until = 0
            self.world.kill(process, reopens=False)
        owed = {(key, row[4]) for key, row in self.world.record.outbox.items()}
        self.world.open()
        begun = self.world.operations
        until = self.world.loop.now + QUIET_AFTER + jumps
        while self.world.loop.now < until and self.world.operations < begun + DRAINING:
            await self.world.sleep(5_000)
        if not all(sender.done() for sender in senders):
            self.world.break_("a sender has no answer, long after the last fault")
        if self.world.loop.now >= until:
            for said in self.world.watch.lost(owed):
                self.world.break_(said)
            await self._is_quiet()

    async def _is_quiet(self) -> None:
        """With nothing due and nothing at work, nothing is done.

        But for one look for each machine: a deadline that was left is known as long as
        nobody has looked.
        """
        process = self.world.processes[-1]
        if (
            self.world.record.outbox
            or process.dead
            or process.writer is None
            or not process.writer.quiet
        ):
            return
        now = self.world.clock.wall()
        wakes = [
            seen.row[6] - now
            for seen in self.world.record.seen.values()
            if seen.row[6] is not None and seen.row[7] is None
        ]
        span = min([*wakes, HOUR]) - 1
        before = self.world.transactions
        if span > 0:
            await self.world.sleep(span)
            done = self.world.transactions - before
            if done > len(self.world.machines):
                self.world.break_(f"{done} transactions, and nothing is due")


def simulate(
    plan: Plan,
    machines: Sequence[AnyMachine],
    character: Character | None = None,
    tamper: Tamper | None = None,
    backing: Backing | None = None,
) -> Run:
    """Run a plan to its end, or to the first law that does not hold."""
    world = World(
        plan, machines, character or AnyAnswer(), tamper, backing or InMemory()
    )
    log = logging.getLogger("deedbox")
    was_disabled, log.disabled = log.disabled, True
    try:
        with asyncio.Runner(loop_factory=lambda: world.loop) as runner:
            try:
                runner.run(Script(world).main())
            except (Deadlock, Endless) as problem:
                world.break_(f"the run does not end: {problem!r}")
            run = world.result()
            world.closed = world.loop.thawed = True
    finally:
        log.disabled = was_disabled
    return run
