"""Stores do what the operations say: each is held against the one in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from deedbox.clock import Clock
from deedbox.operations import (
    AnyOperation,
    Begin,
    Commit,
    Enter,
    Program,
    Rollback,
    Store,
    Take,
    ask,
)
from deedbox.step import AnyMachine
from deedbox.stores.memory import MemoryStore
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock, differences
from jobs import job
from lease import lease
from orders import order

MACHINES: list[AnyMachine] = [job.machine, lease.machine, order.machine]


def always_the_same(make: Callable[[Clock], MemoryStore]) -> Callable[[Clock], Store]:
    """A store in memory is opened again by being given again."""
    made: list[MemoryStore] = []

    def open_store(clock: Clock) -> Store:
        if not made:
            made.append(make(clock))
        return made[0]

    return open_store


@pytest.mark.parametrize("seed", range(40))
def test_sqlite_does_what_the_operations_say(seed: int, tmp_path: Path) -> None:
    def open_store(clock: Clock) -> Store:
        return SqliteStore(tmp_path / "store.db", clock, synchronous="NORMAL")

    assert differences(open_store, MACHINES, seed) == []


def test_the_reference_agrees_with_itself() -> None:
    for seed in range(40):
        assert differences(always_the_same(MemoryStore), MACHINES, seed) == []


class Greedy(MemoryStore):
    """Takes a row by its key, whoever holds it."""

    def perform(self, operation: AnyOperation) -> object:
        if isinstance(operation, Take):
            there = {key for key in operation.keys if key in self.outbox.rows}
            for key in there:
                self.outbox.drop(key)
            return there
        return super().perform(operation)


def test_a_store_that_does_otherwise_is_told_where() -> None:
    found = (
        differences(always_the_same(Greedy), MACHINES, seed) for seed in range(100)
    )
    said = next(said for said in found if said)
    assert said[0].startswith("Take(")


def test_an_epoch_that_was_never_committed_keeps_nobody_out(tmp_path: Path) -> None:
    """A process whose first commit fails may still hold the lock of its number."""
    clock = FakeClock()
    one, other = (SqliteStore(tmp_path / "store.db", clock) for _ in range(2))

    def entered(end: AnyOperation) -> Program[int]:
        yield from ask(Begin())
        epoch = yield from ask(Enter())
        yield end
        return epoch

    rolled_back = one.run(entered(Rollback()))
    mine = other.run(entered(Commit()))
    again = one.run(entered(Commit()))
    assert len({mine, again}) == 2
    assert mine > rolled_back
    one.close()
    other.close()
