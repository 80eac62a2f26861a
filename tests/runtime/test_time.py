"""Deadlines: when they fire, in which order, and what it costs when none does."""

from __future__ import annotations

import asyncio
import threading

import pytest
from deedbox import Instant, Rules, Worker
from deedbox.box import Box
from deedbox.clock import RealClock
from deedbox.operations import Commit, ListDue
from deedbox.testing import EPOCH, elapse, settle
from hands import Hands, Held, elsewhere
from jobs import job
from place import Place


def broke(_: job.Run) -> job.RunOutcome:
    return job.RunBroke(error="no")


def phase(box: Box, id: str = "a") -> str:
    instance = box.get(job.machine, id)
    return "none" if instance is None else instance.phase


async def test_r7_a_wait_ends_at_its_deadline_and_not_before(place: Place) -> None:
    """R7, C05: never early; no statement is made while nothing is due."""
    hands, box = Hands(broke), place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        statements = len(place.watched[0].seen)
        for _ in range(79):
            await elapse(place.clock, 25, worker)
        await elapse(place.clock, 24, worker)
        assert len(hands.ran) == 1
        assert len(place.watched[0].seen) == statements
        await elapse(place.clock, 1, worker)
        assert len(hands.ran) == 2


async def test_r7_the_nearest_of_two_deadlines_wakes(place: Place) -> None:
    """R7: `due` and `give_up_at` are stored; the smaller one is the wake."""
    box = place.open()
    box.start(job.Start(job="a"))
    async with Worker(box, {job.machine: Hands(broke)}, only=["Job.run"]) as worker:
        await settle(worker)
        instance = await worker.get(job.machine, "a")
        assert instance is not None
        assert isinstance(instance.state, job.Waiting)
        assert instance.wake_at == instance.state.due == EPOCH + 2_000
        sooner = Instant(EPOCH + 500)
        await worker.send(job.machine, "a", job.Later(due=sooner))
        assert (await worker.get(job.machine, "a")).wake_at == sooner  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]


async def test_c07_a_message_does_not_wait_for_a_timer(place: Place) -> None:
    """C07: it is handled at once, and the pending deadline stays what it was."""
    box = place.open()
    async with Worker(box, {job.machine: Hands(broke)}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        before = await worker.get(job.machine, "a")
        await worker.send(job.machine, "a", job.Note(text="n"))
        after = await worker.get(job.machine, "a")
    assert before is not None
    assert after is not None
    assert after.wake_at == before.wake_at


async def test_s10_an_answer_in_hand_beats_its_deadline(place: Place) -> None:
    """S10: answers, then due deadlines, then messages."""
    hands, box = Held(), place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        with box.transaction():  # the writer stands still, so all three meet
            hands.gate.set()
            await asyncio.sleep(0.01)
            place.clock.advance(30_000)
            await asyncio.sleep(0.01)
        await settle(worker)
    assert phase(box) == "Done"


def test_s10_a_due_deadline_comes_before_a_message(place: Place) -> None:
    """S10: though no worker is open to fire it."""
    box = place.open()
    box.start(job.Start(job="a"))
    place.clock.advance(30_000)
    receipt = box.send(job.machine, "a", job.Note(text="too late"))
    assert (receipt.phase, receipt.rev, receipt.answer) == ("Failed", 2, "ignored")


async def test_c09_a_deadline_that_was_overtaken_does_nothing(place: Place) -> None:
    """C09: the answer came a millisecond before the silence."""
    hands, box = Held(), place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await elapse(place.clock, 29_999, worker)
        hands.gate.set()
        await settle(worker)
        await elapse(place.clock, 60_000, worker)
    instance = box.get(job.machine, "a")
    assert instance is not None
    assert (instance.phase, instance.rev) == ("Done", 2)


async def test_c11_what_came_due_while_nobody_ran_fires_once(place: Place) -> None:
    """C11: restarts move no deadline, and many of them make no burst."""
    box = place.open()
    async with Worker(box, {job.machine: Hands(broke)}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
    hands = Hands()
    for _ in range(9):
        place.clock.advance(200)
        again = place.open()
        async with Worker(again, {job.machine: hands}) as worker:
            await settle(worker)
        instance = again.get(job.machine, "a")
        assert instance is not None
        assert instance.wake_at == EPOCH + 2_000
    assert hands.ran == []
    place.clock.advance(3_600_000)
    async with Worker(place.open(), {job.machine: hands}) as worker:
        await settle(worker)
    assert len(hands.ran) == 1
    assert phase(box) == "Done"


async def test_r9_logical_time_never_falls(place: Place) -> None:
    """R9: the wall clock is set back by an hour; I7 is checked after each commit."""
    box = place.open()
    async with Worker(box, {job.machine: Hands(broke)}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        place.clock.jump(-3_600_000)
        receipt = await worker.send(job.machine, "a", job.Note(text="n"))
        assert receipt.rev == 3
        instance = await worker.get(job.machine, "a")
        assert instance is not None
        assert instance.at == EPOCH
        place.clock.jump(3_600_000)
        await elapse(place.clock, 2_000, worker)
        assert phase(box) == "Working" or phase(box) == "Waiting"


async def test_r7_oldest_first_and_all_of_them(place: Place) -> None:
    """R7: more than a page came due; each fires once."""
    box = place.open()
    box.start_many(job.Start(job=f"j{number:04}") for number in range(520))
    place.clock.advance(30_000)
    async with Worker(box, {job.machine: Held()}, only=["Job.notify"]) as worker:
        await settle(worker)
    assert len(box.list(job.machine, phase="Failed", limit=1_000)) == 520
    looked = [op for op in place.watched[0].seen if isinstance(op, ListDue)]
    assert len(looked) == 2


def test_r7_a_far_deadline_is_slept_to_in_slices() -> None:
    """R7, C01: the largest instant there is makes no sleep overflow."""
    event = threading.Event()
    event.set()
    RealClock().wait(event, (1 << 63) - 1)
    RealClock().wait(event, None)


class TestRemoval:
    """R18: finished instances are removed `keep` after their end, by their own wake."""

    async def test_r18_a_finished_instance_goes_after_keep(self, place: Place) -> None:
        place.rules = Rules(keep=60_000)
        hands, box = Hands(), place.open()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"), message_id="m")
            await worker.wait(job.machine, "a")
            await elapse(place.clock, 59_999, worker)
            assert phase(box) == "Done"
            await elapse(place.clock, 1, worker)
            assert phase(box) == "none"
            await worker.start(job.Start(job="a"), message_id="m")
            await worker.wait(job.machine, "a")
        first, second = hands.ran
        assert first.ticket == second.ticket == 1
        assert first.idempotency_key != second.idempotency_key

    async def test_r18_it_stays_while_something_is_owed(self, place: Place) -> None:
        place.rules = Rules(keep=60_000)
        box = place.open()
        box.start(job.Start(job="a"))
        box.send(job.machine, "a", job.Note(text="n"))
        box.send(job.machine, "a", job.Stop())
        async with Worker(box, {job.machine: Hands()}, only=["Job.run"]) as worker:
            await elapse(place.clock, 60_000, worker)
            instance = await worker.get(job.machine, "a")
            assert instance is not None
            assert instance.wake_at == place.clock.wall() + 3_600_000
        async with Worker(place.open(), {job.machine: Hands()}) as worker:
            await elapse(place.clock, 3_600_000, worker)
        assert phase(box) == "none"

    @pytest.mark.parametrize("set_back", [3, 3_600_000])
    async def test_i8_a_life_begins_after_the_last_one(
        self, place: Place, set_back: int
    ) -> None:
        """I8: removed at once, and started again with the clock set back."""
        place.rules = Rules(keep=0)
        hands, box = Hands(), place.open()
        for _ in range(3):
            async with Worker(box, {job.machine: hands}) as worker:
                await worker.start(job.Start(job="a"))
                await elapse(place.clock, set_back, worker)
            assert phase(box) == "none"
            place.clock.jump(-set_back)
            box = place.open()
        keys = [command.idempotency_key for command in hands.ran]
        born = [int(key.split("/")[2]) for key in keys]
        assert born == sorted(set(born))
        assert len(born) == 3

    async def test_i8_two_lives_in_one_millisecond(self, place: Place) -> None:
        """I8: the first was begun, ended and removed in it."""
        place.rules = Rules(keep=0)
        hands, box = Hands(), place.open()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            assert phase(box) == "none"
            await worker.start(job.Start(job="a"))
            await elapse(place.clock, 1, worker)
        first, second = hands.ran
        assert first.idempotency_key != second.idempotency_key

    async def test_keep_none_keeps_for_ever(self, place: Place) -> None:
        place.rules = Rules(keep=None)
        box = place.open()
        async with Worker(box, {job.machine: Hands()}) as worker:
            await worker.start(job.Start(job="a"))
            await worker.wait(job.machine, "a")
            await elapse(place.clock, 10**12, worker)
        assert phase(box) == "Done"


async def test_a_long_life_is_trimmed_and_folds_all_the_same(place: Place) -> None:
    """I4: every 256 revs a base is written; older rows go, older message ids too."""
    place.rules = Rules(history=10, remember=1_000)
    box = place.open()
    box.start(job.Start(job="a"), message_id="first")
    with box.transaction() as tx:
        for size in range(2, 257):
            tx.send(job.machine, "a", job.Grow(size=size))
    place.clock.advance(2_000)
    with box.transaction() as tx:
        for size in range(257, 513):
            tx.send(job.machine, "a", job.Grow(size=size))
    box.send(job.machine, "a", job.Grow(size=1))
    assert box.start(job.Start(job="a"), message_id="first").answer == "kept"


async def test_committing_is_grouped(place: Place) -> None:
    """Many messages that wait are one transaction."""
    box = place.open()
    async with Worker(box, {job.machine: Held()}, patience=0.01) as worker:
        await settle(worker)
        with box.transaction():
            starts = [
                elsewhere(worker.start(job.Start(job=f"j{number}")))
                for number in range(300)
            ]
            await asyncio.sleep(0.05)
        before = sum(isinstance(op, Commit) for op in place.watched[0].seen)
        await asyncio.gather(*starts)
        after = sum(isinstance(op, Commit) for op in place.watched[0].seen)
        assert after - before <= 2
        stop = asyncio.ensure_future(worker.stop())
        while not stop.done():
            place.clock.advance(10)
            await asyncio.sleep(0.001)
