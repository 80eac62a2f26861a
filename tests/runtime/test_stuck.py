"""What cannot be written, or never comes to rest, holds up nobody else."""

from __future__ import annotations

import asyncio
import dataclasses
import sqlite3
from pathlib import Path
from typing import TypeAlias

import deedbox
import pytest
from deedbox import Due, Instant, Machine, Worker
from deedbox.box import Box
from deedbox.operations import AnyOperation, Begin, Save, Unstorable
from deedbox.testing import FakeClock, Fault, elapse, settle
from hands import Hands, Held
from jobs import job
from msgspec.structs import replace
from place import Place

CHECKED = """
create trigger never_failed before update on deedbox_job
when new.phase = 'Failed' and new.id = 'b' begin
  select raise(abort, 'this row may not be written');
end"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that refuses what would end the job `b`."""
    path = tmp_path / "jobs.db"
    deedbox.open(f"sqlite:///{path}", [job.machine]).close()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(CHECKED)
    db.close()
    return path


JobMachine: TypeAlias = Machine[
    job.State, job.Start, job.Message, job.Outcome, job.Command
]


def phases(box: Box) -> dict[str, str]:
    return {one.id: one.phase for one in box.list(job.machine, limit=1_000)}


async def test_r11_a_due_row_that_the_store_refuses_is_parked_alone(path: Path) -> None:
    """R3, R11: by halves; the others of its page fire, and it keeps what it was."""
    clock = FakeClock()
    url = f"sqlite:///{path}?peers=false"
    with deedbox.open(url, [job.machine], clock=clock) as box:
        box.start_many(job.Start(job=id) for id in ("a", "b", "c", "d", "e"))
        async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
            await elapse(clock, 30_000, worker)
        ended = phases(box)
        assert ended.pop("b") == "Working"
        assert set(ended.values()) == {"Failed"}
        (parked,) = [one for one in box.list(job.machine) if one.parked is not None]
    assert parked.id == "b"
    assert "this row may not be written" in str(parked.parked)


async def test_r11_an_answer_that_the_store_refuses_is_parked(path: Path) -> None:
    """R3, R11: its row says why; the answers of others are taken."""
    clock = FakeClock()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(CHECKED.replace("Failed", "Done").replace("never_", "never_done_"))
    db.close()
    url = f"sqlite:///{path}?peers=false"
    with deedbox.open(url, [job.machine], clock=clock) as box:
        box.start_many(job.Start(job=id) for id in ("a", "b", "c"))
        async with Worker(box, {job.machine: Hands()}) as worker:
            await elapse(clock, 2_000, worker)
        assert phases(box) == {"a": "Done", "b": "Working", "c": "Done"}
        instance = box.get(job.machine, "b")
    assert instance is not None
    assert "this row may not be written" in str(instance.owed[0].parked)


async def test_r3_of_a_page_one_row_is_found_in_few_transactions(place: Place) -> None:
    """R3: nine halvings find it among 500; the page is not written one by one."""
    box = place.open()
    box.start_many(job.Start(job=f"j{number:03}") for number in range(500))
    place.clock.advance(30_000)

    def faults(operation: AnyOperation) -> Fault | None:
        if isinstance(operation, Save) and any(
            row[0] == "j123" for row, _ in operation.updates
        ):
            return Fault(Unstorable("not this one"))
        return None

    watched = place.watched[0]
    watched.faults = faults
    before = sum(isinstance(each, Begin) for each in watched.seen)
    async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
        await elapse(place.clock, 1_000, worker)
    after = sum(isinstance(each, Begin) for each in watched.seen)
    assert len(box.list(job.machine, phase="Failed", limit=1_000)) == 499
    assert after - before < 40


async def test_c17_while_nothing_can_be_written_the_pauses_grow(place: Place) -> None:
    """C17: 30 due instances and a store that is down for a minute of its time."""
    box = place.open()
    box.start_many(job.Start(job=f"j{number}") for number in range(30))
    watched = place.watched[0]
    async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
        await settle(worker)
        watched.faults = lambda operation: (
            Fault(sqlite3.OperationalError("database is locked"))
            if isinstance(operation, Save)
            else None
        )
        await elapse(place.clock, 29_999, worker)
        before = sum(isinstance(each, Begin) for each in watched.seen)
        await elapse(place.clock, 60_000, worker)
        turns = sum(isinstance(each, Begin) for each in watched.seen) - before
        assert turns < 30 * 60_000 / 250
        watched.faults = None
        await elapse(place.clock, 250, worker)
    assert set(phases(box).values()) == {"Failed"}


def restless(state: job.State, msg: job.Msg) -> job.Step:
    """A machine of which the deadline is due again as soon as it has fired."""
    if isinstance(state, job.Waiting) and isinstance(msg, Due):
        return replace(state, due=msg.at, issued=state.issued + 1), ()
    return job.reduce(state, msg)


def on_a_grid(state: job.State, msg: job.Msg) -> job.Step:
    """A machine that makes up for each second that was missed."""
    if isinstance(state, job.Waiting) and isinstance(msg, Due):
        due, later = Instant(state.due + 1_000), Instant(state.due + 60_000)
        return replace(state, due=due, give_up_at=later, size=state.size + 1), ()
    return job.reduce(state, msg)


async def played(machine: JobMachine, clock: FakeClock, after: int) -> Box:
    """`a` waits, and comes due; `b` is another job."""
    box = deedbox.open("memory://", [machine], clock=clock)
    hands = Hands(lambda _: job.RunBroke(error="no"))
    async with Worker(box, {machine: hands}, only=["Job.run"]) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        clock.advance(after)
        await worker.start(job.Start(job="b"))
        await elapse(clock, 3_000, worker)
    return box


async def test_r3_deadlines_without_a_pause_are_parked() -> None:
    """R3: a thousand of them in one transaction, and no end in sight."""
    machine = dataclasses.replace(job.machine, reduce=restless)
    clock = FakeClock()
    box = await played(machine, clock, 2_000)
    a, b = box.list(machine)
    assert a.parked == "1000 deadlines follow each other without a pause"
    assert b.parked is not None  # its own wait was over too
    box.close()


async def test_c11_what_was_missed_on_a_grid_is_made_up_for() -> None:
    """C11: 1,200 missed seconds are more than one batch fires, and none is lost."""
    machine = dataclasses.replace(job.machine, reduce=on_a_grid)
    clock = FakeClock()
    box = await played(machine, clock, 1_200_000)
    a = box.get(machine, "a")
    assert a is not None
    assert a.state.size == 1 + 1_200 + 2
    box.close()


async def test_an_error_that_no_store_can_keep_is_kept_in_other_words(
    place: Place,
) -> None:
    """R6: a handler raises with half of a surrogate pair and a U+0000 in its text."""

    def fail(_: job.Run) -> job.RunOutcome:
        raise OSError("no file \udcff\0")

    box = place.open()
    async with Worker(box, {job.machine: Hands(fail)}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        instance = await worker.get(job.machine, "a")
    assert instance is not None
    assert r"no file \udcff\0" in str(instance.owed[0].error)


async def test_a_traceback_is_the_one_of_its_own_answer(place: Place) -> None:
    """R2: two answers of one batch on which the reducer raises are told apart."""
    box = place.open()
    hands = Held()
    async with Worker(box, {job.machine: Hands(lambda _: job.RunCursed())}) as worker:
        await asyncio.gather(
            *(worker.start(job.Start(job=id)) for id in ("a", "b", "c"))
        )
        await settle(worker)
        for id in ("a", "b", "c"):
            instance = await worker.get(job.machine, id)
            assert instance is not None
            said = str(instance.owed[0].parked)
            assert said.count("this answer is cursed") == 2  # the line, and the error
            assert "During handling" not in said
    assert hands.ran == []
