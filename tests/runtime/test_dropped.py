"""A turn that is dropped at any of its operations asks the store for nothing more."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Final

import pytest
from deedbox import Rules, StoreFailed
from deedbox.batch import SUSPECTS, Held
from deedbox.box import Box
from deedbox.operations import AnyOperation, Key, ListDue, Mark, Save
from deedbox.stores.driver import drive
from deedbox.stores.memory import MemoryStore
from deedbox.testing import FakeClock
from deedbox.writer import Serve, Writer
from jobs import job

TURNS: Final = 12


class Nobody:
    """Runs no handler."""

    def deliver(self, started: list[Held], ended: Iterable[Key]) -> None: ...
    def flush(self) -> None: ...


def busy() -> tuple[MemoryStore, Writer]:
    """A writer that has a deadline, a start and a message to do, and rows to hand out."""
    clock = FakeClock()
    store = MemoryStore(clock)
    filled = Box(store, [job.machine], rules=Rules(), clock=clock, peers=False)
    filled.start_many(job.Start(job=id) for id in "ab")
    filled.send(job.machine, "a", job.Press())
    filled.close()
    clock.advance(10**9)
    box = Box(
        store,
        [job.machine],
        rules=Rules(),
        clock=clock,
        peers=False,
        spawn=lambda _: lambda: None,
    )
    writer, answer = box.writer(), Future[object]()
    room = {("Job", command): 3 for command in ("run", "press", "notify")}
    writer.submit(Serve(Nobody(), {**room, SUSPECTS: 1}))
    writer.submit(box.machines.start(job.Start(job="c"), None, answer.set_result))
    note = job.Note(text="n")
    writer.submit(
        box.machines.message(job.machine, "b", note, "m", Future[object]().set_result)
    )
    return store, writer


class Died(BaseException):
    """The process is gone."""


def dies_at(count: int, failing: type[AnyOperation]) -> bool:
    """Drop the turn that comes to the n-th operation; False when none of them does."""
    store, writer = busy()
    done = 0

    def perform(operation: AnyOperation) -> object:
        nonlocal done
        done += 1
        if done == count:
            raise Died
        if isinstance(operation, failing):
            raise StoreFailed("the disk is full")
        return store.perform(operation)

    for _ in range(TURNS):
        turn = writer.turn()
        try:
            drive(turn, perform)
        except Died:
            turn.close()
            return True
    return False


@pytest.mark.parametrize("failing", [Mark, Save, ListDue])
def test_a_process_that_dies_asks_for_nothing_more(failing: type[AnyOperation]) -> None:
    """C28: in a batch, while its items are tried one by one, or at what is due."""
    count = 1
    while dies_at(count, failing):
        count += 1
    assert count > 20
