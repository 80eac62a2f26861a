"""The table of faults in `docs/reference/verify.md`, row by row: each is explored.

With the switches of its row a mistake is found by the properties of its row; without
any it is not, so it is that fault which shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
from deedbox_checker.environment.environment import environment
from deedbox_checker.environment.labels import FAULTS
from deedbox_checker.environment.promises import PROTOCOL
from deedbox_checker.environment.reaction import reactions
from deedbox_checker.instance.identity import normal
from deedbox_checker.instance.model import Model, model
from deedbox_checker.instance.world import World
from deedbox_checker.search.searching import search
from msgspec.structs import replace

from .mistakes import MISTAKES, broken
from .specimens import ROOT, order, small

PAGE = (ROOT / "docs" / "reference" / "verify.md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Row:
    fault: str
    switches: tuple[str, ...]
    finds: tuple[str, ...]
    mistakes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.fault} {' '.join(self.mistakes)}"


def quoted(cell: str) -> tuple[str, ...]:
    return tuple(cell.split("`")[1::2])


def rows() -> tuple[Row, ...]:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("| F")
    ]
    return tuple(
        Row(fault, quoted(switches), quoted(finds), quoted(mistakes))
        for fault, _, _, switches, finds, mistakes in cells
    )


ROWS = rows()
SHOWN = [row for row in ROWS if row.mistakes]


@cache
def found(mistake: str, faults: tuple[str, ...]) -> dict[str, tuple[int, int] | None]:
    return broken(MISTAKES[mistake].report(faults))


def test_the_table_has_every_fault() -> None:
    assert {row.fault for row in ROWS} == {f"F{n}" for n in range(1, 27)}


def test_what_is_not_shown_cannot_happen() -> None:
    """F17, F23 and F25 have nothing to happen to."""
    unshown = {row.fault for row in ROWS} - {row.fault for row in SHOWN}
    assert unshown == {"F17", "F23", "F25"}


def test_every_switch_is_the_only_one_of_some_row() -> None:
    alone = {row.switches[0] for row in ROWS if len(row.switches) == 1}
    assert alone == set(FAULTS)


@pytest.mark.parametrize("row", SHOWN, ids=str)
def test_a_mistake_is_found_when_its_fault_is_explored(row: Row) -> None:
    told: set[str] = set()
    for mistake in row.mistakes:
        here = found(mistake, row.switches)
        expected = MISTAKES[mistake].found
        named = set(row.finds) & expected.keys()
        assert named, "the row names a property that the mistake is found by"
        assert {each: here.get(each) for each in named} == {
            each: expected[each] for each in named
        }
        told |= named
    assert told == set(row.finds)


@pytest.mark.parametrize("row", [row for row in SHOWN if row.switches], ids=str)
def test_without_its_fault_a_mistake_is_not_found(row: Row) -> None:
    for mistake in row.mistakes:
        assert not set(row.finds) & found(mistake, ()).keys()


# ---- what the protocol makes of another worker -------------------------------------


@cache
def made(name: str) -> Model:
    each = order() if name == "Order" else small(name)
    return model(each.machine, each.module)


@cache
def worlds(name: str, without: str = "", *, loads: bool = False) -> frozenset[World]:
    """Everything that is reached, once it has started."""
    chosen = {name: FAULTS[name] for name in FAULTS if name not in ("upgrade", without)}
    steps = environment(
        made(name),
        reactions(made(name)),
        frozenset(chosen.values()),
        promises=PROTOCOL,
        loads=loads,
    )
    found = search(steps, 100_000, lambda _: None).closure.states
    return frozenset(world for world in found if world.state is not None)


@pytest.mark.parametrize("name", ["Errand", "Launch", "Meter"])
def test_a_commit_from_behind_comes_to_nothing(name: str) -> None:
    """F15: another worker loads in any state and commits in any later one, by any message.

    Apart from what it has loaded, no state is reached that is not reached without it.
    """
    whole = worlds(name, loads=True)
    apart = {normal(made(name), replace(world, loaded=None)) for world in whole}
    assert len(whole) > len(apart)
    assert apart == worlds(name)


@pytest.mark.parametrize("name", ["Errand", "Order"])
def test_a_worker_that_is_taken_for_dead_leaves_what_a_crash_leaves(name: str) -> None:
    assert worlds(name) == worlds(name, without="second_worker")
    assert worlds(name) == worlds(name, without="crash")


def test_a_worker_that_is_taken_for_dead_needs_no_crash() -> None:
    assert found("keeps_keys", ("second_worker",))["fetched_once"] == (1, 6)
