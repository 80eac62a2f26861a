"""What is over says so: a closed box, a stopped worker; nobody waits for them for ever."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import deedbox
import pytest
from deedbox import MisplacedCall, StoreClosed, Worker
from deedbox.box import Box
from deedbox.operations import (
    AnyOperation,
    Begin,
    Commit,
    CommitUnknown,
    Program,
    Release,
    Settle,
    ask,
)
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock, Fault, crash, settle
from hands import Hands, Held
from jobs import job
from place import Place

CALLS: dict[str, Callable[[Box], object]] = {
    "start": lambda box: box.start(job.Start(job="b")),
    "start_many": lambda box: box.start_many([job.Start(job="b")]),
    "send": lambda box: box.send(job.machine, "a", job.Note(text="n")),
    "redrive": lambda box: box.redrive(job.machine, "a"),
    "migrate": lambda box: box.migrate(job.machine),
    "get": lambda box: box.get(job.machine, "a"),
    "history": lambda box: box.history(job.machine, "a"),
    "list": lambda box: box.list(job.machine),
    "transaction": lambda box: box.transaction().__enter__(),
}


class TestClosedBox:
    @pytest.mark.parametrize("used", [True, False], ids=["used", "unused"])
    @pytest.mark.parametrize("name", CALLS)
    def test_a_closed_box_refuses_every_call(
        self, place: Place, name: str, used: bool
    ) -> None:
        box = place.open()
        if used:
            box.start(job.Start(job="a"))
        box.close()
        with pytest.raises(StoreClosed):
            CALLS[name](box)

    @pytest.mark.parametrize("used", [True, False], ids=["used", "unused"])
    def test_what_was_opened_since_is_not_closed_with_a_box_again(
        self, tmp_path: Path, used: bool
    ) -> None:
        """The numbers of its files may be those of other files by then."""
        box = deedbox.open(f"sqlite:///{tmp_path}/jobs.db", [job.machine])
        if used:
            box.start(job.Start(job="a"))
        box.close()
        others = [os.open(tmp_path / "other", os.O_CREAT | os.O_RDWR) for _ in range(9)]
        box.close()
        for other in others:
            os.close(other)

    def test_a_closed_store_takes_no_reader_and_no_guest(self, tmp_path: Path) -> None:
        """Somebody who was past the box when it closed."""
        store = SqliteStore(tmp_path / "jobs.db", FakeClock())
        store.close()
        with pytest.raises(StoreClosed):
            store.read(ask(Begin()))
        with pytest.raises(StoreClosed), store.transaction():
            pass
        store.close()

    async def test_a_box_with_a_worker_is_closed_after_it(self, place: Place) -> None:
        box = place.open()
        async with Worker(box, {job.machine: Hands()}):
            with pytest.raises(MisplacedCall):
                box.close()
            box.start(job.Start(job="a"))
        box.close()

    async def test_a_closed_box_takes_no_worker(self, place: Place) -> None:
        box = place.open()
        box.close()
        worker = Worker(box, {job.machine: Hands()})
        with pytest.raises(StoreClosed):
            await worker.__aenter__()
        box.close()


async def start(worker: Worker) -> object:
    return await worker.start(job.Start(job="b"))


async def send(worker: Worker) -> object:
    return await worker.send(job.machine, "a", job.Note(text="n"))


async def wait(worker: Worker) -> object:
    return await worker.wait(job.machine, "a")


class TestStoppedWorker:
    @pytest.mark.parametrize("call", [start, send, wait])
    async def test_a_stopped_worker_takes_nothing_more(
        self, place: Place, call: Callable[[Worker], asyncio.Future[object]]
    ) -> None:
        box = place.open()
        async with Worker(box, {job.machine: Hands()}) as worker:
            await worker.start(job.Start(job="a"))
        with pytest.raises(StoreClosed):
            await call(worker)
        assert await worker.stop() == 0
        assert await worker.get(job.machine, "a") is not None

    async def test_who_waits_when_the_worker_stops_hears_it(self, place: Place) -> None:
        """Whether it was seen by a transaction already, or stands in the queue."""
        box = place.open()
        async with Worker(box, {job.machine: Hands()}) as worker:
            seen = asyncio.ensure_future(worker.wait(job.machine, "never"))
            await settle(worker)
            assert not seen.done()
            queued = asyncio.ensure_future(worker.wait(job.machine, "never"))
        for waiting in (seen, queued):
            with pytest.raises(StoreClosed):
                await waiting

    async def test_handlers_go_on_asking_while_the_worker_stops(
        self, place: Place
    ) -> None:
        """R15: it is not over before they are."""
        box = place.open()

        class Asks(Held):
            async def run(self, cmd: job.Run) -> job.RunOutcome:
                answer = await super().run(cmd)
                await worker.send(job.machine, cmd.job, job.Note(text="n"))
                return answer

        hands = Asks()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            stopping = asyncio.ensure_future(worker.stop())
            await asyncio.sleep(0.01)
            hands.gate.set()
            assert await stopping == 0
        instance = box.get(job.machine, "a")
        assert instance is not None
        assert (instance.phase, instance.rev) == ("Done", 3)

    async def test_of_a_crashed_process_nothing_is_asked(self, place: Place) -> None:
        box = place.open()
        worker = Worker(box, {job.machine: Held()})
        await worker.__aenter__()
        await worker.start(job.Start(job="a"))
        await crash(worker, box)
        with pytest.raises(StoreClosed):
            await start(worker)
        with pytest.raises(StoreClosed):
            box.get(job.machine, "a")
        assert await worker.stop() == 0

    async def test_c28_who_waits_still_does_after_a_commit_that_is_unknown(
        self, place: Place
    ) -> None:
        """C28: to look is no message; it is done again in the next session."""
        box, other = place.open(), place.open()

        def reap(epoch: int) -> Program[None]:
            yield from ask(Begin())
            yield from ask(Release(epoch, place.clock.wall()))
            yield from ask(Commit())

        def faults(operation: AnyOperation) -> Fault | None:
            match operation:
                case Commit():
                    return Fault(CommitUnknown(), Commit())
                case Settle():
                    place.watched[0].faults = None
                    other.store.run(reap(operation.epoch))
                case _:
                    pass
            return None

        hands = Held()
        async with Worker(box, {job.machine: hands}) as worker:
            await worker.start(job.Start(job="a"))
            await settle(worker)
            place.watched[0].faults = faults
            waiting = asyncio.ensure_future(worker.wait(job.machine, "a"))
            await settle(worker)
            assert place.watched[0].faults is None
            hands.gate.set()
            with suppress(TimeoutError):
                await asyncio.wait_for(waiting, 30)
        assert isinstance(waiting.result(), job.Done)
