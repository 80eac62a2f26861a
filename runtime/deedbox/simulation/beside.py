"""What is done beside the messages that are sent one by one.

A transaction of the caller's, which may be rolled back; starts in bulk; and a person
who redrives what is parked.  A rolled-back transaction leaves every row as it was, and
what was sent in it is sent again; what was redriven is parked no more, and goes out
under the key that it has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from typing import assert_never

from ..errors import SendError, StoreError
from ..transaction import Transaction
from .guests import Killed
from .plan import Many, Other, Redriving, Sending, Within
from .process import Process, resolve
from .senders import Senders
from .world import World


class ChangedMindError(Exception):
    """The caller's block raises at its end."""


class Beside:
    """Carries out the others of a plan."""

    def __init__(self, world: World, senders: Senders) -> None:
        self._world = world
        self._senders = senders

    async def do(self, other: Other) -> None:
        match other:
            case Within():
                await self._within(other)
            case Many():
                await self._many(other)
            case Redriving():
                await self.redrive()
            case _:
                assert_never(other)

    # -- a transaction of the caller's

    async def _within(self, within: Within) -> None:
        world = self._world
        process = await self._senders.living()
        await world.free()
        if process.dead or process.stopping:
            return
        before, commits = world.backing.rows(), world.commits
        heard: list[object] = []
        try:
            with process.box.transaction() as transaction:
                for sending in within.sendings:
                    self._senders.gives(sending)
                    heard.append(None)
                    heard[-1] = self._told(transaction, sending)
                if within.raises:
                    raise ChangedMindError
        except (ChangedMindError, StoreError) as problem:
            world.note("a caller", f"{process.name} rolls back: {problem!r}")
        except Killed:
            world.kill(process)
        if world.commits > commits:
            for sending, said in zip(within.sendings, heard, strict=True):
                world.note("a caller", f"{sending.message} hears {said!r}")
                self._senders.hears(sending, said)
                if sending.message_id is not None:
                    self._senders.compare(sending, said)
            return
        after = world.backing.rows()
        if (after.instances, after.outbox) != (before.instances, before.outbox):
            world.break_(f"R2: {within} was rolled back, and left something behind")
        for sending in within.sendings[: len(heard)]:
            self._senders.takes_back(sending)
        for sending in within.sendings:
            await self._senders.send(sending)

    def _told(self, transaction: Transaction, sending: Sending) -> object:
        machine = self._world.codecs[sending.machine].machine
        message, message_id = sending.message, sending.message_id
        try:
            if type(message) is machine.start_type:
                return transaction.start(message, message_id=message_id)
            return transaction.send(machine, sending.id, message, message_id=message_id)
        except SendError as refusal:
            return refusal

    # -- in bulk

    async def _many(self, many: Many) -> None:
        codec = self._world.codecs[many.machine]
        sendings = [
            Sending(0, many.machine, codec.id_of(start), start, None, 0)
            for start in many.starts
        ]
        process = await self._senders.living()
        for sending in sendings:
            self._senders.gives(sending)
        answers = await self._answered(process, process.box.begun(many.starts))
        for sending, said in zip(sendings, answers, strict=True):
            self._world.note("in bulk", f"{sending.message} hears {said!r}")
            if said is not None:
                self._senders.hears(sending, said)

    # -- a person

    async def redrive(self) -> None:
        """Each instance with something parked is redriven; none of that stays parked."""
        world = self._world
        outbox = world.record.outbox
        for name in dict.fromkeys(key[:2] for key, row in outbox.items() if row[9]):
            parked = {
                key: row
                for key, row in world.record.outbox.items()
                if key[:2] == name and row[9] is not None
            }
            process = await self._senders.living()
            machine = world.codecs[name[0]].machine
            asked = process.box.redriven(machine, name[1])
            (count,) = await self._answered(process, [asked])
            world.note("a person", f"redrives {name}: {count!r}")
            still = [
                key
                for key, row in parked.items()
                if world.record.outbox.get(key) == row
            ]
            if isinstance(count, int) and still:
                world.break_(f"R6: {still} were redriven, and are parked")

    async def _answered(
        self, process: Process, futures: Sequence[Future[object]]
    ) -> list[object]:
        """The answers to items of the writer; None where the process died before."""
        return [await self._answer(process, future) for future in futures]

    async def _answer(self, process: Process, future: Future[object]) -> object:
        turn: asyncio.Future[None] = self._world.loop.create_future()
        future.add_done_callback(lambda _: resolve(turn))
        process.waited_for.append(turn)
        if process.dead:
            resolve(turn)
        await turn
        process.waited_for.remove(turn)
        return future.result() if future.done() else None
