"""Another process on a store of jobs.

    python guest.py STORE stops | serves [DEADLY] | finishes DEADLY HOW | sends ROUNDS

`stops`: it stops itself inside a transaction.  `serves`: it runs handlers until none is
owed or its input ends; the command of the job DEADLY kills it.  `finishes`: it runs all
handlers side by side until each job is done or parked; DEADLY exits or is killed at once.
`sends`: each of twenty jobs gets a note a round, then a stop.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import deedbox
from deedbox.box import Box
from jobs import job


def stops(url: str) -> None:
    with deedbox.open(url, [job.machine]) as box, box.transaction() as tx:
        tx.start(job.Start(job="guest"))
        print("inside", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)


class Hands:
    def __init__(self, deadly: str) -> None:
        self._deadly = deadly

    async def run(self, cmd: job.Run) -> job.RunOutcome:
        await self._touch(cmd.job)
        return job.RunRan(result=1)

    async def press(self, cmd: job.Push) -> job.PressPressed:
        await self._touch(cmd.job)
        return job.PressPressed()

    async def notify(self, _: job.Notify) -> None: ...

    async def _touch(self, name: str) -> None:
        if name == self._deadly:
            await asyncio.sleep(0.1)  # the answers of the others are taken before
            os.kill(os.getpid(), signal.SIGKILL)


async def serves(url: str, deadly: str) -> None:
    """Until its input ends, and at least until what is owed was handed out."""
    with deedbox.open(url, [job.machine]) as box:
        async with deedbox.Worker(box, {job.machine: Hands(deadly)}, only=only(deadly)):
            print("serving", flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            await asyncio.sleep(0.1)
    print("served", flush=True)


class Company(Hands):
    """No answer is there yet when the deadly one ends them all."""

    def __init__(self, deadly: str, how: str) -> None:
        super().__init__(deadly)
        self._how = how

    async def _touch(self, name: str) -> None:
        if name == self._deadly:
            if self._how == "exits":
                os._exit(3)
            os.kill(os.getpid(), signal.SIGKILL)
        await asyncio.sleep(0.01)


async def finishes(url: str, deadly: str, how: str) -> None:
    with deedbox.open(url, [job.machine]) as box:
        async with deedbox.Worker(box, {job.machine: Company(deadly, how)}):
            while not _finished(box):
                await asyncio.sleep(0.01)


def _finished(box: Box) -> bool:
    for one in box.list(job.machine, phase="Working", limit=1_000):
        found = box.get(job.machine, one.id)
        if found is not None and any(row.parked is None for row in found.owed):
            return False
    return True


def only(deadly: str) -> list[str] | None:
    """Those that share the work leave `run` to the end, so that notes are taken."""
    return None if deadly else ["Job.notify", "Job.press"]


def sends(url: str, rounds: int) -> None:
    with deedbox.open(url, [job.machine]) as box:
        for each in range(rounds):
            for number in range(20):
                box.send(job.machine, f"j{number:02}", job.Note(text=str(each)))
        for number in range(20):
            box.send(job.machine, f"j{number:02}", job.Press())


def main(arguments: list[str]) -> None:
    match arguments:
        case [url, "stops"]:
            stops(url)
        case [url, "serves", *rest]:
            asyncio.run(serves(url, rest[0] if rest else ""))
        case [url, "finishes", deadly, how]:
            asyncio.run(finishes(url, deadly, how))
        case [url, "sends", rounds]:
            sends(url, int(rounds))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
