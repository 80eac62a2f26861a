"""R6: what kills its process is found out alone; what was beside it soon has room again."""

from __future__ import annotations

import asyncio

import pytest
from deedbox import Rules, Worker
from deedbox.operations import beside
from deedbox.testing import crash, settle
from hands import Hands, Held, ran
from jobs import job
from place import Place


class Gated(Held):
    """Each `run` waits until it is let go by name."""

    def __init__(self) -> None:
        super().__init__()
        self.gates: dict[str, asyncio.Event] = {}

    async def run(self, cmd: job.Run) -> job.RunOutcome:
        self.ran.append(cmd)
        await self.gates.setdefault(cmd.job, asyncio.Event()).wait()
        return ran(cmd)


async def dies(place: Place) -> int:
    """A process takes up what it may of what is owed, and dies with it; how much it was."""
    box = place.open()
    worker = Worker(box, {job.machine: Held()})
    await worker.__aenter__()
    await settle(worker)
    running = len(worker.running)
    await crash(worker, box)
    return running


async def died(place: Place, times: int) -> None:
    """So many processes took up all that was owed, and died with it."""
    for _ in range(times):
        assert await dies(place) == 3


def test_r6_twice_the_company_takes_one_delivery_less() -> None:
    """The tenth is alone, the ninth beside one, the third beside 127."""
    assert [
        max(others for others in range(200) if beside(10, others) >= tries)
        for tries in range(3, 10)
    ] == [127, 63, 31, 15, 7, 3, 1]
    assert beside(10, 1) < 10 < 99 < beside(10, 0)


async def test_r6_who_died_among_many_runs_among_many(place: Place) -> None:
    """Three processes were killed for another reason: all that they held goes on at once."""
    place.open().start_many(job.Start(job=f"j{number:03}") for number in range(130))
    assert [await dies(place) for _ in range(3)] == [130, 130, 128]
    box, held = place.open(), Held()
    async with Worker(box, {job.machine: held}) as worker:
        await settle(worker)
        assert len(worker.running) == 64
        held.gate.set()
        await settle(worker)
        while worker.running:
            await settle(worker)
    assert len(box.list(job.machine, phase="Done", limit=200)) == 130


async def test_r6_at_the_last_delivery_they_go_one_by_one(place: Place) -> None:
    """Each alone among its like, the longest due first."""
    place.rules = Rules(deliveries=3)
    place.open().start_many(job.Start(job=id) for id in "abc")
    await died(place, 2)
    box, hands = place.open(), Gated()
    async with Worker(box, {job.machine: hands}) as worker:
        for expected in (["a"], ["a", "b"], ["a", "b", "c"]):
            await settle(worker)
            assert [command.job for command in hands.ran] == expected
            hands.gates[expected[-1]].set()
        await settle(worker)
    assert {one.phase for one in box.list(job.machine)} == {"Done"}


async def test_r6_what_is_no_suspect_goes_on_beside_one(place: Place) -> None:
    """R3: a suspect that hangs holds up its like only."""
    place.rules = Rules(deliveries=3)
    place.open().start_many(job.Start(job=id) for id in "abc")
    await died(place, 2)
    box, hands = place.open(), Gated()
    async with Worker(box, {job.machine: hands}) as worker:
        await settle(worker)
        hands.gates["d"] = asyncio.Event()
        hands.gates["d"].set()
        await worker.start(job.Start(job="d"))
        await worker.wait(job.machine, "d")
        assert [command.job for command in hands.ran] == ["a", "d"]
        for gate in "abc":
            hands.gates.setdefault(gate, asyncio.Event()).set()


async def test_r16_a_suspect_needs_a_place_like_any_other(place: Place) -> None:
    """R16: it waits while the window is full, and is taken up when a place is free."""
    place.open().start_many(job.Start(job=id) for id in "abc")
    await died(place, 2)
    box, hands = place.open(), Gated()
    async with Worker(box, {job.machine: hands}, window=1) as worker:
        await settle(worker)
        assert len(worker.running) == 1
        for id in "abc":
            hands.gates.setdefault(id, asyncio.Event()).set()
        await settle(worker)
    assert [command.job for command in hands.ran] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("deliveries", "together"),
    [
        (1, [3, 3, 1, 1, 1, 0]),
        (2, [3, 3, 1, 1, 1, 0]),
        (3, [3, 3, 1, 1, 1, 0]),
        (4, [3, 3, 2, 1, 1, 1, 1, 0]),
        (5, [3, 3, 3, 2, 1, 1, 1, 1, 0]),
    ],
)
async def test_r6_a_death_in_company_parks_nobody(
    place: Place, deliveries: int, together: list[int]
) -> None:
    """However few deliveries there are: each is parked when it died alone."""
    place.rules = Rules(deliveries=deliveries)
    place.open().start_many(job.Start(job=id) for id in "abc")
    assert [await dies(place) for _ in together] == together
    box = place.open()
    rows = [box.get(job.machine, id).owed[0] for id in "abc"]  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
    assert {row.deliveries for row in rows} == {max(deliveries, 3)}
    assert {row.parked for row in rows} == {
        f"no answer in {max(deliveries, 3)} deliveries"
    }


async def test_r6_a_handler_that_raises_is_no_suspect_any_more(place: Place) -> None:
    """Its process did not die of it; it goes by the ladder, beside the others."""

    def away(_: job.Run) -> job.RunOutcome:
        raise OSError("away")

    place.open().start_many(job.Start(job=id) for id in "abc")
    await died(place, 2)
    async with Worker(place.open(), {job.machine: Hands(away)}) as worker:
        await settle(worker)
    box, held = place.open(), Held()
    place.clock.advance(10_000)
    async with Worker(box, {job.machine: held}) as worker:
        await settle(worker)
        assert len(worker.running) == 3
        held.gate.set()
        await settle(worker)
