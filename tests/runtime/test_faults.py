"""What fails fails alone, and nothing that was owed is lost by it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import deedbox
import pytest
from deedbox import ReducerFailed, StoreError, StoreFailed, Unsettled, Worker
from deedbox.batch import Tell
from deedbox.box import Box
from deedbox.operations import (
    AnyOperation,
    Begin,
    Claim,
    Commit,
    CommitUnknown,
    Conflict,
    Enter,
    Fence,
    Journal,
    Load,
    Owe,
    Program,
    Release,
    Rollback,
    Save,
    Settle,
    Take,
    ask,
)
from deedbox.testing import FakeClock, Fault, Faults, elapse, settle
from hands import Hands, Held, elsewhere
from jobs import job
from place import Place


def phase(box: Box, id: str = "a") -> str:
    instance = box.get(job.machine, id)
    return "none" if instance is None else instance.phase


def once(kind: type[AnyOperation], make: Callable[[], Fault], skip: int = 0) -> Faults:
    """The n-th operation of this kind goes wrong, and no other."""
    left = skip

    def faults(operation: AnyOperation) -> Fault | None:
        nonlocal left
        if type(operation) is not kind:
            return None
        left -= 1
        return make() if left == -1 else None

    return faults


def always(kind: type[AnyOperation]) -> Faults:
    def faults(operation: AnyOperation) -> Fault | None:
        if type(operation) is kind:
            return Fault(StoreFailed("the disk is full"))
        return None

    return faults


def disk_full() -> Fault:
    return Fault(StoreFailed("the disk is full"))


class TestFailedTransactions:
    """R2: a failed transaction leaves the store as before, and is done again."""

    @pytest.mark.parametrize("skip", range(3))
    @pytest.mark.parametrize(
        "kind", [Begin, Enter, Fence, Load, Take, Save, Owe, Journal, Commit]
    )
    async def test_r2_each_statement_may_fail_once(
        self, place: Place, kind: type[AnyOperation], skip: int
    ) -> None:
        box, hands = place.open(), Hands()
        place.watched[0].faults = once(kind, disk_full, skip)
        async with Worker(box, {job.machine: hands}) as worker:
            for id in ("a", "b"):
                await worker.start(job.Start(job=id))
                await worker.wait(job.machine, id)
        assert {cmd.job for cmd in hands.ran} == {"a", "b"}
        assert len({cmd.idempotency_key for cmd in hands.ran}) == 2

    def test_r2_a_store_that_is_down_is_an_error_of_the_sender(
        self, place: Place
    ) -> None:
        box = place.open()
        place.watched[0].faults = always(Save)
        with pytest.raises(StoreFailed, match="the disk is full"):
            box.start(job.Start(job="a"))
        place.watched[0].faults = None
        assert box.get(job.machine, "a") is None
        assert box.start(job.Start(job="a")).rev == 1

    async def test_r5_an_answer_waits_until_the_store_is_back(
        self, place: Place
    ) -> None:
        """R5, C05: the handler's answer is kept, and taken with its step."""
        box, hands = place.open(), Held()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            place.watched[0].faults = always(Journal)
            hands.gate.set()
            await elapse(place.clock, 1_000, worker)
            assert phase(box) == "Working"
            place.watched[0].faults = None
            await elapse(place.clock, 1_000, worker)
        assert phase(box) == "Done"
        assert len(hands.ran) == 1

    async def test_r2_only_the_failing_item_hears_of_it(self, place: Place) -> None:
        """R2, R3: after two failures each item has a transaction of its own."""

        def faults(operation: AnyOperation) -> Fault | None:
            if isinstance(operation, Save) and any(
                row[0] == "bad" for row in operation.inserts
            ):
                return disk_full()
            return None

        box = place.open()
        async with Worker(box, {job.machine: Hands()}) as worker:
            await settle(worker)
            with box.transaction():
                starts = [
                    elsewhere(worker.start(job.Start(job=id)))
                    for id in ("good", "bad", "fine")
                ]
                await asyncio.sleep(0.02)
                place.watched[0].faults = faults
            answers = await asyncio.gather(*starts, return_exceptions=True)
        assert [isinstance(answer, StoreError) for answer in answers] == [
            False,
            True,
            False,
        ]

    def test_c05_a_deadline_whose_save_fails_fires_at_the_next_turn(
        self, place: Place
    ) -> None:
        """C05: nothing in memory takes the failed wake for done."""

        async def script() -> None:
            box = place.open()
            async with Worker(box, {job.machine: Held()}) as worker:
                await worker.start(job.Start(job="a"))
                await settle(worker)
                place.watched[0].faults = always(Save)
                await elapse(place.clock, 30_000, worker)
                assert phase(box) == "Working"
                place.watched[0].faults = None
                await elapse(place.clock, 250, worker)
            assert phase(box) == "Failed"

        asyncio.run(script())


def reap(epoch: int, place: Place) -> Program[None]:
    """Another process takes all that a session held."""
    yield from ask(Begin())
    yield from ask(Release(epoch, place.clock.wall()))
    yield from ask(Commit())


class TestCommitUnknown:
    """R2, C28: whether a commit was made is settled before anybody is answered."""

    @pytest.mark.parametrize("made", [True, False])
    @pytest.mark.parametrize("skip", range(4))
    async def test_c28_each_message_is_applied_exactly_once(
        self, place: Place, made: bool, skip: int
    ) -> None:
        def lost() -> Fault:
            return Fault(CommitUnknown(), Commit() if made else Rollback())

        box, hands = place.open(), Hands()
        await asyncio.to_thread(box.start, job.Start(job="first"))
        place.watched[0].faults = once(Commit, lost, skip)
        async with Worker(box, {job.machine: hands}) as worker:
            assert (await worker.start(job.Start(job="a"))).rev == 1
            assert (await worker.send(job.machine, "a", job.Grow(size=5))).rev >= 2
            await worker.wait(job.machine, "first")
            await settle(worker)
        keys = [cmd.idempotency_key for cmd in hands.ran]
        assert len(keys) == len(set(keys))

    async def test_c28_a_commit_that_nobody_can_vouch_for_is_not_made_again(
        self, place: Place
    ) -> None:
        """C28: the session that would know is reaped before it is asked."""
        box, other, hands = place.open(), place.open(), Hands()

        def faults(operation: AnyOperation) -> Fault | None:
            match operation:
                case Commit():
                    place.watched[0].faults = reaped
                    return Fault(CommitUnknown(), Commit())
                case _:
                    return None

        def reaped(operation: AnyOperation) -> Fault | None:
            if isinstance(operation, Settle):
                place.watched[0].faults = None
                other.store.run(reap(operation.epoch, place))
            return None

        async with Worker(box, {job.machine: hands}) as worker:
            await settle(worker)
            place.watched[0].faults = faults
            with pytest.raises(Unsettled):
                await worker.start(job.Start(job="a"))
            await worker.wait(job.machine, "a")
        assert [cmd.ticket for cmd in hands.ran] == [1]


class TestSeveralProcesses:
    """R10: what the session decides."""

    async def test_c49_a_stalled_process_changes_nothing_when_it_comes_back(
        self, place: Place
    ) -> None:
        """C49, C51: its lease ran out, its rows are another's; its answer is late."""
        stalled, hands = place.open(), Held()
        other, others = place.open(), Hands()
        async with Worker(stalled, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            place.watched[0].faults = always(Begin)
            async with Worker(other, {job.machine: others}) as second:
                await elapse(place.clock, 10_001, worker, second)
                assert phase(other) == "Done"
                assert hands.cancelled == 1
                place.watched[0].faults = None
                await elapse(place.clock, 10_000, worker, second)
                assert stalled.counts["fenced"] == 1
                assert (await worker.start(job.Start(job="b"))).rev == 1
                hands.gate.set()
                await settle(worker, second)
        assert [cmd.idempotency_key for cmd in others.ran] == [
            hands.ran[0].idempotency_key
        ]
        assert phase(other, "b") == "Done"

    async def test_r10_a_process_declared_dead_takes_a_new_session(
        self, place: Place
    ) -> None:
        """R10: its answer is late; the row goes out again under the same key."""
        box, hands = place.open(), Held()

        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            former = worker.epoch
            place.open().store.run(reap(former, place))
            hands.gate.set()
            await worker.wait(job.machine, "a")
            assert worker.epoch > former
        assert (box.counts["fenced"], box.counts["late"]) == (1, 1)
        first, second = hands.ran
        assert first == second

    async def test_r10_a_process_that_commits_after_its_lease_hands_nothing_out(
        self, place: Place
    ) -> None:
        """R10, I3: stopped inside its transaction, it may be reaped right after it."""
        box, hands = place.open(), Hands()
        left = 1

        def stands_still(operation: AnyOperation) -> None:
            nonlocal left
            if isinstance(operation, Save) and left:
                left = 0
                place.clock.advance(10_000)

        async with Worker(box, {job.machine: hands}) as worker:
            await settle(worker)
            former = worker.epoch
            place.watched[0].faults = stands_still
            assert (await worker.start(job.Start(job="a"))).rev == 1
            await worker.wait(job.machine, "a")
            assert worker.epoch > former
        assert len(hands.ran) == 1

    async def test_r10_a_process_that_stands_still_after_its_commit_begins_nothing(
        self, place: Place
    ) -> None:
        """R10, I3: it was reaped between the commit and the handler's first line."""
        box, hands = place.open(), Hands()

        async with Worker(box, {job.machine: hands}) as worker:
            await settle(worker)
            box.start(job.Start(job="a"))  # the loop stands still until it is committed
            while not box.writer().quiet:
                time.sleep(0.001)
            former = worker.epoch
            place.open().store.run(reap(former, place))
            place.clock.advance(10_000)
            assert (worker.running, hands.ran) == ([], [])
            await worker.wait(job.machine, "a")
            assert worker.epoch > former
        assert len(hands.ran) == 1

    async def test_r19_what_another_process_withdraws_is_cancelled_here(
        self, place: Place
    ) -> None:
        """R19: the one that runs it asks as often as it renews its lease."""
        box, hands = place.open(), Held()
        other, others = place.open(), Hands()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            async with Worker(other, {job.machine: others}) as second:
                await second.send(job.machine, "a", job.Stop())
                await settle(worker, second)
                assert hands.cancelled == 0
                await elapse(place.clock, 3_400, worker, second)
                assert hands.cancelled == 1
                await elapse(place.clock, 60_000, worker, second)  # its last wake
                before = len(place.watched[0].seen)
                await elapse(place.clock, 60_000, worker, second)
                assert place.watched[0].seen[before:] == []
        assert others.ran == []

    async def test_what_another_process_writes_is_seen_by_polling(
        self, tmp_path: Path
    ) -> None:
        """`peers`: one question each 50 ms, and one look when something moved."""
        clock, hands = FakeClock(), Hands()
        url = f"sqlite:///{tmp_path}/jobs.db"
        with (
            deedbox.open(url, [job.machine], clock=clock) as box,
            deedbox.open(url, [job.machine], clock=clock) as sender,
        ):
            async with Worker(box, {job.machine: hands}) as worker:
                await elapse(clock, 200, worker)
                await asyncio.to_thread(sender.start, job.Start(job="a"))
                await settle(worker)
                assert hands.ran == []
                waiting = asyncio.ensure_future(worker.wait(job.machine, "a"))
                await elapse(clock, 50, worker)
                assert (await waiting).job == "a"

    async def test_c51_failed_renewals_are_no_loss_while_the_lease_lasts(
        self, place: Place
    ) -> None:
        """C51: two are refused in a row; nobody takes the row over."""
        box, hands = place.open(), Held()
        other, others = place.open(), Hands()
        async with (
            Worker(box, {job.machine: hands}) as worker,
            Worker(other, {job.machine: others}) as second,
        ):
            await worker.start(job.Start(job="a"))
            await settle(worker, second)
            place.watched[0].faults = always(Fence)
            await elapse(place.clock, 6_000, worker, second)
            place.watched[0].faults = None
            await elapse(place.clock, 30_000 - 6_001, worker, second)
            assert others.ran == []
            hands.gate.set()
            await settle(worker, second)
        assert phase(box) == "Done"
        assert box.counts["fenced"] == 0

    async def test_c51_the_lease_outlives_a_blocked_event_loop(
        self, place: Place
    ) -> None:
        """C51: renewals come from the writer's thread."""
        box, other, others = place.open(), place.open(), Hands()

        def fences() -> int:
            seen = place.watched[0].seen
            return sum(isinstance(operation, Fence) for operation in seen)

        class Blocks(Hands):
            async def run(self, cmd: job.Run) -> job.RunOutcome:
                for _ in range(4):
                    before = fences()
                    place.clock.advance(5_000)
                    while fences() == before:
                        time.sleep(0.001)  # the loop stands still, the writer does not
                return await super().run(cmd)

        async with Worker(box, {job.machine: Blocks()}, only=["Job.run"]) as worker:
            with box.transaction() as tx:
                tx.start(job.Start(job="a"))
            await worker.wait(job.machine, "a")
            async with Worker(other, {job.machine: others}) as second:
                await settle(second)
        assert others.ran == []
        assert box.counts["fenced"] == 0

    async def test_c51_a_handler_that_blocks_the_loop_is_named(
        self, place: Place, caplog: pytest.LogCaptureFixture
    ) -> None:
        """C51: once for each time that it stands still, with the line on which."""

        class Blocks(Hands):
            async def run(self, cmd: job.Run) -> job.RunOutcome:
                for _ in range(4):
                    place.clock.advance(4_000)
                    place.boxes[0].send(job.machine, "a", job.Note(text="n"))
                return await super().run(cmd)

        box = place.open()
        async with Worker(box, {job.machine: Blocks()}, only=["Job.run"]) as worker:
            with box.transaction() as tx:
                tx.start(job.Start(job="a"))
            await worker.wait(job.machine, "a")
        said = [each for each in caplog.messages if "event loop is blocked" in each]
        assert len(said) == 1
        assert 'place.boxes[0].send(job.machine, "a"' in said[0]

    async def test_a_conflict_is_done_again(self, place: Place) -> None:
        box = place.open()
        place.watched[0].faults = once(Save, lambda: Fault(Conflict("another's rev")))
        assert (await asyncio.to_thread(box.start, job.Start(job="a"))).rev == 1


async def test_a_claim_that_fails_is_tried_again(place: Place) -> None:
    box, hands = place.open(), Hands()
    box.start(job.Start(job="a"))
    place.watched[0].faults = once(Claim, disk_full)
    async with Worker(box, {job.machine: hands}) as worker:
        await elapse(place.clock, 1_000, worker)
    assert phase(box) == "Done"


def test_a_bug_in_one_message_is_not_the_store_s(place: Place) -> None:
    box = place.open()
    box.start(job.Start(job="a"))
    with pytest.raises(ReducerFailed):
        box.send(job.machine, "a", job.Boom())


async def test_i6_claims_belong_to_sessions(place: Place) -> None:
    """I6: after closing, no row is claimed and no session is left."""
    box, hands = place.open(), Held()
    async with Worker(box, {job.machine: hands}, patience=0.01) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        stop = asyncio.ensure_future(worker.stop())
        while not stop.done():
            place.clock.advance(10)
            await asyncio.sleep(0.001)
    instance = box.get(job.machine, "a")
    assert instance is not None
    assert not instance.owed[0].claimed


class TestOrder:
    """R3: one instance is serial in commit order, whoever sends."""

    def test_r3_messages_from_many_threads_are_one_sequence(self, place: Place) -> None:
        boxes = [place.open(), place.open()]
        boxes[0].start(job.Start(job="a"))
        revs: list[int] = []

        def send(box: Box, number: int) -> None:
            revs.extend(
                box.send(job.machine, "a", job.Note(text=f"{number}/{each}")).rev
                for each in range(10)
            )

        threads = [
            threading.Thread(target=send, args=(boxes[number % 2], number))
            for number in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(revs) == list(range(2, 82))

    async def test_r3_a_broken_instance_delays_no_other(self, place: Place) -> None:
        box = place.open()
        box.start_many(job.Start(job=id) for id in ("a", "b"))
        with pytest.raises(ReducerFailed):
            box.send(job.machine, "a", job.Boom())
        async with Worker(box, {job.machine: Hands()}) as worker:
            await worker.wait(job.machine, "b")
            await worker.wait(job.machine, "a")


class TestBounds:
    """R16: senders wait before the queue; answers and deadlines never do."""

    async def test_r16_senders_wait_when_the_queue_is_full(self, place: Place) -> None:
        box, hands = place.open(waiting=3), Held()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            with box.transaction():
                senders = [
                    elsewhere(worker.start(job.Start(job=f"j{number}")))
                    for number in range(10)
                ]
                await asyncio.sleep(0.02)
                hands.gate.set()
                await asyncio.sleep(0.02)
                waiting = sum(isinstance(each, Tell) for each in worker.queued)
                assert waiting <= 3
            await asyncio.gather(*senders)
            await settle(worker)
        assert {one.phase for one in box.list(job.machine)} == {"Done"}


async def test_a_wake_column_that_lies_is_corrected(place: Place) -> None:
    """I5: the state decides; a wrong column makes no turn without an end."""
    box = place.open()
    box.start(job.Start(job="a"))
    (row,) = box.store.read(ask(Load("Job", ["a"])))
    early = (*row[:6], row[3] + 1, *row[7:])

    def spoil() -> Program[None]:
        yield from ask(Begin())
        yield from ask(Save("Job", [], [(early, row[1])]))
        yield from ask(Commit())

    place.watched[0].store.run(spoil())
    async with Worker(box, {job.machine: Held()}, only=["Job.notify"]) as worker:
        await elapse(place.clock, 10, worker)
        assert box.counts["wakes corrected"] == 1
        instance = await worker.get(job.machine, "a")
    assert instance is not None
    assert instance.wake_at == place.clock.wall() - 10 + 30_000
    assert all(text.startswith("I5") for text in place.watched[0].broken)
    place.watched[0].broken.clear()
