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

from ..codec import Codec
from ..step import AnyMachine
from ..testing import EPOCH
from .backing import Backing, InMemory, OnSqlite
from .far_side import Answers, any_answer
from .plan import Fault, Plan, Sending, Trouble, plan, shrunk
from .world import Run, Tamper, simulate

__all__ = [
    "Answers",
    "Backing",
    "Fault",
    "InMemory",
    "OnSqlite",
    "Plan",
    "Run",
    "Sending",
    "Tamper",
    "Trouble",
    "any_answer",
    "hold",
    "plan_of",
    "run",
    "shrunk",
    "simulate",
    "smallest",
]


def plan_of(seed: int, machines: Sequence[AnyMachine]) -> Plan:
    """What a seed says shall happen to instances of these machines."""
    return plan(seed, [Codec(machine) for machine in machines], EPOCH)


def run(
    seed: int, machines: Sequence[AnyMachine], *, answers: Answers = any_answer
) -> Run:
    """One run in memory, to its end or to the first law that does not hold."""
    return simulate(plan_of(seed, machines), machines, answers)


def smallest(
    broken: Run,
    machines: Sequence[AnyMachine],
    *,
    answers: Answers = any_answer,
    tamper: Tamper | None = None,
) -> Run:
    """A smaller run that breaks a law too: fewer faults, messages and processes."""

    def carried_out(plan: Plan) -> Run:
        return simulate(plan, machines, answers, tamper)

    return carried_out(shrunk(broken.plan, lambda plan: bool(carried_out(plan).broken)))


def hold(
    done: Run, machines: Sequence[AnyMachine], *, answers: Answers = any_answer
) -> None:
    """Raise `AssertionError` with the smallest run found when a law is broken."""
    if done.broken:
        raise AssertionError("\n" + smallest(done, machines, answers=answers).story)
