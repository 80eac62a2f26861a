"""Machines that tell each other: what is told arrives exactly once, whatever dies.

Every test ends with the laws of the protocol over all that is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from deedbox import Duration, MissingMachines, Rules, Worker
from deedbox.batch import Redriven
from deedbox.box import Box
from deedbox.operations import Program, Store
from deedbox.step import AnyMachine
from deedbox.stores.memory import MemoryStore
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock, Laws, elapse, picture, settle
from msgspec import Struct, json
from processes import PowerCut, Process
from transfer import account, standing_order, transfer
from transfer.types import AccountId, OrderId

MACHINES: list[AnyMachine] = [account.machine, transfer.machine, standing_order.machine]
T = TypeVar("T")
HOUR = Duration(3_600_000)
A, B = AccountId("a"), AccountId("b")


class Bank:
    """One store on a clock; its processes live one after the other."""

    def __init__(
        self, open_store: Callable[[FakeClock], Store], rules: Rules | None = None
    ) -> None:
        self.clock = FakeClock()
        self.store = open_store(self.clock)
        self.rules = rules or Rules()
        self.laws = Laws(MACHINES, self.rules)
        self.process = Process(self.store, MACHINES, self.clock, rules=self.rules)

    def restart(self, power: int | None = None, *, commits: bool = False) -> None:
        """A fresh process; the session of the last one has run out."""
        self.clock.advance(11_000)
        self.process = Process(
            self.store,
            MACHINES,
            self.clock,
            power=power,
            commits=commits,
            rules=self.rules,
        )

    def start(self, message: Struct) -> object:
        heard: list[object] = []
        tell = self.process.machines.start(message, None, heard.append)
        self.process.writer.submit(tell)
        self.process.run()
        return heard[0]

    def send(self, id: str, message: Struct) -> object:
        heard: list[object] = []
        tell = self.process.machines.message(
            account.machine, id, message, None, heard.append
        )
        self.process.writer.submit(tell)
        self.process.run()
        return heard[0]

    def redrive(self, id: str) -> None:
        codec = self.process.machines.of(transfer.machine)
        self.process.writer.submit(Redriven(codec, id, lambda _: None))
        self.process.run()

    def open(self, id: AccountId, credits: int) -> None:
        self.start(account.Start(id))
        while credits > 0:
            self.send(id, account.Loaded(min(credits, 8)))
            credits -= 8

    def state(self, machine: str, id: str) -> dict[str, object]:
        rows = picture(self.store, MACHINES).instances[machine]
        (document,) = [row[8] for row in rows if row[0] == id]
        return json.decode(document, type=dict[str, object])

    def balance(self, id: AccountId) -> tuple[object, object]:
        state = self.state("Account", id)
        return state["balance"], state["held"]

    def heard(self, machine: str, id: str) -> list[str]:
        """The messages of which each step of an instance was made."""
        journal = picture(self.store, MACHINES).journal[machine, id]
        return [json.decode(row[6])["type"] for row in journal if row[4] == "step"]

    def parked(self) -> list[str]:
        return [row[9] for row in picture(self.store, MACHINES).outbox if row[9]]

    def check(self) -> None:
        assert self.laws.broken(self.store) == []


@pytest.fixture(params=["memory", "sqlite"])
def bank(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bank]:
    def sqlite(clock: FakeClock) -> Store:
        return SqliteStore(tmp_path / "bank.db", clock, synchronous="OFF")

    made = Bank(MemoryStore if request.param == "memory" else sqlite)
    yield made
    made.check()
    made.store.close()


def order(number: int = 1, *, source: AccountId = A, credits: int = 5) -> Struct:
    return transfer.Start(OrderId("o"), number, source, B, credits)


def whole(bank: Bank) -> int:
    """What all accounts have and hold, less what has arrived and is still held too."""
    rows = picture(bank.store, MACHINES).instances["Account"]
    accounts = [json.decode(row[8], type=account.Open) for row in rows]
    heard = [each for row in rows for each in bank.heard("Account", row[0])]
    twice = heard.count("Deposit") - heard.count("Settle")
    return sum(each.balance + each.held for each in accounts) - 5 * twice


def test_credits_go_from_one_account_to_the_other(bank: Bank) -> None:
    bank.open(A, 12)
    bank.open(B, 0)
    bank.start(order())
    assert bank.state("Transfer", '["o",1]')["type"] == "Moved"
    assert bank.balance(A) == (7, 0)
    assert bank.balance(B) == (5, 0)
    assert bank.heard("Transfer", '["o",1]') == ["Start", "Withdrawn", "Deposited"]
    assert picture(bank.store, MACHINES).outbox == []


def test_what_the_other_account_refuses_comes_back(bank: Bank) -> None:
    bank.open(A, 12)
    bank.open(B, 16)
    bank.start(order())
    assert bank.state("Transfer", '["o",1]')["reason"] == "the other account is full"
    assert bank.balance(A) == (12, 0)
    assert bank.balance(B) == (16, 0)


@pytest.mark.parametrize("commits", [False, True])
@pytest.mark.parametrize("power", range(1, 64))
def test_a_power_cut_at_any_operation_moves_credits_exactly_once(
    bank: Bank, power: int, commits: bool
) -> None:
    """R1, R5, R18: total constant, and each message makes one step, at every moment."""
    bank.open(A, 12)
    bank.open(B, 0)
    bank.restart(power, commits=commits)
    try:
        bank.start(order())
    except PowerCut:
        assert whole(bank) == 12
        bank.check()
        bank.restart()
        bank.start(order())
    assert bank.heard("Transfer", '["o",1]') == ["Start", "Withdrawn", "Deposited"]
    assert bank.heard("Account", A)[-2:] == ["Withdraw", "Settle"]
    assert bank.heard("Account", B) == ["Start", "Deposit"]
    assert bank.balance(A) == (7, 0)
    assert bank.balance(B) == (5, 0)


@pytest.mark.parametrize("commits", [False, True])
@pytest.mark.parametrize("power", [23, 29, 31, 37, 41, 53])
def test_a_process_that_dies_again_and_again_comes_to_the_end(
    bank: Bank, power: int, commits: bool
) -> None:
    bank.open(A, 16)
    bank.open(B, 0)
    bank.start(order(1, credits=4))
    deaths = 0
    bank.restart(power, commits=commits)
    while deaths < 100:
        try:
            bank.start(order(2, credits=4))
            bank.start(order(3, credits=4))
            break
        except PowerCut:
            deaths += 1
            bank.check()
            bank.restart(power, commits=commits)
    assert 0 < deaths < 100
    bank.restart()
    bank.process.run()
    assert bank.balance(A) == (4, 0)
    assert bank.balance(B) == (12, 0)
    assert bank.heard("Account", B).count("Deposit") == 3


class Ticks(MemoryStore):
    """Every transaction begins a little later than the one before."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self._ticking = clock

    def run(self, program: Program[T]) -> T:
        self._ticking.advance(2)
        return super().run(program)


def test_r18_what_is_still_told_for_a_finished_transfer_keeps_it() -> None:
    """R18, I1: its time to go comes in the batch in which its last word is refused."""
    parked = 0
    for power in range(1, 64):
        bank = Bank(Ticks, Rules(keep=1))
        bank.open(A, 12)
        bank.open(B, 0)
        bank.restart(power)
        try:
            bank.start(order())
        except PowerCut:
            bank.restart()
            if bank.balance(A) == (7, 5):
                bank.send(A, account.Settle(5))
        bank.check()
        parked += len(bank.parked())
    assert parked > 0


def test_what_is_told_to_nobody_is_parked_and_arrives_when_it_is_redriven(
    bank: Bank,
) -> None:
    """R17: an unknown target keeps the message owed, with the answer, to be seen."""
    bank.open(A, 12)
    bank.start(order())
    (why,) = bank.parked()
    assert why.endswith("Account b")
    assert bank.balance(A) == (7, 5)
    assert bank.process.writer.counts["commands parked"] == 1
    bank.redrive('["o",1]')
    assert len(bank.parked()) == 1
    bank.open(B, 0)
    bank.redrive('["o",1]')
    assert bank.parked() == []
    assert bank.balance(A) == (7, 0)
    assert bank.balance(B) == (5, 0)


def test_what_is_told_is_kept_over_a_restart_while_it_is_parked(bank: Bank) -> None:
    bank.open(A, 12)
    bank.start(order())
    bank.restart()
    bank.process.run()
    assert len(bank.parked()) == 1


def test_a_message_that_is_rejected_is_parked_with_the_answer(bank: Bank) -> None:
    """What is held is gone before the transfer settles: `Settle` is rejected."""
    bank.open(A, 12)
    bank.start(order())
    bank.send(A, account.Settle(5))
    bank.open(B, 0)
    bank.redrive('["o",1]')
    (why,) = bank.parked()
    assert why.endswith("so much is not held")
    assert bank.state("Transfer", '["o",1]')["type"] == "Moved"


def test_messages_to_one_machine_arrive_in_the_order_in_which_they_were_told(
    bank: Bank,
) -> None:
    """R20: what is behind a parked message waits for it."""
    bank.open(A, 12)
    bank.open(B, 0)
    bank.start(order(1, source=AccountId("nobody")))
    assert len(bank.parked()) == 1
    assert bank.state("Transfer", '["o",1]')["type"] == "Taking"
    bank.start(order(2))
    assert bank.state("Transfer", '["o",2]')["type"] == "Moved"


def standing(times: int, credits: int = 2) -> Struct:
    return standing_order.Start(OrderId("s"), A, B, credits, HOUR, times)


def test_a_standing_order_begins_one_transfer_for_each_date(bank: Bank) -> None:
    bank.open(A, 12)
    bank.open(B, 0)
    bank.start(standing(3))
    for _ in range(4):
        bank.clock.advance(HOUR)
        bank.process.run()
    assert bank.state("StandingOrder", "s")["type"] == "Complete"
    assert bank.balance(A) == (6, 0)
    assert bank.balance(B) == (6, 0)
    ids = [row[0] for row in picture(bank.store, MACHINES).instances["Transfer"]]
    assert ids == ['["s",1]', '["s",2]', '["s",3]']


@pytest.mark.parametrize("power", range(1, 78))
def test_a_power_cut_begins_no_transfer_twice_and_none_less(
    bank: Bank, power: int
) -> None:
    bank.open(A, 12)
    bank.open(B, 0)
    bank.start(standing(1))
    bank.restart(power)
    bank.clock.advance(HOUR)
    try:
        bank.process.run()
    except PowerCut:
        bank.restart()
        bank.process.run()
    assert bank.heard("Transfer", '["s",1]') == ["Start", "Withdrawn", "Deposited"]
    assert bank.balance(A) == (10, 0)
    assert bank.balance(B) == (2, 0)


def test_what_was_begun_already_is_kept_and_with_other_given_is_parked(
    bank: Bank,
) -> None:
    """B6: `begin` of an instance that is there does what `on start again` says."""
    bank.open(A, 12)
    bank.open(B, 0)
    bank.start(transfer.Start(OrderId("s"), 1, A, B, 2))
    bank.start(transfer.Start(OrderId("s"), 2, A, B, 3))
    bank.start(standing(2))
    bank.clock.advance(HOUR)
    bank.process.run()
    assert bank.parked() == []
    bank.clock.advance(HOUR)
    bank.process.run()
    (why,) = bank.parked()
    assert "already started with other" in why
    assert bank.balance(B) == (5, 0)


def test_a_parked_message_keeps_an_ended_sender(bank: Bank) -> None:
    """R18: an instance is not removed while something of it is owed."""
    bank.open(A, 12)
    bank.start(order())
    bank.send(A, account.Settle(5))
    bank.open(B, 0)
    bank.redrive('["o",1]')
    bank.clock.advance(31 * 24 * HOUR)
    bank.restart()
    bank.process.run()
    assert bank.state("Transfer", '["o",1]')["type"] == "Moved"
    assert len(bank.parked()) == 1


def test_a_deadline_fires_while_a_message_is_parked(bank: Bank) -> None:
    bank.open(A, 12)
    bank.start(order())
    bank.clock.advance(HOUR)
    bank.process.run()
    assert bank.process.handled == ["ask_person"]
    assert bank.state("Transfer", '["o",1]')["overdue"] is None


class People:
    async def ask_person(self, cmd: transfer.AskPerson, /) -> None:
        raise AssertionError(f"nobody is to be asked for {cmd.order}")


def test_a_worker_delivers_what_its_box_tells(tmp_path: Path) -> None:
    """The real worker, on a real loop; the accounts need no handlers."""

    async def serve(box: Box, clock: FakeClock) -> None:
        async with Worker(box, {transfer.machine: People()}) as worker:
            for id in (A, B):
                await worker.start(account.Start(id))
            await worker.send(account.machine, A, account.Loaded(8))
            for number in (1, 2, 3):
                await worker.start(order(number, credits=2))
            for number in (1, 2, 3):
                await worker.wait(transfer.machine, f'["o",{number}]')
            await settle(worker)
            await elapse(clock, 1_000, worker)

    clock = FakeClock()
    for store in (MemoryStore(clock), SqliteStore(tmp_path / "b.db", clock)):
        box = Box(store, MACHINES, rules=Rules(), clock=clock, peers=False)
        asyncio.run(serve(box, clock))
        found = box.get(account.machine, A)
        assert found is not None
        assert (found.state, found.owed) == (
            account.Open(A, found.state.born, 3, 2, 0),
            (),
        )
        box.close()


def test_a_worker_does_not_open_when_a_machine_that_is_told_is_missing() -> None:
    clock = FakeClock()
    box = Box(
        MemoryStore(clock),
        [transfer.machine],
        rules=Rules(),
        clock=clock,
        peers=False,
    )
    with pytest.raises(MissingMachines, match="Transfer tells Account"):
        Worker(box, {transfer.machine: People()})
    box.close()
