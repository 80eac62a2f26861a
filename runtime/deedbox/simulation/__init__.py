"""Whole runs of the interpreter, simulated: many schedules, each from one seed.

    for seed in range(1_000):
        hold(run(seed, [order.machine]), [order.machine])

A run is a plan (who sends what, what goes wrong where) carried out by the real
protocol, writer, worker and machines, in one thread and in virtual time.  The same
seed is the same run, in every process.  A run that breaks a law is made smaller, and
told line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..codec import Codec
from ..step import AnyMachine
from ..testing import EPOCH
from .backing import Backing, InMemory, OnSqlite
from .conformance import differences
from .far_side import AnyAnswer, Character
from .happened import Run
from .lists import Librarian
from .plan import (
    Fault,
    Many,
    Other,
    Plan,
    Redriving,
    Sending,
    Trouble,
    Vocabulary,
    Within,
    anything,
    plan,
    shrunk,
)
from .script import simulate
from .seen import Decided, Step
from .world import Tamper

ANY_ANSWER: Final = AnyAnswer()

__all__ = [
    "AnyAnswer",
    "Backing",
    "Character",
    "Decided",
    "Fault",
    "InMemory",
    "Librarian",
    "Many",
    "OnSqlite",
    "Other",
    "Plan",
    "Redriving",
    "Run",
    "Sending",
    "Step",
    "Tamper",
    "Trouble",
    "Vocabulary",
    "Within",
    "differences",
    "hold",
    "plan",
    "plan_of",
    "run",
    "shrunk",
    "simulate",
    "smallest",
]


def plan_of(seed: int, machines: Sequence[AnyMachine]) -> Plan:
    """What a seed says shall happen to instances of these machines."""
    return plan(seed, [anything(Codec(machine), EPOCH) for machine in machines])


def run(
    seed: int, machines: Sequence[AnyMachine], *, character: Character = ANY_ANSWER
) -> Run:
    """One run in memory, to its end or to the first law that does not hold."""
    return simulate(plan_of(seed, machines), machines, character)


def smallest(
    broken: Run,
    machines: Sequence[AnyMachine],
    *,
    character: Character = ANY_ANSWER,
    tamper: Tamper | None = None,
) -> Run:
    """A smaller run that breaks a law too: fewer faults, messages and processes."""

    def carried_out(plan: Plan) -> Run:
        return simulate(plan, machines, character, tamper)

    return carried_out(shrunk(broken.plan, lambda plan: bool(carried_out(plan).broken)))


def hold(
    done: Run, machines: Sequence[AnyMachine], *, character: Character = ANY_ANSWER
) -> None:
    """Raise `AssertionError` with the smallest run found when a law is broken."""
    if done.broken:
        raise AssertionError("\n" + smallest(done, machines, character=character).story)
