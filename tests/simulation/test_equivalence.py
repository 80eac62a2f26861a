"""Deaths and other processes change when things are done, never what is done."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest
from deedbox.codec import Codec
from deedbox.machine import CommandType
from deedbox.simulation import Fault, Plan, Run, Step, Trouble, plan_of, simulate
from deedbox.simulation.draw import struct
from deedbox.simulation.far_side import key_of
from gallery import GROUPS, machine
from msgspec import Struct
from msgspec.structs import replace

TIMELY: Final = {"NightlyExport", "Showcase"}
"""A scan's records come due at instants: what it does depends on when it looks."""
SINGLE: Final = [
    group[0] for group in GROUPS if len(group) == 1 and group[0] not in TIMELY
]
DEATHS: Final = (Fault.DIES, Fault.DIES_AFTER)
CALL_DEATHS: Final = (Fault.CALL_DIES, Fault.ACTS_AND_DIES)


class Settled:
    """A far side whose answer to a deed does not depend on when it is asked."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def answer(
        self,
        codec: Codec,
        type_: CommandType,
        command: Struct,
        random: Random,
        now: int,
    ) -> Struct:
        del codec, random, now
        life, _, number = key_of(command).rpartition("/")
        name = life.rpartition("/")[0]
        drawn = Random(f"{self._seed} {name} {number}")
        return struct(drawn.choice(type_.outcomes), drawn, 1_700_000_000_000)

    def gives_back(self, codec: Codec, type_: CommandType, answer: Struct) -> bool:
        del codec, type_, answer
        return True


def starts_only(seed: int, name: str) -> Plan:
    """Some instances begin, and nobody says anything more."""
    plan = plan_of(seed, [machine(name)])
    start = machine(name).start_type
    sent = {
        one.id: replace(one, after=0, message_id=f"m {one.id}", copies=0)
        for one in reversed(plan.sendings)
        if isinstance(one.message, start)
    }
    return replace(
        plan,
        processes=1,
        rules=replace(plan.rules, keep=None, deliveries=10),
        sendings=tuple(sent.values()),
        operations=(),
        calls=(),
        reopens=(1,),
    )


def way(done: Run) -> dict[str, list[str]]:
    """The phases that each instance went through, for as long as both runs may last."""
    assert done.broken == []
    found: dict[str, list[str]] = {}
    for event in done.events:
        if isinstance(event, Step):
            found.setdefault(event.id, []).append(type(event.after).__name__)
    return found


def agree(one: dict[str, list[str]], other: dict[str, list[str]]) -> bool:
    """Equal, as far as the shorter goes: a machine without an end is cut off somewhere."""
    return one.keys() == other.keys() and all(
        all(a == b for a, b in zip(one[id], other[id], strict=False)) for id in one
    )


ONCE: Final = {"Trip", "Leader", "Sequence"}
"""A command that is called once at most is not called again after a death."""


@pytest.mark.parametrize("name", [name for name in SINGLE if name not in ONCE])
def test_a_death_changes_nothing_of_what_is_done(name: str) -> None:
    """Property 13: the same way with a death at any operation or call as without."""
    for seed in range(8):
        plan = starts_only(seed, name)
        quiet = simulate(plan, [machine(name)], Settled(seed))
        random = Random(f"deaths {name} {seed}")
        for _ in range(3):
            at, call = random.randrange(1, 60), random.randrange(1, 6)
            deaths = replace(
                plan,
                operations=(Trouble(at, random.choice(DEATHS), 0),),
                calls=(Trouble(call, random.choice(CALL_DEATHS), 0),),
            )
            after = simulate(deaths, [machine(name)], Settled(seed))
            assert agree(way(quiet), way(after)), f"{deaths}\n{after.story}"


def test_what_is_called_once_is_left_out_of_the_deaths_only() -> None:
    unrepeatable = {
        name
        for name in SINGLE
        if any(command.unrepeatable for command in machine(name).commands)
    }
    assert unrepeatable == ONCE


@pytest.mark.parametrize("name", SINGLE)
def test_more_processes_do_nothing_that_one_would_not(name: str) -> None:
    """Property 16."""
    for seed in range(8):
        plan = starts_only(seed, name)
        alone = simulate(plan, [machine(name)], Settled(seed))
        for processes in (2, 3):
            several = replace(plan, processes=processes)
            together = simulate(several, [machine(name)], Settled(seed))
            assert agree(way(alone), way(together)), together.story
