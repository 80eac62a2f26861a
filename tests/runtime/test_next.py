"""What comes next: the soonest of all that is known, each in its order, after its pause."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from deedbox import Instant, Rules, StoreFailed, Worker
from deedbox.operations import (
    AnyOperation,
    Begin,
    Commit,
    Load,
    Program,
    Release,
    Save,
    Take,
    ask,
)
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import Fault, crash, elapse, settle
from deedbox.testing.driven import EPOCH
from hands import Hands, Held, Turns
from jobs import job
from place import Place


async def together(
    place: Place,
    worker: Worker,
    *calls: Coroutine[Any, Any, object],
    earlier: Coroutine[Any, Any, object] | None = None,
) -> None:
    """The writer finds all of these at once: it stands still before an earlier one."""
    gate = threading.Event()

    def faults(operation: AnyOperation) -> None:
        if isinstance(operation, Begin):
            gate.wait()

    place.watched[0].faults = faults
    earlier = earlier or worker.send(job.machine, "other", job.Grow(size=9))
    tasks: list[asyncio.Task[Any]] = [asyncio.ensure_future(earlier)]
    try:
        await asyncio.sleep(0.02)
        tasks += [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0.02)
    finally:
        gate.set()
    await asyncio.gather(*tasks)
    place.watched[0].faults = None


class TestWakes:
    async def test_r7_of_two_deadlines_in_one_batch_the_sooner_wakes(
        self, place: Place
    ) -> None:
        times: dict[str, list[int]] = {"a": [], "b": []}

        def broke(cmd: job.Run) -> job.RunOutcome:
            times[cmd.job].append(place.clock.monotonic())
            return job.RunBroke(error="no")

        box = place.open()
        box.start(job.Start(job="other"))
        box.send(job.machine, "other", job.Stop())
        async with Worker(box, {job.machine: Hands(broke)}) as worker:
            for id in ("a", "b"):
                await worker.start(job.Start(job=id))
            await settle(worker)
            now = place.clock.wall()
            await together(
                place,
                worker,
                *(
                    worker.send(job.machine, id, job.Later(due=Instant(now + later)))
                    for id, later in (("b", 1_500), ("a", 500))
                ),
            )
            await elapse(place.clock, 1_900, worker)
        assert times == {"a": [0, 500], "b": [0, 1_500]}

    @pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
    async def test_r7_of_two_rows_that_wait_the_sooner_goes_out(
        self, place: Place, at_once: bool
    ) -> None:
        """R6: `a` waits for its fourth delivery, `b` for its second."""
        box, hands = place.open(), Turns()
        box.start(job.Start(job="other"))
        box.send(job.machine, "other", job.Stop())
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            for delay in (1_000, 2_000):
                hands.ends[-1].set_exception(OSError("away"))
                await elapse(place.clock, delay, worker)
            a = hands.ends[-1]
            await worker.start(job.Start(job="b"))
            await settle(worker)
            b = hands.ends[-1]

            async def fail(*ends: asyncio.Future[job.RunOutcome]) -> None:
                for end in ends:
                    end.set_exception(OSError("away"))

            if at_once:
                await together(place, worker, fail(b, a))
            else:
                await fail(b)
                await settle(worker)
                await fail(a)
            await settle(worker)
            assert hands.jobs == ["a", "a", "a", "b"]
            await elapse(place.clock, 1_000, worker)
            soon = list(hands.jobs)
            await elapse(place.clock, 3_000, worker)
            hands.answer_all()
        assert soon == ["a", "a", "a", "b", "b"]
        assert hands.jobs == ["a", "a", "a", "b", "b", "a"]

    async def test_r10_what_was_lost_is_taken_up_though_nothing_else_happens(
        self, place: Place
    ) -> None:
        """R10: declared dead, it hears so when it renews its lease, and looks."""
        box, hands = place.open(), Held()

        def reap(epoch: int) -> Program[None]:
            yield from ask(Begin())
            yield from ask(Release(epoch, place.clock.wall()))
            yield from ask(Commit())

        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            place.open().store.run(reap(worker.epoch))
            await elapse(place.clock, place.rules.lease // 2, worker)
            heard = box.counts["fenced"], len(hands.ran), hands.cancelled
            hands.gate.set()
        assert heard == (1, 2, 1)

    async def test_r10_what_was_committed_too_late_goes_out_when_its_lease_has_ended(
        self, place: Place
    ) -> None:
        """R10: its own rows are another's by then; it learns when, though nothing happens."""
        box, hands = place.open(), Hands()
        left = 1

        def stands_still(operation: AnyOperation) -> None:
            nonlocal left
            if isinstance(operation, Save) and left:
                left = 0
                place.clock.advance(10_000)

        async with Worker(box, {job.machine: hands}) as worker:
            await settle(worker)
            place.watched[0].faults = stands_still
            await worker.start(job.Start(job="a"))
            await settle(worker)
            assert box.counts["fenced"] == 1
            await elapse(place.clock, 11_000, worker)
            phases = [one.phase for one in box.list(job.machine)]
        assert (phases, len(hands.ran)) == (["Done"], 1)


class TestOrder:
    async def test_r20_of_two_in_one_batch_the_second_waits(self, place: Place) -> None:
        box, gate, begun = place.open(), asyncio.Event(), list[str]()

        class Slow(Hands):
            async def notify(self, cmd: job.Notify) -> None:
                begun.append(cmd.text)
                await gate.wait()

        box.start(job.Start(job="other"))
        async with Worker(box, {job.machine: Slow()}, only=["Job.notify"]) as worker:
            await worker.start(job.Start(job="a"))
            await together(
                place,
                worker,
                *(worker.send(job.machine, "a", job.Note(text=n)) for n in "123"),
            )
            await settle(worker)
            assert begun == ["1"]
            gate.set()
            await settle(worker)
            assert begun == ["1", "2", "3"]

    async def test_r3_what_is_new_does_not_overtake_what_waits(
        self, place: Place
    ) -> None:
        """R16: there is room for one, and the answer that makes it comes with a start."""
        box, hands = place.open(), Turns()
        box.start(job.Start(job="other"))
        box.send(job.machine, "other", job.Stop())
        async with Worker(box, {job.machine: hands}, window=1) as worker:
            for id in ("a", "b"):
                await worker.start(job.Start(job=id))
            await settle(worker)
            assert hands.jobs == ["a"]

            async def answered() -> None:
                hands.ends[0].set_result(job.RunRan(result=1))

            await together(place, worker, answered(), worker.start(job.Start(job="c")))
            for _ in range(2):
                await settle(worker)
                hands.answer_all()
            await settle(worker)
        assert hands.jobs == ["a", "b", "c"]

    async def test_r16_plain_handlers_are_handed_no_more_than_there_are_threads(
        self, place: Place
    ) -> None:
        """R6, R16: what waited for a thread would spend the time of its call there."""
        box, gate = place.open(), threading.Event()

        class Plain(Hands):
            def run(self, cmd: job.Run) -> job.RunOutcome:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
                gate.wait()
                return job.RunRan(result=cmd.size)

        async with Worker(box, {job.machine: Plain()}, threads=2) as worker:
            for id in "abcd":
                await worker.start(job.Start(job=id))
            await settle(worker)
            claimed = [
                owed.claimed
                for id in "abcd"
                for one in [box.get(job.machine, id)]
                if one is not None
                for owed in one.owed
            ]
            gate.set()
            for id in "abcd":
                await worker.wait(job.machine, id)
        assert claimed == [True, True, False, False]

    async def test_r3_what_takes_long_to_reduce_is_done_in_parts_in_its_order(
        self, place: Place
    ) -> None:
        """R3: of a hundred messages each counts once, and the last one last."""
        box = place.open()
        box.start(job.Start(job="a"))

        def slow(operation: AnyOperation) -> None:
            if isinstance(operation, Load):
                place.clock.advance(25)

        async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
            await settle(worker)
            place.watched[0].faults = slow
            sent = [
                worker.send(job.machine, "a", job.Grow(size=size))
                for size in range(2, 102)
            ]
            receipts = await asyncio.gather(*sent)
            place.watched[0].faults = None
        assert [receipt.rev for receipt in receipts] == list(range(2, 102))
        instance = box.get(job.machine, "a")
        assert instance is not None
        assert instance.state.size == 101

    async def test_i8_a_start_beside_the_removal_of_its_id_is_a_later_life(
        self, place: Place
    ) -> None:
        """I8, R18: in one batch, and in the millisecond in which the first life ended."""
        place.rules = Rules(keep=0)
        box, hands = place.open(), Turns()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            await together(
                place,
                worker,
                worker.start(job.Start(job="a")),
                earlier=worker.send(job.machine, "a", job.Stop()),
            )
            await settle(worker)
            hands.answer_all()
        first, second = hands.ran
        assert first.ticket == second.ticket
        assert (born(first), born(second)) == (EPOCH, EPOCH + 1)

    async def test_s10_what_an_answer_ends_is_removed_in_a_batch_of_its_own(
        self, place: Place
    ) -> None:
        """S10, R18: its deadline came with the answer, and nothing is kept of it."""
        place.rules = Rules(keep=0)
        box, hands = place.open(), Turns()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await elapse(place.clock, 29_999, worker)
            ended = asyncio.ensure_future(worker.wait(job.machine, "a"))
            await settle(worker)

            async def answer() -> None:
                hands.ends[0].set_result(job.RunRan(result=1))
                place.clock.advance(1)

            other = worker.start(job.Start(job="b"))
            await together(place, worker, answer(), earlier=other)
            assert isinstance(await ended, job.Done)
            await settle(worker)
            assert [one.id for one in box.list(job.machine)] == ["b"]
            hands.answer_all()
        assert box.counts["removed"] >= 1
        assert box.counts["late"] == 0

    async def test_r16_a_row_that_raises_and_is_withdrawn_makes_one_place(
        self, place: Place
    ) -> None:
        box, hands = place.open(), Turns()
        box.start(job.Start(job="other"))
        box.send(job.machine, "other", job.Stop())
        async with Worker(box, {job.machine: hands}, window=1) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)

            async def fail() -> None:
                hands.ends[0].set_exception(OSError("away"))

            await together(
                place, worker, fail(), worker.send(job.machine, "a", job.Stop())
            )
            for id in ("b", "c"):
                await worker.start(job.Start(job=id))
            await settle(worker)
            running = list(hands.jobs)
            for _ in range(2):
                hands.answer_all()
                await settle(worker)
        assert running == ["a", "b"]
        assert hands.jobs == ["a", "b", "c"]


def born(cmd: job.Run) -> int:
    return int(cmd.idempotency_key.split("/")[2])


class TestPauses:
    async def test_c17_each_pause_is_twice_the_one_before_up_to_a_quarter_second(
        self, place: Place
    ) -> None:
        box, tried = place.open(), list[int]()
        box.start(job.Start(job="a"))

        def faults(operation: AnyOperation) -> Fault | None:
            if isinstance(operation, Begin):
                tried.append(place.clock.monotonic())
            if isinstance(operation, Save):
                return Fault(StoreFailed("the disk is full"))
            return None

        async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
            await elapse(place.clock, 29_999, worker)
            place.watched[0].faults = faults
            await elapse(place.clock, 2_000, worker)
            place.watched[0].faults = None
        pauses = [b - a for a, b in pairwise(dict.fromkeys(tried))]
        assert pauses == [5, 10, 20, 40, 80, 160, *[250] * 6]

    async def test_r3_while_a_deadline_cannot_be_written_a_message_is_one_transaction(
        self, place: Place
    ) -> None:
        """R3, C17: in its pause nothing is tried but what is new."""
        box = place.open()
        box.start(job.Start(job="a"))

        def faults(operation: AnyOperation) -> Fault | None:
            if isinstance(operation, Save) and "a" in (
                row[0] for row, _ in operation.updates
            ):
                return Fault(StoreFailed("not this one"))
            return None

        def begun() -> int:
            return sum(isinstance(each, Begin) for each in place.watched[0].seen)

        async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
            await elapse(place.clock, 29_999, worker)
            await worker.start(job.Start(job="b"))
            place.watched[0].faults = faults
            await elapse(place.clock, 500, worker)
            before = begun()
            for size in range(2, 5):
                await worker.send(job.machine, "b", job.Grow(size=size))
            assert begun() - before == 3
            place.watched[0].faults = None


class TestStoreIsBack:
    async def test_what_a_dead_process_held_is_found_when_the_store_is_back(
        self, place: Place
    ) -> None:
        """R2, R10: to look and to reap is put off by a fault, not given up."""
        died, box, hands = place.open(), place.open(), Hands()
        worker = Worker(died, {job.machine: Held()})
        await worker.__aenter__()
        await worker.start(job.Start(job="a"))
        await crash(worker, died)
        place.watched[1].faults = lambda operation: (
            Fault(StoreFailed("away")) if isinstance(operation, Begin) else None
        )
        async with Worker(box, {job.machine: hands}) as second:
            await elapse(place.clock, 1_000, second)
            place.watched[1].faults = None
            await elapse(place.clock, 250, second)
        assert hands.ran != []
        assert [one.phase for one in box.list(job.machine)] == ["Done"]

    @pytest.mark.parametrize("served", ["Job.run", "Job.press"])
    async def test_what_a_block_has_left_is_found_when_the_store_is_back(
        self, place: Place, served: str
    ) -> None:
        """R2, R7: its command, or where nobody serves that its deadline."""
        box, hands = place.open(), Hands()
        async with Worker(box, {job.machine: hands}, only=[served]) as worker:
            await settle(worker)
            place.watched[0].faults = lambda operation: (
                Fault(StoreFailed("away")) if isinstance(operation, Begin) else None
            )
            with box.transaction() as tx:
                tx.start(job.Start(job="a"))
            await elapse(place.clock, 1_000, worker)
            place.watched[0].faults = None
            await elapse(place.clock, 29_000, worker)
        done = "Done" if served == "Job.run" else "Failed"
        assert [one.phase for one in box.list(job.machine)] == [done]

    async def test_c17_an_answer_that_cannot_be_taken_does_not_burden_messages(
        self, place: Place
    ) -> None:
        """R3, C17: in its pause it is not tried again with each of them."""
        box, hands = place.open(), Turns()

        def faults(operation: AnyOperation) -> Fault | None:
            if isinstance(operation, Take):
                return Fault(StoreFailed("not this one"))
            return None

        async with Worker(box, {job.machine: hands}) as worker:
            for id in ("a", "b"):
                await worker.start(job.Start(job=id))
            await settle(worker)
            place.watched[0].faults = faults
            hands.ends[0].set_result(job.RunRan(result=1))
            await elapse(place.clock, 300, worker)
            before = sum(isinstance(each, Begin) for each in place.watched[0].seen)
            for size in range(2, 5):
                await worker.send(job.machine, "b", job.Grow(size=size))
            after = sum(isinstance(each, Begin) for each in place.watched[0].seen)
            place.watched[0].faults = None
            await elapse(place.clock, 250, worker)
            phases = [one.phase for one in box.list(job.machine)]
            hands.answer_all()
        assert after - before == 3
        assert phases == ["Done", "Working"]


def test_r10_what_was_withdrawn_before_it_was_marked_is_not_handed_out(
    tmp_path: Path,
) -> None:
    """R10: at most once means also: not when another process has ended its state."""
    place = Place(lambda clock: SqliteStore(tmp_path / "jobs.db", clock))
    box, other, hands = place.open(), place.open(), Hands()
    pressed = False

    def faults(operation: AnyOperation) -> Fault | None:
        nonlocal pressed
        if isinstance(operation, Begin) and pressed:
            pressed = False
            other.send(job.machine, "a", job.Stop())
        if isinstance(operation, Commit):
            row = box.get(job.machine, "a")
            pressed = row is not None and row.phase == "Working"
        return None

    async def script() -> None:
        async with Worker(box, {job.machine: hands}, only=["Job.press"]) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            place.watched[0].faults = faults
            await worker.send(job.machine, "a", job.Press())
            await settle(worker)

    asyncio.run(script())
    place.watched[0].faults = None
    assert [one.phase for one in box.list(job.machine)] == ["Failed"]
    assert hands.pressed == []
    place.close()
