"""What becomes of a command: handed out, answered, handed out again, parked, withdrawn."""

from __future__ import annotations

import asyncio
import gc
import threading
from itertools import pairwise
from typing import cast

import pytest
from deedbox import (
    Instant,
    MisplacedCall,
    MissingHandlers,
    Rules,
    UnknownMachine,
    Worker,
)
from deedbox.box import Box
from deedbox.testing import Laws, elapse, settle
from hands import Hands, Held
from jobs import job
from place import MACHINES, Place


def phase(box: Box, id: str = "a") -> str:
    instance = box.get(job.machine, id)
    return "none" if instance is None else instance.phase


async def test_a_job_runs_to_its_end(box: Box) -> None:
    hands = Hands()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        assert await worker.wait(job.machine, "a") == job.Done(
            "a", 1, hands_born(hands), 1, 1
        )
        instance = await worker.get(job.machine, "a")
    assert instance is not None
    assert instance.owed == ()


def hands_born(hands: Hands) -> Instant:
    return Instant(int(hands.ran[0].idempotency_key.split("/")[2]))


async def test_r1_a_handler_sees_its_state_committed(place: Place) -> None:
    """R1, C26: the state that awaits the answer is stored before the handler starts."""
    box, other = place.open(), place.open()
    seen: list[str] = []

    def look(_: job.Run) -> job.RunOutcome:
        seen.append(phase(other))
        return job.RunRan(result=1)

    async with Worker(box, {job.machine: Hands(look)}) as worker:
        await worker.start(job.Start(job="a"))
        await worker.wait(job.machine, "a")
    assert seen == ["Working"]


async def test_c26_a_thousand_immediate_answers_all_count(box: Box) -> None:
    """C26: no answer meets a state that does not expect it yet."""
    async with Worker(box, {job.machine: Hands()}) as worker:
        await asyncio.gather(
            *(worker.start(job.Start(job=f"j{number}")) for number in range(100))
        )
        for number in range(100):
            await worker.wait(job.machine, f"j{number}")
    assert box.counts["handled"] == 200
    assert box.counts["late"] == 0


async def test_r4_a_deed_is_new_after_an_answer(place: Place) -> None:
    """R4: another key after an answer; the same command over deliveries."""
    hands = Hands(lambda _: job.RunBroke(error="no"))
    box = place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await elapse(place.clock, 10_000, worker)
    assert phase(box) == "Failed"
    assert [cmd.ticket for cmd in hands.ran] == [1, 2, 3]
    assert len({cmd.idempotency_key for cmd in hands.ran}) == 3


async def test_r6_a_raising_handler_gets_the_same_command_again(place: Place) -> None:
    """R4, R6: on the ladder of 1 s, doubled, at most 60 s; never an outcome."""
    times: list[int] = []

    def fail(_: job.Run) -> job.RunOutcome:
        times.append(place.clock.wall())
        raise OSError("the far side is away")

    hands, box = Hands(fail), place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await elapse(place.clock, 20_000, worker)
        (owed,) = (await worker.get(job.machine, "a")).owed  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
    assert [b - a for a, b in pairwise(times)] == [
        1_000,
        2_000,
        4_000,
        8_000,
    ]
    assert len(set(map(repr, hands.ran))) == 1
    assert owed.deliveries == 5
    assert owed.error is not None
    assert "the far side is away" in owed.error
    assert phase(box) == "Working"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (None, "run is answered by RunRan, RunBroke, RunCursed; not by None"),
        (job.PressPressed(), "not by PressPressed"),
        (job.RunRan(result=cast("int", "one")), "$.result"),
        (job.RunRan(result=2**63), "64-bit"),
    ],
    ids=["none", "another command's", "a text", "too large"],
)
async def test_r6_an_answer_that_was_not_declared_is_a_handler_that_failed(
    place: Place, wrong: object, says: str
) -> None:
    """R6: it never reaches the reducer; the command goes out again, and says why."""
    answers = [wrong, job.RunRan(result=1)]
    hands = Hands(lambda _: cast("job.RunOutcome", answers.pop(0)))
    box = place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        instance = await worker.get(job.machine, "a")
        assert instance is not None
        assert says in (instance.owed[0].error or "")
        assert instance.phase == "Working"
        await elapse(place.clock, 1_000, worker)
    assert phase(box) == "Done"
    assert len(hands.ran) == 2


async def test_r6_the_tenth_delivery_is_the_last(place: Place) -> None:
    """R6: then the row is parked, visible and redrivable."""
    place.rules = Rules(first_delay=10, longest_delay=20)
    working = False

    def answer(_: job.Run) -> job.RunOutcome:
        if not working:
            raise OSError("away")
        return job.RunRan(result=1)

    hands, box = Hands(answer), place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await elapse(place.clock, 5_000, worker)
        assert len(hands.ran) == 10
        instance = await worker.get(job.machine, "a")
        assert instance is not None
        assert instance.owed[0].parked == "no answer in 10 deliveries"
        assert box.counts["commands parked"] == 1
        working = True
        assert await asyncio.to_thread(box.redrive, job.machine, "a") == 1
        await settle(worker)
    assert phase(box) == "Done"
    assert len(hands.ran) == 11


async def test_r6_a_handler_over_its_limit_is_called_again(place: Place) -> None:
    """R6: it is cancelled, counted as a delivery, and its answer is not waited for."""
    hands, box = Held(), place.open()
    async with Worker(box, {job.machine: hands}, limit=2.0) as worker:
        await worker.start(job.Start(job="a"))
        await elapse(place.clock, 1_999, worker)
        assert hands.cancelled == 0
        await elapse(place.clock, 1, worker)
        assert hands.cancelled == 1
        await elapse(place.clock, 999, worker)
        assert len(hands.ran) == 1
        await elapse(place.clock, 1, worker)
        assert len(hands.ran) == 2
        hands.gate.set()
        await settle(worker)
    assert phase(box) == "Done"


@pytest.mark.parametrize("answer", [None, "paid", job.PressPressed()])
async def test_an_answer_of_another_type_counts_as_raised(
    place: Place, answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    hands = Hands(lambda _: answer)  # type: ignore[arg-type, return-value]  # pyright: ignore[reportArgumentType]
    box = place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
    assert phase(box) == "Working"
    assert "answered by RunRan, RunBroke, RunCursed" in caplog.text


async def test_an_answer_that_does_not_validate_names_the_field(box: Box) -> None:
    hands = Hands(lambda _: job.RunRan(result="one"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        instance = await worker.get(job.machine, "a")
    assert instance is not None
    assert instance.owed[0].error is not None
    assert "$.result" in instance.owed[0].error


async def test_a_plain_handler_runs_in_a_thread(box: Box) -> None:
    class Plain(Hands):
        where = ""

        def run(self, cmd: job.Run) -> job.RunOutcome:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
            self.where = threading.current_thread().name
            return job.RunRan(result=cmd.size)

    hands = Plain()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a", size=4))
        done = await worker.wait(job.machine, "a")
    assert isinstance(done, job.Done)
    assert done.result == 4
    assert hands.where.startswith("deedbox handler")


async def test_r19_leaving_a_state_withdraws_its_command(place: Place) -> None:
    """R19, B4: the row goes in that transaction, the handler is cancelled."""
    hands, box = Held(), place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await worker.send(job.machine, "a", job.Stop())
        instance = await worker.get(job.machine, "a")
        await settle(worker)
    assert instance is not None
    assert (instance.phase, instance.owed) == ("Failed", ())
    assert hands.cancelled == 1
    assert box.counts["withdrawn"] == 1


async def test_r19_an_issue_withdrawn_in_its_own_batch_is_never_handed_out(
    box: Box,
) -> None:
    hands = Hands()
    async with Worker(box, {job.machine: hands}) as worker:
        with box.transaction() as tx:
            tx.start(job.Start(job="a"))
            tx.send(job.machine, "a", job.Stop())
        await settle(worker)
    assert hands.ran == []


async def test_r20_commands_of_one_name_go_out_in_order(place: Place) -> None:
    """R20: the next when the former is gone, though it fails twice."""
    failures = 2

    class Shy(Held):
        async def notify(self, cmd: job.Notify) -> None:
            nonlocal failures
            if cmd.text == "0" and failures:
                failures -= 1
                raise OSError("busy")
            await super().notify(cmd)

    hands, box = Shy(), place.open()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        for number in range(4):
            await worker.send(job.machine, "a", job.Note(text=str(number)))
        await settle(worker)
        assert hands.notified == []
        await elapse(place.clock, 3_000, worker)
        hands.gate.set()
        await settle(worker)
    assert hands.notified == ["0", "1", "2", "3"]
    assert phase(box) == "Done"


async def test_a_command_without_outcomes_is_owed_past_the_end(place: Place) -> None:
    """B4: it outlives the state that issued it, and the instance's end."""
    box = place.open()
    box.start(job.Start(job="a"))
    box.send(job.machine, "a", job.Note(text="n"))
    box.send(job.machine, "a", job.Stop())
    hands = Hands()
    async with Worker(box, {job.machine: hands}) as worker:
        await settle(worker)
    assert hands.notified == ["n"]
    assert hands.ran == []


async def test_an_unrepeatable_command_is_handed_out_once(place: Place) -> None:
    """S7: the button is pressed once, whatever came of it; silence decides."""

    class Breaks(Hands):
        async def press(self, cmd: job.Push) -> job.PressPressed:
            await super().press(cmd)
            raise OSError("did it press?")

    hands, box = Breaks(), place.open()
    box.start(job.Start(job="a"))
    box.send(job.machine, "a", job.Press())
    async with Worker(box, {job.machine: hands}) as worker:
        await elapse(place.clock, 4_999, worker)
        assert phase(box) == "Pressing"
    async with Worker(place.open(), {job.machine: hands}) as worker:
        await elapse(place.clock, 1, worker)
    assert phase(box) == "Failed"
    assert len(hands.pressed) == 1


async def test_an_unrepeatable_command_that_is_answered_is_done(box: Box) -> None:
    hands = Held()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await worker.send(job.machine, "a", job.Press())
        assert isinstance(await worker.wait(job.machine, "a"), job.Done)
    assert len(hands.pressed) == 1


async def test_an_outcome_on_which_the_reducer_raises_is_kept_aside(
    place: Place,
) -> None:
    """STORAGE: its row is parked with the traceback, and the others of its batch go on."""
    cursed = True

    def answer(cmd: job.Run) -> job.RunOutcome:
        if cmd.job == "a" and cursed:
            return job.RunCursed()
        return job.RunRan(result=1)

    box = place.open()
    async with Worker(box, {job.machine: Hands(answer)}) as worker:
        await asyncio.gather(
            *(worker.start(job.Start(job=id)) for id in ("a", "b", "c"))
        )
        await settle(worker)
        assert [phase(box, id) for id in ("a", "b", "c")] == ["Working", "Done", "Done"]
        instance = await worker.get(job.machine, "a")
        assert instance is not None
        parked = instance.owed[0].parked
        assert parked is not None
        assert "this answer is cursed" in parked
        cursed = False
        await asyncio.to_thread(box.redrive, job.machine, "a")
        await settle(worker)
    assert phase(box) == "Done"


async def test_r16_rows_beyond_the_window_wait_in_the_store(box: Box) -> None:
    """R16, C17: a free place takes the longest waiting; nothing spins meanwhile."""
    hands = Held()
    async with Worker(box, {job.machine: hands}, window=2) as worker:
        await asyncio.gather(
            *(worker.start(job.Start(job=f"j{number}")) for number in range(5))
        )
        await settle(worker)
        assert len(hands.ran) == 2
        hands.gate.set()
        await settle(worker)
    assert len(hands.ran) == 5
    assert {one.phase for one in box.list(job.machine)} == {"Done"}


async def test_r15_stopping_waits_for_what_runs(place: Place) -> None:
    """R15"""
    hands, box = Held(), place.open()
    worker = Worker(box, {job.machine: hands})
    async with worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        stopping = asyncio.ensure_future(worker.stop())
        await asyncio.sleep(0.01)
        assert not stopping.done()
        hands.gate.set()
        assert await stopping == 0
    assert phase(box) == "Done"


async def test_r15_what_does_not_finish_stays_owed(place: Place) -> None:
    """R15, C53: with a count; the next worker takes it up under the same key."""
    hands, box = Held(), place.open()
    worker = Worker(box, {job.machine: hands}, patience=1.0)
    async with worker:
        for number in range(50):
            await worker.start(job.Start(job=f"j{number}"))
        await settle(worker)
        stopping = asyncio.ensure_future(worker.stop())
        while not stopping.done():
            place.clock.advance(200)
            await asyncio.sleep(0.001)
        assert await stopping == 50
    assert hands.cancelled == 50
    again = Hands()
    async with Worker(place.open(), {job.machine: again}) as worker:
        await settle(worker)
    keys = {cmd.idempotency_key for cmd in hands.ran}
    assert {cmd.idempotency_key for cmd in again.ran} == keys
    assert {one.phase for one in box.list(job.machine)} == {"Done"}


async def test_c53_handlers_survive_the_collector(box: Box) -> None:
    """C53: the loop holds tasks weakly; the worker does not."""

    class Lonely(Hands):
        async def run(self, cmd: job.Run) -> job.RunOutcome:
            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            loop.call_later(0.02, future.set_result, None)
            del loop
            await future
            return await super().run(cmd)

    async with Worker(box, {job.machine: Lonely()}) as worker:
        await asyncio.gather(
            *(worker.start(job.Start(job=f"j{number}")) for number in range(50))
        )
        for _ in range(10):
            gc.collect()
            await asyncio.sleep(0.003)
        for number in range(50):
            await worker.wait(job.machine, f"j{number}")
    assert {one.phase for one in box.list(job.machine)} == {"Done"}


async def test_i2_only_committed_and_held_rows_run(place: Place) -> None:
    """I2, I3: what runs is what the store says is held by its session."""
    box, hands, other = place.open(), Held(), Held()
    async with (
        Worker(box, {job.machine: hands}, window=3) as first,
        Worker(place.open(), {job.machine: other}, window=3) as second,
    ):
        for number in range(5):
            await first.start(job.Start(job=f"j{number}"))
        second._writer.poke()  # pyright: ignore[reportPrivateUsage]
        await settle(first, second)
        assert (len(hands.ran), len(other.ran)) == (3, 2)
        assert Laws(MACHINES, place.rules).broken(box.store, first, second) == []
        hands.gate.set()
        other.gate.set()
        await settle(first, second)
    assert {one.phase for one in box.list(job.machine)} == {"Done"}


def test_a_worker_needs_a_handler_for_each_command(box: Box) -> None:
    class Nothing:
        async def run(self, cmd: job.Run) -> None:
            """Enough for `only`."""

    with pytest.raises(MissingHandlers, match=r"lacks press of Job\.press"):
        Worker(box, {job.machine: Nothing()})
    with pytest.raises(MissingHandlers, match=r"no command Job\.walk"):
        Worker(box, {job.machine: Hands()}, only=["Job.walk"])
    Worker(box, {job.machine: Nothing()}, only=["Job.run"])


async def test_a_worker_says_what_it_cannot_do(box: Box) -> None:
    worker = Worker(box, {job.machine: Hands()})
    with pytest.raises(MisplacedCall):
        await worker.start(job.Start(job="a"))
    async with worker:
        with pytest.raises(UnknownMachine, match="no phase Nowhere"):
            await worker.wait(job.machine, "a", phases=["Nowhere"])
        with pytest.raises(MisplacedCall):
            await worker.__aenter__()


async def test_a_box_has_one_worker_and_outlives_it(box: Box) -> None:
    async with Worker(box, {job.machine: Hands()}):
        with pytest.raises(MisplacedCall, match="has a worker"):
            await Worker(box, {job.machine: Hands()}).__aenter__()
        with pytest.raises(MisplacedCall, match="Stop the worker"):
            box.close()
    async with Worker(box, {job.machine: Hands()}) as worker:
        await worker.start(job.Start(job="a"))
        await worker.wait(job.machine, "a")


async def test_only_some_commands_may_be_served(place: Place) -> None:
    box, hands, others = place.open(), Held(), Hands()
    async with Worker(box, {job.machine: hands}, only=["Job.run"]) as worker:
        await worker.start(job.Start(job="a"))
        await worker.send(job.machine, "a", job.Note(text="n"))
        await settle(worker)
        assert hands.notified == []
        async with Worker(
            place.open(), {job.machine: others}, only=["Job.notify"]
        ) as other:
            await settle(other)
        hands.gate.set()
        await settle(worker)
    assert others.notified == ["n"]
    assert others.ran == []


async def test_waiting_ends_at_its_time(place: Place) -> None:
    box = place.open()
    async with Worker(box, {job.machine: Held()}, patience=0.0) as worker:
        await worker.start(job.Start(job="a"))
        waiting = asyncio.ensure_future(worker.wait(job.machine, "a", timeout=3.0))
        await elapse(place.clock, 3_000, worker)
        with pytest.raises(TimeoutError, match="Job a is not yet in"):
            await waiting
        stop = asyncio.ensure_future(worker.stop())
        while not stop.done():
            place.clock.advance(10)
            await asyncio.sleep(0.001)


async def test_r17_each_message_and_each_command_is_counted_as_it_ended(
    place: Place,
) -> None:
    """R17: what was sent and what was answered, under one name each."""
    box = place.open()
    async with Worker(box, {job.machine: Hands()}) as worker:
        sent = [
            worker.start(job.Start(job="a")),
            worker.start(job.Start(job="a")),
            worker.start(job.Start(job="a", size=2)),
            worker.send(job.machine, "a", job.Forbidden()),
            worker.send(job.machine, "b", job.Stop()),
            worker.send(job.machine, "a", job.Later(due=Instant(1))),
        ]
        answers = await asyncio.gather(*sent, return_exceptions=True)
        await settle(worker)
    assert [type(answer).__name__ for answer in answers] == [
        "Receipt",
        "Receipt",
        "Rejected",
        "Rejected",
        "UnknownInstance",
        "Receipt",
    ]
    assert box.counts == {"handled": 2, "ignored": 2, "rejected": 3}


async def test_r16_a_wait_that_was_given_up_leaves_nothing(place: Place) -> None:
    """R16: by its time or by its task; of two that wait, the other goes on."""
    box = place.open()
    async with Worker(box, {job.machine: Hands()}) as worker:
        late = [
            asyncio.ensure_future(worker.wait(job.machine, f"j{number}", timeout=1.0))
            for number in range(20)
        ]
        stopped = asyncio.ensure_future(worker.wait(job.machine, "j0"))
        goes_on = asyncio.ensure_future(worker.wait(job.machine, "j0"))
        await settle(worker)
        assert box.writer().watched == 20
        stopped.cancel()
        await elapse(place.clock, 1_000, worker)
        ends = await asyncio.gather(*late, stopped, return_exceptions=True)
        assert {type(end) for end in ends} == {TimeoutError, asyncio.CancelledError}
        await settle(worker)
        assert box.writer().watched == 1
        await worker.start(job.Start(job="j0"))
        assert isinstance(await goes_on, job.Done)
        assert box.writer().watched == 0
