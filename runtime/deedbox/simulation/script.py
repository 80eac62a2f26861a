"""The script of a run: who sends what, and what must be so when all has gone quiet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from ..step import AnyMachine
from ..testing import Laws
from ..values import HOUR
from .backing import Backing, InMemory
from .beside import Beside
from .far_side import AnyAnswer, Character
from .happened import Run
from .loop import Deadlock, Endless
from .plan import Plan
from .process import resolve
from .senders import Senders
from .world import Tamper, World

QUIET_AFTER: Final = 900_000
"""Milliseconds without faults after which nothing may be owed: every ladder is over."""
DRAINING: Final = 600
"""Operations that a machine without an end may use up in the quiet part of a run."""


class Script:
    """Senders and the end, over a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.senders = Senders(world)
        self.beside = Beside(world, self.senders)

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
        others = self.world.spawn(self._others())
        for sending in self.world.plan.sendings:
            await self.world.sleep(self._gap(sending.after))
            senders.append(self.world.spawn(self.senders.send(sending)))
        for _ in range(60):
            if not self.world.mishaps.left and others.done():
                break
            await self.world.sleep(1_000)
        await self._quiet_down(senders, others)
        laws = Laws(self.world.machines, self.world.plan.rules)
        for said in laws.broken(self.world.processes[-1].store):
            self.world.break_(said)

    async def _others(self) -> None:
        for other in self.world.plan.others:
            await self.world.sleep(other.after)
            await self.beside.do(other)

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

    async def _quiet_down(
        self, senders: list[asyncio.Task[None]], others: asyncio.Task[None]
    ) -> None:
        """No more faults, one fresh process: what was owed is seen to."""
        self.world.mishaps.quiet = True
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
        is_over = self.world.loop.now >= until
        # Cut short by a machine without an end, what is beside may not have had its turn.
        asking = [*senders, others] if is_over else senders
        if not all(task.done() for task in asking):
            self.world.break_("a sender has no answer, long after the last fault")
        if is_over:
            await self._redriven()
            for said in self.world.watch.lost(owed):
                self.world.break_(said)
            await self._is_quiet()

    async def _redriven(self) -> None:
        """What is parked in the end is redriven once more, and goes out (R6)."""
        if any(row[9] is not None for row in self.world.record.outbox.values()):
            await self.beside.redrive()
            await self.world.sleep(QUIET_AFTER)

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
