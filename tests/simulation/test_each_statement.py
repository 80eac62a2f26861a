"""Each statement of a scripted run fails once, in each way; nothing is lost or doubled.

The script is a plan without faults.  Its operations are counted, and it runs again for
each of them: the operation fails, or the process dies before it, or after it; a commit
is also made and not answered, or neither.  The laws are looked at after every commit,
and at the end nothing may be owed that nobody saw to.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from deedbox.operations import Commit
from deedbox.simulation import (
    Backing,
    Fault,
    InMemory,
    OnSqlite,
    Plan,
    Run,
    Trouble,
    plan_of,
    simulate,
)
from deedbox.step import AnyMachine
from gallery import GROUPS, machines
from msgspec.structs import replace

ALWAYS: Final = (Fault.FAILS, Fault.DIES, Fault.DIES_AFTER)
COMMITS: Final = (Fault.COMMITTED, Fault.NOT_COMMITTED)
ON_SQLITE: Final = (("Order",), ("Lease",), ("Account", "Transfer", "StandingOrder"))
LONGEST: Final = 45
"""Operations of a script: enough for a start, some answers, a wake and an end."""


def script(found: list[AnyMachine]) -> tuple[Plan, Run]:
    """A quiet plan that does much in few operations, and how it goes."""
    best: tuple[int, Plan, Run] | None = None
    for seed in range(40):
        plan = plan_of(seed, found)
        plan = replace(plan, operations=(), calls=(), processes=1, plain=False)
        done = simulate(plan, found)
        assert done.broken == []
        worth = len(done.events) if loud(done) <= LONGEST else 0
        if best is None or worth > best[0]:
            best = worth, plan, done
    assert best is not None
    return best[1:]


def loud(done: Run) -> int:
    """The number of operations before the plan goes quiet."""
    count = 0
    for line in done.trace:
        if line.who == "the world":
            break
        count += not isinstance(line.what, str)
    return count


def troubles(done: Run) -> Iterator[Trouble]:
    operations = [line.what for line in done.trace if not isinstance(line.what, str)]
    for number, operation in enumerate(operations[: loud(done)], 1):
        for fault in ALWAYS:
            yield Trouble(number, fault, 0)
        if isinstance(operation, Commit):
            for fault in COMMITS:
                yield Trouble(number, fault, 0)


def each_once(found: list[AnyMachine], backings: Iterator[Backing]) -> None:
    plan, done = script(found)
    assert len(done.events) > 1
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


@pytest.mark.parametrize(
    "group",
    [group for group in GROUPS if len(group) == 1 or group[0] == "Account"],
    ids="+".join,
)
def test_each_statement_may_fail_once(group: tuple[str, ...]) -> None:
    """R2, R5, C28."""
    each_once(machines(group), in_memory())


@pytest.mark.parametrize("group", ON_SQLITE, ids="+".join)
def test_each_statement_may_fail_once_on_sqlite(
    group: tuple[str, ...], tmp_path: Path
) -> None:
    each_once(machines(group), on_sqlite(tmp_path))


def test_a_commit_that_nobody_can_be_asked_about_is_not_done_again() -> None:
    """C28: its answer is lost, and so are the first questions what became of it."""
    found = machines(("Lease",))
    plan, done = script(found)
    operations = [line.what for line in done.trace if not isinstance(line.what, str)]
    for number, operation in enumerate(operations[: loud(done)], 1):
        if not isinstance(operation, Commit):
            continue
        for silent in (1, 2, 20):
            lost = Trouble(number, Fault.COMMITTED, 0)
            silence = [
                Trouble(number + at, Fault.FAILS, 0) for at in range(1, silent + 1)
            ]
            again = simulate(replace(plan, operations=(lost, *silence)), found)
            assert again.broken == [], again.story
