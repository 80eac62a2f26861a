"""The same script gives the same answers and the same rows on memory and on SQLite."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import cast

from deedbox import DeedboxError, Instant, Rules, Worker
from deedbox.box import Box
from deedbox.operations import Store
from deedbox.stores.memory import MemoryStore
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock, elapse, picture, settle
from hypothesis import given, settings
from hypothesis import strategies as st
from jobs import job
from place import MACHINES

IDS = st.sampled_from(["a", "b", "ä", 'with "quotes"'])
MESSAGES = st.one_of(
    st.builds(job.Note, text=st.text(max_size=4).filter(lambda text: "\0" not in text)),
    st.builds(job.Press),
    st.builds(job.Later, due=st.integers(0, 2 * 10**12).map(Instant)),
    st.builds(job.Stop),
    st.builds(job.Boom),
    st.builds(job.Forbidden),
    st.builds(job.Grow, size=st.integers(1, 3)),
)
MESSAGE_IDS = st.none() | st.sampled_from(["m", "n"])
ACTIONS = st.one_of(
    st.tuples(st.just("start"), IDS, st.integers(1, 2), MESSAGE_IDS),
    st.tuples(st.just("send"), IDS, MESSAGES, MESSAGE_IDS),
    st.tuples(st.just("sends"), IDS, st.lists(MESSAGES, max_size=3)),
    st.tuples(st.just("pass"), st.sampled_from([1, 1_000, 30_000, 3_700_000])),
    st.tuples(st.just("serve"), st.sampled_from(["ran", "broke", "cursed", "raise"])),
    st.tuples(st.just("redrive"), IDS),
)


class Answers:
    """Handlers that all do the same."""

    def __init__(self, what: str) -> None:
        self._what = what

    async def run(self, _: job.Run) -> job.RunOutcome:
        match self._what:
            case "ran":
                return job.RunRan(result=1)
            case "broke":
                return job.RunBroke(error="no")
            case "cursed":
                return job.RunCursed()
            case _:
                raise OSError("away")

    async def press(self, _: job.Push) -> job.PressPressed:
        if self._what == "raise":
            raise OSError("away")
        return job.PressPressed()

    async def notify(self, _: job.Notify) -> None:
        if self._what == "raise":
            raise OSError("away")


async def serve(box: Box, clock: FakeClock, what: str) -> None:
    async with Worker(box, {job.machine: Answers(what)}) as worker:
        await settle(worker)
        await elapse(clock, 2_500, worker)


def act(box: Box, clock: FakeClock, action: tuple[object, ...]) -> object:
    match action:
        case ("start", str(id), int(size), str() | None as message_id):
            return box.start(job.Start(job=id, size=size), message_id=message_id)
        case ("send", str(id), message, str() | None as message_id):
            known = cast("job.Message", message)
            return box.send(job.machine, id, known, message_id=message_id)
        case ("sends", str(id), messages):
            some = cast("list[job.Message]", messages)
            with box.transaction() as tx:
                return [tx.send(job.machine, id, message) for message in some]
        case ("pass", int(milliseconds)):
            clock.advance(milliseconds)
            return None
        case ("serve", str(what)):
            return asyncio.run(serve(box, clock, what))
        case ("redrive", str(id)):
            return box.redrive(job.machine, id)
        case _:
            raise AssertionError(action)


def outcome(box: Box, clock: FakeClock, action: tuple[object, ...]) -> object:
    try:
        return act(box, clock, action)
    except DeedboxError as problem:
        return type(problem)


@settings(max_examples=60, deadline=None)
@given(st.lists(ACTIONS, max_size=12))
def test_two_stores_say_and_hold_the_same(script: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clocks = FakeClock(), FakeClock()
        stores: tuple[Store, Store] = (
            MemoryStore(clocks[0]),
            SqliteStore(Path(folder) / "jobs.db", clocks[1]),
        )
        rules = Rules(keep=3_600_000, deliveries=2)
        boxes = [
            Box(store, MACHINES, rules=rules, clock=clock, peers=False)
            for store, clock in zip(stores, clocks, strict=True)
        ]
        try:
            for action in script:
                said = [
                    outcome(box, clock, action)
                    for box, clock in zip(boxes, clocks, strict=True)
                ]
                assert said[0] == said[1], action
                rows = [picture(store, MACHINES) for store in stores]
                for row in (rows[0], rows[1]):
                    row.outbox = [(*each[:10], None, *each[11:]) for each in row.outbox]
                assert rows[0] == rows[1], action
        finally:
            for box in boxes:
                box.close()
