"""What a machine, a store or a person does wrong costs no other instance anything."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import deedbox
import pytest
from deedbox import (
    Due,
    Instant,
    Machine,
    MisplacedCall,
    Refused,
    Rules,
    StoreFailed,
    Unsettled,
    Worker,
)
from deedbox.box import Box
from deedbox.operations import (
    AnyOperation,
    Begin,
    Claim,
    Commit,
    CommitUnknown,
    Enter,
    Fence,
    Key,
    ListDue,
    Load,
    OutboxRow,
    Owe,
    Postpone,
    Program,
    Reap,
    Rollback,
    Save,
    Sessions,
    Settle,
    Take,
    ask,
)
from deedbox.stores.memory import MemoryStore
from deedbox.stores.sqlite import SqliteStore
from deedbox.stores.sqlite_file import Locks
from deedbox.testing import FakeClock, Fault, Watched, elapse, settle
from hands import Hands, Held, Turns
from jobs import job
from msgspec.structs import replace
from place import Place

JobMachine: TypeAlias = Machine[
    job.State, job.Start, job.Message, job.Outcome, job.Command
]


def phases(box: Box, machine: JobMachine = job.machine) -> dict[str, str]:
    return {one.id: one.phase for one in box.list(machine, limit=1_000)}


def failing(kind: type[AnyOperation]) -> Callable[[AnyOperation], Fault | None]:
    return lambda operation: (
        Fault(StoreFailed("the disk is full")) if isinstance(operation, kind) else None
    )


class TestStore:
    def test_r2_a_rollback_that_fails_leaves_nothing_behind(self, place: Place) -> None:
        """R2: the lock is given back, and the next transaction finds what was before."""

        def faults(operation: AnyOperation) -> Fault | None:
            match operation:
                case Save():
                    return Fault(StoreFailed("the disk is full"))
                case Rollback():
                    return Fault(StoreFailed("the disk is gone"), Rollback())
                case _:
                    return None

        box = place.open()
        place.watched[0].faults = faults
        with pytest.raises(StoreFailed):
            box.start(job.Start(job="a"))
        place.watched[0].faults = None
        assert phases(box) == {}
        assert box.start(job.Start(job="a")).rev == 1

    @pytest.mark.parametrize(
        "instead", [Commit(), Rollback(), None], ids=["made", "undone", "left open"]
    )
    def test_c28_a_store_that_is_away_after_a_commit_is_asked_again(
        self, place: Place, instead: AnyOperation | None
    ) -> None:
        """C28: until it says whether the commit was made; then it counts once."""
        box, silent = place.open(), 7

        def faults(operation: AnyOperation) -> Fault | None:
            nonlocal silent
            match operation:
                case Commit() if silent == 7:
                    silent -= 1
                    return Fault(CommitUnknown(), instead)
                case Settle() if silent:
                    silent -= 1
                    return Fault(StoreFailed("away"))
                case _:
                    return None

        box.start(job.Start(job="a"))
        place.watched[0].faults = faults
        assert box.send(job.machine, "a", job.Grow(size=5)).rev == 2
        instance = box.get(job.machine, "a")
        assert instance is not None
        assert (instance.rev, instance.state.size, silent) == (2, 5, 0)

    def test_c28_of_a_store_that_never_says_it_the_sender_hears_so(
        self, place: Place
    ) -> None:
        """C28: it is not done again; when the store is back, all goes on."""
        box = place.open()
        box.start(job.Start(job="a"))

        def faults(operation: AnyOperation) -> Fault | None:
            match operation:
                case Commit():
                    return Fault(CommitUnknown(), Commit())
                case Settle():
                    return Fault(StoreFailed("away"))
                case _:
                    return None

        place.watched[0].faults = faults
        with pytest.raises(Unsettled, match="away"):
            box.send(job.machine, "a", job.Grow(size=5))
        place.watched[0].faults = None
        assert box.send(job.machine, "a", job.Grow(size=1)).rev == 3

    async def test_r3_what_is_due_waits_while_it_cannot_be_read(
        self, place: Place
    ) -> None:
        """R2, R7: messages are still taken, and the deadline fires when it can be read."""
        box = place.open()
        async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            place.watched[0].faults = failing(ListDue)
            await elapse(place.clock, 30_000, worker)
            assert (await worker.start(job.Start(job="b"))).rev == 1
            assert phases(box)["a"] == "Working"
            place.watched[0].faults = None
            await elapse(place.clock, 250, worker)
        assert phases(box) == {"a": "Failed", "b": "Working"}

    async def test_r3_deadlines_that_take_long_to_reduce_are_done_in_parts(
        self, place: Place
    ) -> None:
        """R3: a message waits for a part of them, and none is lost."""
        box = place.open()
        box.start_many(job.Start(job=f"j{number:03}") for number in range(100))
        place.clock.advance(30_000)
        saved: list[int] = []

        def slow(operation: AnyOperation) -> None:
            if isinstance(operation, ListDue):
                place.clock.advance(25)
            if isinstance(operation, Save):
                saved.append(len(operation.updates))

        place.watched[0].faults = slow
        async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
            await settle(worker)
            place.watched[0].faults = None
        assert set(phases(box).values()) == {"Failed"}
        assert saved == [31, 31, 31, 7]

    def test_what_a_store_refuses_of_ours_fails_the_block(self, tmp_path: Path) -> None:
        """A trigger of another program on our tables: the block decides what follows."""
        with deedbox.open(f"sqlite:///{tmp_path}/jobs.db", [job.machine]) as box:
            with box.transaction() as tx:
                tx.connection.execute(
                    "create trigger no_jobs before insert on deedbox_job begin"
                    " select raise(abort, 'no jobs today'); end"
                )
            with (
                pytest.raises(StoreFailed, match="no jobs today"),
                box.transaction() as tx,
            ):
                tx.start(job.Start(job="a"))
            assert phases(box) == {}

    def test_a_store_in_memory_has_no_connection_to_give(self) -> None:
        with (
            deedbox.open("memory://", [job.machine]) as box,
            box.transaction() as tx,
            pytest.raises(MisplacedCall, match="no connection"),
        ):
            assert tx.connection


class TestMachine:
    async def test_r3_what_is_owed_goes_out_though_a_deadline_comes_again_and_again(
        self, place: Place
    ) -> None:
        """R3: an hour of missed seconds are four batches; a command waits for one."""

        def on_a_grid(state: job.State, msg: job.Msg) -> job.Step:
            if isinstance(state, job.Waiting) and isinstance(msg, Due):
                due = Instant(state.due + 1_000)
                later = Instant(state.due + 60_000)
                return replace(state, due=due, give_up_at=later), ()
            return job.reduce(state, msg)

        machine = dataclasses.replace(job.machine, reduce=on_a_grid)
        store = Watched(MemoryStore(place.clock))
        box = Box(store, [machine], rules=place.rules, clock=place.clock, peers=False)
        broke = Hands(lambda _: job.RunBroke(error="no"))
        async with Worker(box, {machine: broke}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
        place.clock.advance(3_600_000)
        box.start(job.Start(job="b"))
        began = len(store.seen)
        box.close()
        box = Box(store, [machine], rules=place.rules, clock=place.clock, peers=False)
        async with Worker(box, {machine: Hands()}) as worker:
            await worker.wait(machine, "b")
            await settle(worker)
        box.close()
        asked = [type(each) for each in store.seen[began:]]
        assert asked.count(ListDue) > 3
        assert asked[: asked.index(Claim)].count(ListDue) == 1

    async def test_c11_a_command_is_not_handed_out_when_its_time_is_over(
        self, place: Place
    ) -> None:
        """C11: its deadline passed while nobody ran, and fires first."""
        other, box, hands = place.open(), place.open(), Hands()
        other.start(job.Start(job="a"))
        place.clock.advance(30_000)
        async with Worker(box, {job.machine: hands}) as worker:
            await settle(worker)
        assert phases(box) == {"a": "Failed"}
        assert hands.ran == []
        asked = [type(each) for each in place.watched[1].seen]
        assert Claim not in asked[: len(asked) - asked[::-1].index(Save)]

    async def test_r17_an_awaited_answer_that_is_refused_is_parked(self) -> None:
        """R11, R17: generated reducers take what they await; it is said, not dropped."""

        def deaf(state: job.State, msg: job.Msg) -> job.Step | Refused:
            if isinstance(msg, job.RunRan):
                return Refused("ignored", "it does not listen")
            return job.reduce(state, msg)

        machine = dataclasses.replace(job.machine, reduce=deaf)
        box = deedbox.open("memory://", [machine], clock=FakeClock())
        async with Worker(box, {machine: Hands()}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            instance = await worker.get(machine, "a")
        box.close()
        assert instance is not None
        assert instance.phase == "Working"
        said = str(instance.owed[0].parked)
        assert "the awaited answer is refused: it does not listen" in said

    @pytest.mark.parametrize("how", ["refused", "unchanged"])
    async def test_r17_a_deadline_that_changes_nothing_is_parked(
        self, place: Place, how: str
    ) -> None:
        """R3, R17: it would be due for ever."""

        def unmoved(state: job.State, msg: job.Msg) -> job.Step | Refused:
            if isinstance(msg, Due):
                return Refused("ignored", "later") if how == "refused" else (state, ())
            return job.reduce(state, msg)

        machine = dataclasses.replace(job.machine, reduce=unmoved)
        box = deedbox.open("memory://", [machine], clock=place.clock)
        box.start(job.Start(job="a"))
        async with Worker(box, {machine: Held()}, only=["Job.press"]) as worker:
            await elapse(place.clock, 30_000, worker)
            assert (await worker.start(job.Start(job="b"))).rev == 1
        (parked,) = (one for one in box.list(machine) if one.parked is not None)
        box.close()
        assert parked.id == "a"
        assert "is due and changes nothing" in str(parked.parked)


class TestPerson:
    async def test_r17_an_answer_to_a_row_that_was_deleted_by_hand_is_late(
        self, tmp_path: Path
    ) -> None:
        """R17: it is counted, and the others go on."""
        path, clock = tmp_path / "jobs.db", FakeClock()
        hands = Held()
        with deedbox.open(f"sqlite:///{path}", [job.machine], clock=clock) as box:
            async with Worker(box, {job.machine: hands}) as worker:
                for id in ("a", "b"):
                    await worker.start(job.Start(job=id))
                await settle(worker)
                db = sqlite3.connect(path, isolation_level=None)
                db.execute("delete from deedbox_job where id = 'a'")
                db.close()
                hands.gate.set()
                await worker.wait(job.machine, "b")
                await settle(worker)
            assert box.counts["late"] == 1
            assert phases(box) == {"b": "Done"}

    def test_an_empty_file_becomes_a_store(self, tmp_path: Path) -> None:
        path = tmp_path / "jobs.db"
        path.touch()
        with deedbox.open(f"sqlite:///{path}", [job.machine]) as box:
            assert box.start(job.Start(job="a")).rev == 1

    def test_r10_a_session_whose_lock_file_was_deleted_is_taken_for_dead(
        self, tmp_path: Path
    ) -> None:
        """R10: nobody can show that it lives; and deleting is no way to hold its place."""
        clock = FakeClock()
        store = SqliteStore(tmp_path / "jobs.db", clock)
        other = SqliteStore(tmp_path / "jobs.db", clock)
        epoch = store.run(session())
        own = other.run(session())
        assert other.read(ask(Sessions())) == {epoch, own}
        other.run(reaped(own, clock))
        assert other.read(ask(Sessions())) == {epoch, own}
        os.unlink(tmp_path / "jobs.db.deedbox" / str(epoch))
        other.run(reaped(own, clock))
        assert other.read(ask(Sessions())) == {own}
        assert store.run(fenced(epoch)) is None
        store.close()
        other.close()


class TestOperations:
    def test_r5_of_the_rows_to_take_those_that_are_gone_are_told(
        self, place: Place
    ) -> None:
        """R5: what is still held is removed, what is another's stays."""
        place.open()
        store = place.boxes[0].store
        epoch = store.run(session())

        def took() -> Program[set[Key]]:
            yield from ask(Begin())
            yield from ask(Fence(epoch, 0, 10_000))
            rows: list[OutboxRow] = [
                ("Job", id, 1, "run", id, claim, None, 1, 0, None, None, 1, "{}")
                for id, claim in (("mine", epoch), ("other", epoch + 1))
            ]
            yield from ask(Owe(rows))
            keys = [("Job", id, 1) for id in ("mine", "gone", "other")]
            first = yield from ask(Take(epoch, keys))
            second = yield from ask(Take(epoch, keys))
            yield from ask(Rollback())
            assert second == set()
            return first

        assert store.run(took()) == {("Job", "mine", 1)}

    def test_an_epoch_that_another_process_still_shows_is_passed_over(
        self, tmp_path: Path
    ) -> None:
        """Its transaction was rolled back, and it has not let go of the lock yet."""
        path = tmp_path / "jobs.db"
        store = SqliteStore(path, FakeClock())
        shown = Locks(path)
        assert shown.hold(1)
        assert store.run(session()) == 2
        shown.close()
        store.close()

    def test_a_store_in_memory_tells_what_others_have_committed(self) -> None:
        store = MemoryStore(FakeClock())
        mine, other = store.run(session()), store.run(session())
        store.changed(mine)
        assert not store.changed(mine)
        store.run(fenced(mine))
        assert not store.changed(mine)
        store.run(fenced(other))
        assert store.changed(mine)
        assert not store.changed(mine)


def session() -> Program[int]:
    yield from ask(Begin())
    epoch = yield from ask(Enter())
    yield from ask(Commit())
    return epoch


def reaped(epoch: int, clock: FakeClock) -> Program[int]:
    yield from ask(Begin())
    freed = yield from ask(Reap(epoch, clock.wall(), 10))
    yield from ask(Commit())
    return freed


def fenced(epoch: int) -> Program[int | None]:
    yield from ask(Begin())
    now = yield from ask(Fence(epoch, 0, 10_000))
    yield from ask(Commit())
    return now


@pytest.mark.parametrize("raises", [False, True], ids=["answers", "raises"])
async def test_what_a_handler_of_a_former_life_says_does_not_count_in_the_next(
    place: Place, raises: bool
) -> None:
    """R18, I8: the next life gives the same ticket; what was kept over a fault is late."""
    place.rules = Rules(keep=0)
    box, other, hands = place.open(), place.open(), Turns()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await settle(worker)
        place.watched[0].faults = failing(Postpone if raises else Take)
        if raises:
            hands.ends[0].set_exception(OSError("away"))
        else:
            hands.ends[0].set_result(job.RunRan(result=1))
        await settle(worker)
        # Before it is tried again, another process sees to the end of that life.
        await worker.send(job.machine, "a", job.Stop())
        async with Worker(other, {job.machine: Hands()}, only=["Job.press"]) as rest:
            await settle(rest)
        assert box.get(job.machine, "a") is None
        await worker.start(job.Start(job="a"))
        await settle(worker)
        first, second = hands.ran
        assert first.ticket == second.ticket
        assert first.idempotency_key != second.idempotency_key
        place.watched[0].faults = None
        await elapse(place.clock, 900, worker)
        instance = box.get(job.machine, "a")
        assert instance is not None
        assert (instance.phase, instance.owed[0].claimed) == ("Working", True)
        hands.ends[1].set_result(job.RunRan(result=2))
        state = await worker.wait(job.machine, "a")
        assert isinstance(state, job.Done)
        assert state.result == 2
    assert len(hands.ran) == 2


async def test_r17_an_answer_to_what_another_process_has_withdrawn_is_late(
    place: Place,
) -> None:
    """R10, R17: its row is gone when it is taken; of two in one batch the other counts."""
    box, other, hands = place.open(), place.open(), Held()
    async with Worker(box, {job.machine: hands}) as worker:
        for id in ("a", "b"):
            await worker.start(job.Start(job=id))
        await settle(worker)
        other.send(job.machine, "a", job.Stop())
        hands.gate.set()
        await settle(worker)
    assert box.counts["late"] == 1
    assert phases(box) == {"a": "Failed", "b": "Done"}


@pytest.mark.parametrize(("behind", "counted"), [(60_000, 0), (301_000, 1)])
def test_r9_a_clock_that_is_far_behind_what_is_stored_is_counted(
    place: Place, behind: int, counted: int
) -> None:
    """R9: a minute is what clocks differ by; five are a clock that is wrong."""
    box = place.open()
    box.start(job.Start(job="a"))
    place.clock.jump(-behind)
    box.send(job.machine, "a", job.Grow(size=2))
    assert box.counts["clock_behind"] == counted


async def test_an_unrepeatable_command_that_raises_is_not_said_to_be_delivered_often(
    place: Place,
) -> None:
    """R6: it is called once whatever the limit, and waits for its state to end."""
    place.rules = Rules(deliveries=1)
    box = place.open()

    class Breaks(Held):
        async def press(self, cmd: job.Push) -> job.PressPressed:
            raise OSError(cmd.job)

    hands = Breaks()
    async with Worker(box, {job.machine: hands}) as worker:
        await worker.start(job.Start(job="a"))
        await worker.send(job.machine, "a", job.Press())
        await settle(worker)
        instance = box.get(job.machine, "a")
        assert instance is not None
        (owed,) = instance.owed
        assert (owed.parked, owed.claimed) == (None, False)
        assert "OSError: a" in str(owed.error)
        await elapse(place.clock, 5_000, worker)
    assert phases(box) == {"a": "Failed"}


async def test_r12_an_older_row_that_is_kept_a_while_longer_is_written_anew(
    place: Place,
) -> None:
    """R12, R18: its removal waits for what it owes, and its document is of one version."""
    place.rules = Rules(keep=0)
    box = place.open()
    box.start(job.Start(job="a"))
    box.send(job.machine, "a", job.Note(text="owed past the end"))
    box.send(job.machine, "a", job.Stop())
    (row,) = box.store.read(ask(Load("Job", ["a"])))

    def older() -> Program[None]:
        yield from ask(Begin())
        yield from ask(Save("Job", [], [((*row[:5], 1, *row[6:]), row[1])]))
        yield from ask(Commit())

    place.watched[0].store.run(older())
    async with Worker(box, {job.machine: Held()}, only=["Job.press"]) as worker:
        await settle(worker)
    (after,) = box.store.read(ask(Load("Job", ["a"])))
    assert (after[1], after[5]) == (row[1] + 1, job.machine.version)
    assert after[6] == place.clock.wall() + 3_600_000
    assert [entry.base for entry in box.history(job.machine, "a")][-1]
