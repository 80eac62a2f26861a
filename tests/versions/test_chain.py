"""Three versions of one machine over one store: each reads what any older one left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from deedbox import InstanceParked, NewerVersion, Worker
from deedbox.operations import Begin, Commit, Load, Program, Save, ask
from deedbox.testing import settle

from tests.versions.made import imported, picks
from tests.versions.shelf import MORNING, Shelf, bases_of, outbox_of, row_of


@pytest.fixture(scope="module")
def pick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ModuleType]]:
    """The modules of version 1, 2 and 3."""
    with imported(tmp_path_factory.mktemp("picks"), "pick", *picks()) as modules:
        yield modules


class Hands:
    """Handlers of any version; those of `failing` commands raise."""

    def __init__(self, module: ModuleType, *failing: str, missing: int = 0) -> None:
        self.module = module
        self.failing = failing
        self.missing = missing
        self.asked: list[Any] = []

    async def _hear(self, cmd: Any) -> None:
        self.asked.append(cmd)
        if type(cmd).__name__ in self.failing:
            raise ConnectionError

    async def fetch(self, cmd: Any) -> Any:
        await self._hear(cmd)
        if self.missing:
            self.missing -= 1
            return self.module.FetchMissing()
        item = {"sku": "tea", "grams": 12}
        known = self.module.Item.__struct_fields__
        return self.module.FetchFound(
            item=self.module.Item(**{name: item[name] for name in known})
        )

    async def pack(self, cmd: Any) -> Any:
        await self._hear(cmd)
        return self.module.PackPacked()

    async def wrap(self, cmd: Any) -> Any:
        await self._hear(cmd)
        return self.module.WrapWrapped()

    async def announce(self, cmd: Any) -> None:
        await self._hear(cmd)


def serve(shelf: Shelf, module: ModuleType, hands: Hands) -> None:
    """A worker of this version, until nothing moves; what was put off is due again."""
    shelf.clock.advance(1_000)

    async def run() -> None:
        with shelf.open(module.machine) as box:
            async with Worker(box, {module.machine: hands}) as worker:
                await settle(worker)

    asyncio.run(run())


def begin(shelf: Shelf, one: ModuleType, phase: str) -> None:
    """The instance "p" as version 1 left it in this phase."""
    with shelf.open(one.machine) as box:
        box.start(one.Start(pick="p", size=5_000))
        if phase != "Idle":
            box.send(one.machine, "p", one.Go(lane=one_lane(one)))
    match phase:
        case "Paused":
            serve(shelf, one, Hands(one, missing=1))
        case "Packing":
            serve(shelf, one, Hands(one, "Pack"))
        case "Done":
            serve(shelf, one, Hands(one))
        case _:
            pass
    assert row_of(shelf.store, "Pick", "p")[2] == phase


def one_lane(module: ModuleType) -> Any:
    """A value of the choice, whose class is of the module's types."""
    kind = module.Go.__annotations__["lane"]
    assert kind == "Lane"
    types = __import__(f"{module.__name__.partition('.')[0]}.types", fromlist=["x"])
    return types.LaneHand()


PHASES = ["Idle", "Fetching", "Paused", "Packing", "Done"]
IN_VERSION_3 = dict(zip(PHASES, PHASES, strict=True)) | {"Paused": "Fetching"}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("way", [[2], [1, 2]], ids=["1-3", "1-2-3"])
def test_version_3_goes_on_from_version_1(
    shelf: Shelf, pick: list[ModuleType], phase: str, way: list[int]
) -> None:
    """Over version 2 or past it, to the same state and the same end."""
    begin(shelf, pick[0], phase)
    for number in way:
        with shelf.open(pick[number].machine) as box:
            done = box.migrate(pick[number].machine)
            assert (done.migrated, done.parked) == (1, 0)
    assert row_of(shelf.store, "Pick", "p")[2] == IN_VERSION_3[phase]
    assert row_of(shelf.store, "Pick", "p")[5] == 3
    last = pick[2]
    serve(shelf, last, Hands(last))
    with shelf.open(last.machine) as box:
        if phase == "Idle":
            box.send(last.machine, "p", last.Go(lane=one_lane(last)))
    serve(shelf, last, Hands(last))
    state = json.loads(row_of(shelf.store, "Pick", "p")[8])
    wanted = {"type": "Done", "size": 1_000, "result": "tea"}
    assert {name: state[name] for name in wanted} == wanted
    assert outbox_of(shelf.store, "p") == {}


def test_an_awaited_command_stays_owed_in_the_words_of_the_newer_version(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """S19: ticket and key are those of version 1; the `command` lines of 2 and 3 apply."""
    begin(shelf, pick[0], "Fetching")
    before = outbox_of(shelf.store, "p")
    with shelf.open(pick[2].machine) as box:
        box.migrate(pick[2].machine)
    after = outbox_of(shelf.store, "p")
    assert after.keys() == before.keys() == {1, 2}
    assert [row[4] for row in after.values()] == [row[4] for row in before.values()]
    fetch = json.loads(after[2][12])
    assert (fetch["size"], fetch["urgent"]) == (1_000, True)
    assert after[2][11] == 3


def test_a_command_that_is_awaited_no_more_is_withdrawn_and_another_asked_for(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """S19: `do` in a migration opens a new deed; `deed` there is the older one's key."""
    begin(shelf, pick[0], "Packing")
    before = outbox_of(shelf.store, "p")
    assert [row[3] for row in before.values()] == ["pack"]
    with shelf.open(pick[1].machine) as box:
        box.migrate(pick[1].machine)
        instance = box.get(pick[1].machine, "p")
    assert instance is not None
    (row,) = outbox_of(shelf.store, "p").values()
    assert (row[2], row[3]) == (4, "wrap")
    assert row[4].endswith("/4")
    assert json.loads(row[12])["deed"] == before[3][4]
    assert instance.state.ticket == instance.state.issued == 4


def test_what_a_migration_asks_for_is_asked_once(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """A migration with effects is stored when it is first met, not at the next step."""
    begin(shelf, pick[0], "Packing")
    two = pick[1]
    with shelf.open(two.machine) as box:
        go = two.Go(lane=one_lane(two))
        assert box.send(two.machine, "p", go).answer == "ignored"
        assert box.send(two.machine, "p", go).answer == "ignored"
    assert row_of(shelf.store, "Pick", "p")[5] == 2
    assert [row[2] for row in outbox_of(shelf.store, "p").values()] == [4]


def test_a_deadline_that_a_migration_sets_counts_from_the_last_step(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """`now` in a migration is the time of the row, so reading it twice gives one state."""
    begin(shelf, pick[0], "Fetching")
    shelf.clock.advance(3_600_000)
    with shelf.open(pick[1].machine) as box:
        instance = box.get(pick[1].machine, "p")
        assert instance is not None
        assert instance.state.silent_at == MORNING + 30_000
        box.migrate(pick[1].machine)
    assert row_of(shelf.store, "Pick", "p")[6] == MORNING + 30_000


@pytest.mark.parametrize("phase", PHASES)
def test_c54_an_older_process_refuses_what_a_newer_one_stored(
    shelf: Shelf, pick: list[ModuleType], phase: str
) -> None:
    """C54, R12: it is refused, untouched, and neither its commands nor its deadlines run."""
    one, two = pick[0], pick[1]
    begin(shelf, one, phase)
    with shelf.open(two.machine) as box:
        box.migrate(two.machine)
    before = row_of(shelf.store, "Pick", "p"), outbox_of(shelf.store, "p")
    hands = Hands(one)
    with shelf.open(one.machine) as box:
        with pytest.raises(NewerVersion):
            box.get(one.machine, "p")
        with pytest.raises(NewerVersion):
            box.send(one.machine, "p", one.Go(lane=one_lane(one)))
        assert box.migrate(one.machine).migrated == 0
    serve(shelf, one, hands)
    assert hands.asked == []
    assert (row_of(shelf.store, "Pick", "p"), outbox_of(shelf.store, "p")) == before


def test_an_answer_to_an_older_process_leaves_the_command_to_a_newer_one(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """A handler that runs while a newer process migrates its instance: same key, once more."""
    one, two = pick[0], pick[1]
    begin(shelf, one, "Fetching")
    asked: list[str] = []
    release = asyncio.Event()

    class Slow(Hands):
        async def fetch(self, cmd: Any) -> Any:
            asked.append(cmd.idempotency_key)
            await release.wait()
            return one.FetchMissing()

    async def run() -> None:
        with shelf.open(one.machine) as box:
            async with Worker(box, {one.machine: Slow(one)}) as worker:
                await settle(worker)
                with shelf.open(two.machine) as newer:
                    await asyncio.to_thread(newer.migrate, two.machine)
                release.set()
                await settle(worker)

    asyncio.run(run())
    (row,) = outbox_of(shelf.store, "p").values()
    assert (row[3], row[4], row[9]) == ("fetch", asked[0], None)
    shelf.clock.advance(2_000)
    hands = Hands(two)
    serve(shelf, two, hands)
    assert hands.asked[0].idempotency_key == asked[0]


def test_an_owed_command_is_handed_out_before_its_instance_is_migrated(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    """Owed commands are upcast where they are claimed."""
    begin(shelf, pick[0], "Fetching")
    hands = Hands(pick[2], "Fetch", "Announce")
    serve(shelf, pick[2], hands)
    assert {type(cmd).__name__ for cmd in hands.asked} == {"Fetch", "Announce"}
    assert {cmd.size for cmd in hands.asked if hasattr(cmd, "size")} == {1_000}


def test_r11_an_older_row_that_cannot_be_read_is_parked_and_the_others_go_on(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    one, three = pick[0], pick[2]
    begin(shelf, one, "Paused")
    with shelf.open(one.machine) as box:
        box.start_many(one.Start(pick=f"q{n}", size=n) for n in range(9))

    def damage() -> Program[None]:
        yield from ask(Begin())
        (row,) = yield from ask(Load("Pick", ["q4"]))
        broken = (*row[:8], row[8].replace("new", "\\ud800"))
        yield from ask(Save("Pick", [], [(broken, row[1])]))
        yield from ask(Commit())

    shelf.store.run(damage())
    with shelf.open(three.machine) as box:
        done = box.migrate(three.machine, page=4)
        assert (done.rows, done.migrated, done.parked) == (10, 9, 1)
        with pytest.raises(InstanceParked, match="does not decode"):
            box.get(three.machine, "q4")
    assert row_of(shelf.store, "Pick", "q4")[5] == 1
    assert bases_of(shelf.store, "Pick", "p") != []


def test_an_owed_command_that_cannot_be_read_is_parked(
    shelf: Shelf, pick: list[ModuleType]
) -> None:
    one, three = pick[0], pick[2]
    begin(shelf, one, "Fetching")

    def damage() -> Program[None]:
        from deedbox.operations import Owe, Withdraw

        row = outbox_of(shelf.store, "p")[2]
        yield from ask(Begin())
        yield from ask(Withdraw([row[:3]]))
        yield from ask(Owe([(*row[:12], "{}")]))
        yield from ask(Commit())

    shelf.store.run(damage())
    serve(shelf, three, Hands(three))
    row = outbox_of(shelf.store, "p")[2]
    assert "does not decode" in str(row[9])
    assert row[12] == "{}"
