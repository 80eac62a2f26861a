"""A worker that dies in a test leaves behind what a killed process leaves behind."""

from __future__ import annotations

import asyncio
import signal
from multiprocessing import get_context
from pathlib import Path

import deedbox
from deedbox import Worker
from deedbox.stores.memory import MemoryStore
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock, Picture, crash, picture, settle
from hands import Hands, Held
from jobs import job
from place import MACHINES, Place
from victim import killed


async def test_claim_and_session_stay_until_another_finds_them(place: Place) -> None:
    box = place.open()
    async with Worker(box, {job.machine: Held()}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        epoch = worker.epoch
        await crash(worker, box)
    other = place.open()
    left = picture(other.store, MACHINES)
    assert left.sessions == {epoch}
    ((_, _, _, _, key, claim, _, tries, *_),) = left.outbox
    assert (claim, tries) == (epoch, 1)
    hands = Hands()
    async with Worker(other, {job.machine: hands}) as heir:
        await heir.wait(job.machine, "a")
        assert picture(other.store, MACHINES).sessions == {heir.epoch}
    assert [run.idempotency_key for run in hands.ran] == [key]


async def test_an_orderly_stop_gives_back_what_a_crash_does_not(place: Place) -> None:
    box = place.open()
    async with Worker(box, {job.machine: Held()}, patience=0) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        stopping = asyncio.ensure_future(worker.stop())
        while not stopping.done():
            place.clock.advance(1)
            await asyncio.sleep(0.001)
    left = picture(place.open().store, MACHINES)
    assert left.sessions == set()
    assert [(row[5], row[7]) for row in left.outbox] == [(None, 0)]


async def test_an_answer_that_comes_with_the_crash_is_lost(place: Place) -> None:
    box, hands = place.open(), Held()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        hands.gate.set()
        await crash(worker, box)
    instance = place.open().get(job.machine, "a")
    assert instance is not None
    assert instance.phase == "Working"


def test_a_killed_process_and_a_crash_in_memory_leave_the_same_rows(
    tmp_path: Path,
) -> None:
    """The one is SIGKILL of a process over SQLite, the other is `crash`."""
    clock = FakeClock()
    store = MemoryStore(clock)
    box = deedbox.Box(store, MACHINES, rules=deedbox.Rules(), clock=clock, peers=False)

    async def live_and_crash() -> None:
        async with Worker(box, {job.machine: Held()}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            await crash(worker, box)

    asyncio.run(live_and_crash())
    child = get_context("spawn").Process(target=killed, args=(tmp_path / "jobs.db",))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    file = SqliteStore(tmp_path / "jobs.db", clock)
    file.register(MACHINES)
    assert rows(picture(file, MACHINES)) == rows(picture(store, MACHINES))
    file.close()


def rows(found: Picture) -> tuple[object, ...]:
    """The picture, with the session by its place: no two stores number them alike."""
    (epoch,) = found.sessions
    owed = [tuple("the session" if v == epoch else v for v in r) for r in found.outbox]
    return found.instances, found.journal, owed
