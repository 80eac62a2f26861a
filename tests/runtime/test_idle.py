"""Waiting costs nothing: no statement, no memory, no time to open."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tracemalloc
from pathlib import Path
from typing import Final

import deedbox
import pytest
from deedbox import Rules, Worker
from deedbox.box import Box
from deedbox.operations import (
    Begin,
    Claim,
    ListDue,
    Look,
    OutboxRow,
    Program,
    Save,
    ask,
)
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import EPOCH, FakeClock, elapse, settle
from hands import Hands, Held
from jobs import job
from place import MACHINES, Place

HOUR: Final = 3_600_000
COPIES: Final = """
with recursive numbers (number) as (
  select 1 union all select number + 1 from numbers where number < ?
)
insert into deedbox_job
select printf('s%06d', number), rev, phase, at, born, version, ? + number, parked, doc
from deedbox_job, numbers where id = 'sleeper'"""

OWED: Final = """
with recursive numbers (number) as (
  select 1 union all select number + 1 from numbers where number < ?
)
insert into deedbox_outbox
select machine, printf('o%06d', number), ticket, command, key, claim, next_at, tries,
  started, parked, error, version, doc
from deedbox_outbox, numbers"""


def sleepers(path: Path, number: int) -> None:
    """So many jobs that wait for their silence in an hour, and later."""
    clock = FakeClock()
    url = f"sqlite:///{path}?peers=false"
    with deedbox.open(url, MACHINES, clock=clock) as box:
        box.start(job.Start(job="sleeper"))
    db = sqlite3.connect(path)
    db.execute("delete from deedbox_outbox")
    db.execute(COPIES, (number, EPOCH + HOUR))
    db.execute("delete from deedbox_job where id = 'sleeper'")
    db.commit()
    db.close()


class Traced:
    """A store on a file that counts what it says to SQLite, and how far that runs."""

    def __init__(self, path: Path, clock: FakeClock) -> None:
        self.store = SqliteStore(path, clock)
        self.said: list[str] = []
        self.thousands = 0
        for connection in (self.store._writer, self.store._reader):  # pyright: ignore[reportPrivateUsage]
            connection.set_trace_callback(self.said.append)
            connection.set_progress_handler(self._progress, 1_000)

    def _progress(self) -> int:
        self.thousands += 1
        return 0


async def opened(path: Path) -> tuple[list[str], int, int]:
    """What a worker says while it opens and for an hour; steps of SQLite, and bytes."""
    clock = FakeClock()
    traced = Traced(path, clock)
    box = Box(traced.store, MACHINES, rules=Rules(), clock=clock, peers=False)
    tracemalloc.start()
    async with Worker(box, {job.machine: Hands()}) as worker:
        await settle(worker)
        opening = len(traced.said)
        await elapse(clock, HOUR - 1, worker)
        assert traced.said[opening:] == []
        size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    box.close()
    return traced.said, traced.thousands, size


async def test_r7_a_hundred_thousand_sleepers_cost_nothing(tmp_path: Path) -> None:
    """R7, C05: not a statement in an hour; they open like ten, in as little memory."""
    few, many = tmp_path / "few.db", tmp_path / "many.db"
    sleepers(few, 10)
    sleepers(many, 100_000)
    await opened(few)  # what the first opening of a process makes stays
    said_few, steps_few, size_few = await opened(few)
    said_many, steps_many, size_many = await opened(many)
    assert len(said_many) == len(said_few)
    assert steps_many == steps_few
    assert size_many < size_few + 100_000


async def test_r7_idle_processes_on_one_file_write_nothing(tmp_path: Path) -> None:
    """R7: over three leases neither proves that it lives, nor asks whether the other does."""
    path, clock, rules = tmp_path / "jobs.db", FakeClock(), Rules(lease=900, keep=None)
    stores = [Traced(path, clock) for _ in range(2)]
    boxes = [
        Box(each.store, MACHINES, rules=rules, clock=clock, peers=True)
        for each in stores
    ]
    stranger = sqlite3.connect(path)
    async with (
        Worker(boxes[0], {job.machine: Hands()}) as one,
        Worker(boxes[1], {job.machine: Hands()}) as other,
    ):
        for worker in (one, other):
            await worker.start(job.Start(job=f"for {worker.epoch}"))
        await elapse(clock, 200, one, other)
        (before,) = stranger.execute("pragma data_version").fetchone()
        epochs = one.epoch, other.epoch
        for each in stores:
            each.said.clear()
        await elapse(clock, 3 * rules.lease, one, other)
        (after,) = stranger.execute("pragma data_version").fetchone()
        assert before == after
        assert {text for each in stores for text in each.said} == {
            "pragma data_version"
        }
        for worker, job_id in ((one, "x"), (other, "y")):
            await worker.start(job.Start(job=job_id))
            await worker.wait(job.machine, job_id)
        assert epochs == (one.epoch, other.epoch)
    stranger.close()
    for box in boxes:
        assert box.counts["fenced"] == 0
        box.close()


async def test_r7_a_wake_reads_what_is_due_and_no_more(tmp_path: Path) -> None:
    """R7: of a hundred thousand, three come due."""
    path, clock = tmp_path / "many.db", FakeClock()
    sleepers(path, 100_000)
    traced = Traced(path, clock)
    with Box(traced.store, MACHINES, rules=Rules(), clock=clock, peers=False) as box:
        async with Worker(box, {job.machine: Hands()}) as worker:
            await settle(worker)
            traced.thousands = 0
            await elapse(clock, HOUR + 3, worker)
        assert traced.thousands == 0
        assert len(box.list(job.machine, phase="Failed", limit=10)) == 3


async def test_r7_wakes_come_in_the_order_in_which_they_fell_due(place: Place) -> None:
    """R7: over three pages, read with one row to look ahead, and no look between."""
    box, numbers = place.open(), list(range(1_100))
    random.Random(3).shuffle(numbers)
    for number in numbers:
        with box.transaction() as tx:
            tx.start(job.Start(job=f"j{number:04}"))
        place.clock.advance(1)
    place.clock.advance(30_000)
    watched = place.watched[0]
    async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
        await settle(worker)
    saved = [
        row[0] for op in watched.seen if isinstance(op, Save) for row, _ in op.updates
    ]
    assert saved == [f"j{number:04}" for number in numbers]
    order = [type(op) for op in watched.seen if isinstance(op, ListDue | Look)]
    assert order == [Look, ListDue, ListDue, ListDue, Look]


async def test_r16_a_long_backlog_is_claimed_as_quickly_as_a_short_one(
    tmp_path: Path,
) -> None:
    """R16: what waits in the store is taken in its order, and no more of it is read."""
    path, clock = tmp_path / "owing.db", FakeClock()
    with Box(
        SqliteStore(path, clock), MACHINES, rules=Rules(), clock=clock, peers=False
    ) as box:
        box.start(job.Start(job="first"))
    db = sqlite3.connect(path)
    db.execute(OWED, (50_000,))
    db.commit()
    db.close()
    traced, claims = Traced(path, clock), [("Job", "run", job.machine.version, 1)]
    traced.store.register(MACHINES)

    def claimed() -> Program[list[OutboxRow]]:
        yield from ask(Begin())
        return (yield from ask(Claim(9, clock.wall(), claims)))

    (row,) = traced.store.run(claimed())
    assert row[1] == "first"
    assert traced.thousands == 0
    traced.store.close()


@pytest.mark.parametrize("window", [1, 3])
async def test_r16_what_is_over_the_window_waits_in_the_store(
    place: Place, window: int
) -> None:
    """R16: no more handlers than places, for each command on its own."""
    box, hands = place.open(), Held()
    async with Worker(box, {job.machine: hands}, window=window) as worker:
        await asyncio.gather(
            *(worker.start(job.Start(job=f"j{number}")) for number in range(10))
        )
        for number in range(10):
            await worker.send(job.machine, f"j{number}", job.Note(text="n"))
        await settle(worker)
        assert len(hands.ran) == window
        assert len(hands.notified) == 10  # another command has its own places
        owed = [(await worker.get(job.machine, f"j{n}")).owed for n in range(10)]  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
        assert sum(row.claimed for rows in owed for row in rows) == window
        hands.gate.set()
        await settle(worker)
    assert len(hands.ran) == 10
    assert {one.phase for one in box.list(job.machine)} == {"Done"}
