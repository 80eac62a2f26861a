"""Who sends messages: each asks some process, hears an answer, and holds it to the laws.

R1: who hears that a message is applied can read it.  R2: what its sender hears to have
failed is not applied.  R14: a repeated message id hears the first answer.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from ..documents import text
from ..errors import DeedboxError, Rejected, SendError, Unsettled
from ..values import Receipt
from .plan import Sending
from .process import Process
from .world import World


class Senders:
    """All senders of a run."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._answers: dict[tuple[str, str, str], object] = {}

    async def send(self, sending: Sending) -> None:
        """One sender; with a `message_id` it asks until it has an answer."""
        left = 1 if sending.message_id is None else 1 + sending.copies
        for _ in range(40):
            answer = await self._sent(sending)
            said = answer if isinstance(answer, Receipt | None) else repr(answer)
            self._world.note(
                "sender", f"{sending.message} to {sending.id} hears {said}"
            )
            if sending.message_id is None:
                return
            if isinstance(answer, Receipt | SendError):
                self.compare(sending, answer)
                left -= 1
                if left == 0:
                    return
            await self._world.sleep(self._world.random.choice((0, 40, 3_000)))

    async def living(self) -> Process:
        """Some process that is there and open."""
        while not (
            open_ := [one for one in self._world.living if one.writer is not None]
        ):
            await self._world.sleep(100)
        return self._world.random.choice(open_)

    async def _sent(self, sending: Sending) -> object:
        """The answer, or None when the process died before it gave one."""
        process = await self.living()
        answer: asyncio.Future[object] = self._world.loop.create_future()
        process.waited_for.append(answer)
        self._world.spawn(self._ask(process, sending, answer), process.home)
        said = await answer
        process.waited_for.remove(answer)
        return said

    async def _ask(
        self, process: Process, sending: Sending, answer: asyncio.Future[object]
    ) -> None:
        machine = self._world.codecs[sending.machine].machine
        message, message_id = sending.message, sending.message_id
        self.gives(sending)
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
        self.hears(sending, said)
        if not answer.done():
            answer.set_result(said)

    # -- what was given to a process, and what it says

    def gives(self, sending: Sending) -> None:
        """A process is given a message: a step may use it up."""
        self._world.record.sent[_name(sending)] += 1

    def takes_back(self, sending: Sending) -> None:
        """It was not applied, and will not be."""
        self._world.record.sent[_name(sending)] -= 1

    def hears(self, sending: Sending, said: object) -> None:
        if isinstance(said, Receipt) and said.answer == "applied":
            self._is_committed(sending, said)
        elif not isinstance(said, Unsettled):
            self.takes_back(sending)
            record = self._world.record
            if record.sent[_name(sending)] < 0 and sending.machine not in record.told:
                self._world.break_(
                    f"R2: {sending.message} was applied, and its sender hears {said!r}"
                )

    def _is_committed(self, sending: Sending, receipt: Receipt) -> None:
        """Who hears that it is applied can read it."""
        name, record = (sending.machine, sending.id), self._world.record
        seen = record.seen.get(name)
        if name in record.removed:
            return
        if seen is None or seen.row[1] < receipt.rev:
            self._world.break_(f"R1: {name} hears {receipt}, committed is {seen}")

    def compare(self, sending: Sending, answer: object) -> None:
        """R14: the first answer to a message id is the answer."""
        name = sending.machine, sending.id
        if name in self._world.record.removed or not isinstance(
            answer, Receipt | Rejected
        ):
            return
        said = answer if isinstance(answer, Receipt) else str(answer)
        first = self._answers.setdefault((*name, sending.message_id or ""), said)
        if first != said:
            self._world.break_(
                f"R14: {sending.message_id} heard {first}, and now {said}"
            )


def _name(sending: Sending) -> tuple[str, str, str]:
    message: Struct = replace(sending.message, at=-1)
    return sending.machine, sending.id, text(message)
