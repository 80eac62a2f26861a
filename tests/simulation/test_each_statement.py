"""Each statement of a scripted run fails once, in each way; nothing is lost or doubled.

The script is a plan without faults.  Its operations are counted, and it runs again for
each of them: the operation fails, or the process dies before it, or after it; a commit
is also made and not answered, or neither.  The laws are looked at after every commit,
and at the end nothing may be owed that nobody saw to.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from deedbox import Rules
from deedbox.operations import AnyOperation, Commit, Save
from deedbox.simulation import (
    Backing,
    Fault,
    InMemory,
    OnSqlite,
    Other,
    Plan,
    Redriving,
    Run,
    Sending,
    Trouble,
    Within,
    plan_of,
    simulate,
)
from deedbox.step import AnyMachine
from gallery import GROUPS, machine, machines
from msgspec.structs import replace

ALWAYS: Final = (Fault.FAILS, Fault.DIES, Fault.DIES_AFTER)
COMMITS: Final = (Fault.COMMITTED, Fault.NOT_COMMITTED)
EACH: Final = [group for group in GROUPS if len(group) == 1 or group[0] == "Account"]
"""Every machine of the gallery; those that tell each other something, together."""
LONGEST: Final = 45
"""Operations that fail: enough for a start, some answers, a wake and an end."""


@cache
def script(group: tuple[str, ...]) -> tuple[Plan, Run]:
    """A quiet plan that does much in few operations, and how it goes."""
    best: tuple[int, Plan, Run] | None = None
    for seed in range(40):
        plan = plan_of(seed, machines(group))
        plan = replace(plan, operations=(), calls=(), processes=1, plain=False)
        done = simulate(plan, machines(group))
        assert done.broken == []
        steps = sum(isinstance(each, Save) for each in failing(done))
        if best is None or steps > best[0]:
            best = steps, plan, done
    assert best is not None
    assert best[0] > 2
    return best[1:]


def failing(done: Run) -> list[AnyOperation]:
    """The operations that fail, one in each run: the first, before it goes quiet."""
    operations = [line.what for line in done.trace if not isinstance(line.what, str)]
    return operations[: min(loud(done), LONGEST)]


def loud(done: Run) -> int:
    """The number of operations before the plan goes quiet."""
    count = 0
    for line in done.trace:
        if line.who == "the world":
            break
        count += not isinstance(line.what, str)
    return count


def troubles(done: Run) -> Iterator[Trouble]:
    for number, operation in enumerate(failing(done), 1):
        for fault in ALWAYS:
            yield Trouble(number, fault, 0)
        if isinstance(operation, Commit):
            for fault in COMMITS:
                yield Trouble(number, fault, 0)


def fail_each(
    plan: Plan, done: Run, found: list[AnyMachine], backings: Iterator[Backing]
) -> None:
    for trouble in troubles(done):
        faulty = replace(plan, operations=(trouble,))
        backing = next(backings)
        again = simulate(faulty, found, backing=backing)
        backing.close()
        assert again.broken == [], f"{trouble}\n{again.story}"
        assert any(
            isinstance(line.what, str) and line.what.startswith(trouble.fault.name)
            for line in again.trace
        )


def in_memory() -> Iterator[Backing]:
    while True:
        yield InMemory()


def on_sqlite(folder: Path) -> Iterator[Backing]:
    number = 0
    while True:
        number += 1
        yield OnSqlite(folder / f"{number}.db")


@pytest.mark.parametrize("group", EACH, ids="+".join)
def test_each_statement_may_fail_once(group: tuple[str, ...]) -> None:
    """R2, R5, C28."""
    fail_each(*script(group), machines(group), in_memory())


@pytest.mark.parametrize("group", EACH, ids="+".join)
def test_each_statement_may_fail_once_on_sqlite(
    group: tuple[str, ...], tmp_path: Path
) -> None:
    fail_each(*script(group), machines(group), on_sqlite(tmp_path))


# ---- what is done beside messages --------------------------------------------------


def beside(others: tuple[Other, ...], calls: tuple[Trouble, ...]) -> Plan:
    """An order, and what is done beside it."""
    order = machine("Order")
    start = order.start_type(order="a", amount=1, lines=())
    return replace(
        plan_of(1, [order]),
        processes=1,
        plain=False,
        rules=Rules(deliveries=2),
        sendings=(Sending(0, "Order", "a", start, "m", 0),) if calls else (),
        operations=(),
        calls=calls,
        others=others,
    )


def together(*, raises: bool) -> Plan:
    """Two orders begin in one transaction, and one of them is cancelled in it."""
    order = machine("Order")
    a, b = (order.start_type(order=id, amount=1, lines=()) for id in "ab")
    (cancel,) = order.messages
    sendings = (
        Sending(0, "Order", "a", a, "m1", 0),
        Sending(0, "Order", "b", b, None, 0),
        Sending(0, "Order", "a", cancel(reason="r"), "m2", 0),
    )
    return beside((Within(0, sendings, raises),), ())


def redriven() -> Plan:
    """Each command raises until it is parked; then all are let go."""
    raises = tuple(Trouble(at, Fault.RAISES, 0) for at in range(1, 4))
    return beside((Redriving(20_000),), raises)


BESIDE: Final = {
    "a transaction": together(raises=False),
    "a rollback": together(raises=True),
    "redriving": redriven(),
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_each_statement_beside_messages_may_fail_once(
    name: str, store: str, tmp_path: Path
) -> None:
    """A transaction of the caller's is all or nothing; what is parked stays owed (R6)."""
    found = [machine("Order")]
    plan = BESIDE[name]
    done = simulate(plan, found)
    assert done.broken == []
    assert {"redriving": "redrives", "a rollback": "rolls back"}.get(
        name, "hears"
    ) in done.story
    backings = in_memory() if store == "memory" else on_sqlite(tmp_path)
    fail_each(plan, done, found, backings)


def test_a_commit_that_nobody_can_be_asked_about_is_not_done_again() -> None:
    """C28: its answer is lost, and so are the first questions what became of it."""
    found = machines(("Lease",))
    plan, done = script(("Lease",))
    for number, operation in enumerate(failing(done), 1):
        if not isinstance(operation, Commit):
            continue
        for silent in (1, 2, 20):
            lost = Trouble(number, Fault.COMMITTED, 0)
            silence = [
                Trouble(number + at, Fault.FAILS, 0) for at in range(1, silent + 1)
            ]
            again = simulate(replace(plan, operations=(lost, *silence)), found)
            assert again.broken == [], again.story
