"""Order and Lease of version 1, one stored row for each state, read by version 2."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from deedbox import Duration, Instant, Worker
from deedbox.codec import Codec
from deedbox.documents import text
from deedbox.testing import settle
from lease import lease
from lease.types import HolderId
from orders import order
from orders.types import HoldId, PaymentRef

from tests.versions.shelf import (
    AnyMachine,
    Shelf,
    bases_of,
    document,
    fixture,
    outbox_of,
    phases,
    put,
    row_of,
)

SHAPES = Path(__file__).parents[2] / "specs" / ".shapes"
MACHINES: dict[str, AnyMachine] = {"order.1": order.machine, "lease.1": lease.machine}
ROWS = [(version, phase) for version in MACHINES for phase in phases(version)]
BECOMES = {"Reserving": "StockRunning", "Paused": "Free"}


@pytest.mark.parametrize("version", MACHINES)
def test_every_state_of_version_1_has_a_fixture(version: str) -> None:
    shape = json.loads((SHAPES / f"{version}.json").read_text())
    assert phases(version) == sorted(shape["states"])


@pytest.mark.parametrize(("version", "phase"), ROWS)
def test_a_stored_row_is_a_whole_state_of_version_2(version: str, phase: str) -> None:
    """What it encodes to is a state again, with key, given and hidden fields as they were."""
    row, codec = fixture(version, phase), Codec(MACHINES[version])
    found = codec.state(1, document(row.doc), row.at).state
    assert codec.decode_state(text(found)) == found
    assert codec.phases[type(found)] == BECOMES.get(phase, phase)
    old, new = json.loads(bytes(row.doc)), json.loads(text(found))
    hidden = ("order", "amount", "lines", "resource", "born", "issued", "ticket")
    assert {name: new[name] for name in hidden if name in old} == {
        name: old[name] for name in hidden if name in old
    }


@pytest.mark.parametrize(("version", "phase"), ROWS)
def test_r12_a_row_is_read_as_of_this_version(
    shelf: Shelf, version: str, phase: str
) -> None:
    """R12: reading it changes nothing in the store."""
    machine, row = MACHINES[version], fixture(version, phase)
    with shelf.open(machine) as box:
        put(shelf.store, machine.name, 1, row)
        before = row_of(shelf.store, machine.name, row.id)
        instance = box.get(machine, row.id)
        assert instance is not None
        assert instance.phase == BECOMES.get(phase, phase)
        assert instance.rev == 3
        assert row_of(shelf.store, machine.name, row.id) == before


@pytest.mark.parametrize(("version", "phase"), ROWS)
def test_r12_all_rows_are_brought_to_this_version_in_bulk(
    shelf: Shelf, version: str, phase: str
) -> None:
    """R12: with a base in the journal; what is owed keeps its ticket and key."""
    machine, row = MACHINES[version], fixture(version, phase)
    with shelf.open(machine) as box:
        put(shelf.store, machine.name, 1, row)
        done = box.migrate(machine)
        assert (done.rows, done.migrated, done.parked) == (1, 1, 0)
        stored = row_of(shelf.store, machine.name, row.id)
        owed = outbox_of(shelf.store, row.id)
        assert box.migrate(machine).migrated == 0
    assert (stored[1], stored[2], stored[5]) == (4, BECOMES.get(phase, phase), 2)
    assert stored[6] == row.wake_at
    assert bases_of(shelf.store, machine.name, row.id) == [(4, 2)]
    assert {ticket: (each[4], each[11]) for ticket, each in owed.items()} == {
        each.ticket: (each.key, 2) for each in row.owed
    }


class Desk:
    """Handlers of the order that say yes, and remember what they were asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def _hear(self, cmd: Any) -> None:
        self.asked.append((type(cmd).__name__, cmd.idempotency_key))

    async def charge(self, cmd: order.Charge, /) -> order.ChargeOutcome:
        self._hear(cmd)
        return order.ChargePaid(ref=PaymentRef("ch_9"))

    async def refund(self, cmd: order.Refund, /) -> order.RefundOutcome:
        self._hear(cmd)
        return order.RefundRefunded()

    async def reserve(self, cmd: order.Reserve, /) -> order.ReserveOutcome:
        self._hear(cmd)
        return order.ReserveReserved(hold=HoldId("h_9"))

    async def release(self, cmd: order.Release, /) -> order.ReleaseOutcome:
        self._hear(cmd)
        return order.ReleaseReleased()

    async def settle(self, cmd: order.Settle, /) -> order.SettleOutcome:
        self._hear(cmd)
        return order.SettleSettled(settled_at=Instant(1))

    async def page_oncall(self, cmd: order.PageOncall, /) -> None:
        self._hear(cmd)


def test_what_version_1_owed_is_answered_under_its_key(shelf: Shelf) -> None:
    """R4: the issue of version 1 is the issue that version 2 hands out."""
    row, desk = fixture("order.1", "Reserving"), Desk()

    async def run() -> None:
        with shelf.open(order.machine) as box:
            put(shelf.store, "Order", 1, row)
            async with Worker(box, {order.machine: desk}) as worker:
                await settle(worker)

    asyncio.run(run())
    assert desk.asked[0] == ("Reserve", row.owed[0].key)
    assert [name for name, _ in desk.asked] == ["Reserve", "Settle"]
    assert row_of(shelf.store, "Order", row.id)[2] == "Settled"
    assert outbox_of(shelf.store, row.id) == {}


def test_a_deadline_of_version_1_comes_at_its_time(shelf: Shelf) -> None:
    row, desk = fixture("order.1", "PaymentBackoff"), Desk()

    async def run() -> None:
        with shelf.open(order.machine) as box:
            put(shelf.store, "Order", 1, row)
            async with Worker(box, {order.machine: desk}) as worker:
                await settle(worker)

    asyncio.run(run())
    assert [name for name, _ in desk.asked] == ["Charge", "Reserve", "Settle"]


def test_a_message_to_a_row_of_version_1_stores_version_2(shelf: Shelf) -> None:
    row = fixture("lease.1", "Held")
    with shelf.open(lease.machine) as box:
        put(shelf.store, "Lease", 1, row)
        renew = lease.Renew(holder=HolderId("mira"), ttl=Duration(900_000))
        assert box.send(lease.machine, row.id, renew).rev == 4
        stored = box.get(lease.machine, row.id)
    assert stored is not None
    assert isinstance(stored.state, lease.Held)
    assert stored.state.renewals == 1
    assert row_of(shelf.store, "Lease", row.id)[5] == 2
    assert outbox_of(shelf.store, row.id)[1][11] == 2


def test_r8_an_ignored_message_leaves_the_row_of_version_1(shelf: Shelf) -> None:
    row = fixture("lease.1", "Draining")
    with shelf.open(lease.machine) as box:
        put(shelf.store, "Lease", 1, row)
        before = row_of(shelf.store, "Lease", row.id)
        acquire = lease.Acquire(holder=HolderId("x"), ttl=Duration(1))
        assert box.send(lease.machine, row.id, acquire).answer == "ignored"
        assert row_of(shelf.store, "Lease", row.id) == before
