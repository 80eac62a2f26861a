"""Processes of two versions over one store: what the explorer takes an upgrade to be.

Once a newer process has written an instance, an older one does nothing with it.  What it
has handed out goes on; the answer that it has in hand is given back, or is late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from deedbox import NewerVersion, Worker
from deedbox.testing import elapse, settle

from tests.versions.made import imported, picks
from tests.versions.shelf import Shelf, outbox_of, row_of
from tests.versions.test_chain import Hands, begin, one_lane


@pytest.fixture(scope="module")
def pick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ModuleType]]:
    with imported(tmp_path_factory.mktemp("picks"), "pick", *picks()) as modules:
        yield modules


class Slow(Hands):
    """Handlers whose answer comes when the test says so."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module)
        self.may_answer = asyncio.Event()

    async def _hear(self, cmd: Any) -> None:
        await super()._hear(cmd)
        await self.may_answer.wait()


def keys(hands: Hands, command: str) -> list[str]:
    return [cmd.idempotency_key for cmd in hands.asked if type(cmd).__name__ == command]


def test_what_an_older_process_has_handed_out_is_asked_for_again(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """R4, R12: its answer is given back, and the newer process asks under the same key."""
    one, two = pick[0], pick[1]
    begin(shelf, one, "Fetching")
    (before,) = (
        row for row in outbox_of(shelf.store, "p").values() if row[3] == "fetch"
    )

    async def run() -> tuple[list[str], list[str]]:
        slow, fast = Slow(one), Hands(two)
        shelf.clock.advance(1_000)
        with shelf.open(one.machine) as older, shelf.open(two.machine) as newer:
            async with Worker(older, {one.machine: slow}, patience=0) as first:
                await elapse(shelf.clock, 1_000, first)
                assert keys(slow, "Fetch") == [before[4]]
                newer.migrate(two.machine)
                assert row_of(shelf.store, "Pick", "p")[5] == 2
                slow.may_answer.set()
                await settle(first)
                row = outbox_of(shelf.store, "p")[before[2]]
                assert (row[4], row[5]) == (before[4], None)
            async with Worker(newer, {two.machine: fast}, patience=0) as second:
                await elapse(shelf.clock, 5_000, second)
        return keys(slow, "Fetch"), keys(fast, "Fetch")

    old, new = asyncio.run(run())
    assert old == new == [before[4]]
    assert row_of(shelf.store, "Pick", "p")[2] == "Done"


def test_what_a_newer_version_withdraws_is_late_when_an_older_process_answers(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """The older hand-out has gone on alone; another deed is open by then."""
    one, two = pick[0], pick[1]
    begin(shelf, one, "Packing")

    async def run() -> None:
        slow = Slow(one)
        shelf.clock.advance(1_000)
        with shelf.open(one.machine) as older, shelf.open(two.machine) as newer:
            async with Worker(older, {one.machine: slow}, patience=0) as first:
                await elapse(shelf.clock, 1_000, first)
                assert len(keys(slow, "Pack")) == 1
                newer.migrate(two.machine)
                owed = outbox_of(shelf.store, "p")
                assert [row[3] for row in owed.values()] == ["wrap"]
                slow.may_answer.set()
                await settle(first)
                assert outbox_of(shelf.store, "p") == owed

    asyncio.run(run())
    assert row_of(shelf.store, "Pick", "p")[2] == "Packing"


def test_an_older_process_fires_no_deadline_and_takes_no_message_of_a_newer_one(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """R12: neither `Due` nor `Load` nor `Claim` gives it what a newer one has written."""
    one, two = pick[0], pick[1]
    begin(shelf, one, "Paused")

    async def run() -> None:
        hands = Hands(one)
        with shelf.open(two.machine) as newer:
            newer.migrate(two.machine)
        before = row_of(shelf.store, "Pick", "p")
        assert before[6] is not None
        with shelf.open(one.machine) as older:
            async with Worker(older, {one.machine: hands}, patience=0) as worker:
                await elapse(shelf.clock, 200_000, worker)
                with pytest.raises(NewerVersion):
                    await worker.send(one.machine, "p", one.Go(lane=one_lane(one)))
        assert row_of(shelf.store, "Pick", "p") == before
        assert keys(hands, "Fetch") == []

    asyncio.run(run())
