"""A simulation that finds nothing proves nothing: each wrong protocol is found out."""

from __future__ import annotations

from typing import Final

import pytest
from deedbox.simulation import plan_of, run, simulate
from gallery import machine
from mutants import MUTANTS, Mutant, honest

MACHINES: Final = ("Order", "Lease", "Subscription", "Delivery")
SEEDS: Final = 1_500


def seeds_until_caught(mutant: Mutant) -> tuple[int, str]:
    """How many runs it takes, over all these machines, and what broke."""
    machines = [mutant.machine(machine(name)) for name in MACHINES]
    runs = 0
    for seed in range(SEEDS):
        for each in machines:
            runs += 1
            done = simulate(plan_of(seed, [each]), [each], tamper=mutant.tampering())
            if done.broken:
                return runs, done.broken[0]
    raise AssertionError(f"{mutant.name} was not found in {runs} runs")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_wrong_protocol_is_found_out(
    mutant: Mutant, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, broken = seeds_until_caught(mutant)
    with capsys.disabled():
        print(f"\n  {mutant.name}: found in run {runs} ({broken:.90})", end="")


def test_tampering_without_a_change_changes_nothing() -> None:
    order = machine("Order")
    for seed in range(20):
        plain = run(seed, [order])
        tampered = simulate(plan_of(seed, [order]), [order], tamper=honest)
        assert (plain.broken, plain.hash) == ([], tampered.hash)
