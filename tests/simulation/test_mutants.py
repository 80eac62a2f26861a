"""A simulation that finds nothing proves nothing: each wrong protocol is found out."""

from __future__ import annotations

from typing import Final

import pytest
from deedbox import Rules
from deedbox.simulation import (
    Fault,
    Plan,
    Sending,
    Trouble,
    plan_of,
    run,
    simulate,
)
from gallery import machine
from msgspec.structs import replace
from mutants import MUTANTS, Mutant, honest

MACHINES: Final = ("Order", "Lease", "Subscription", "Delivery")
SEEDS: Final = 1_500


def two_lives(seed: int) -> Plan:
    """A slow answer to the first life of an instance comes in its second.

    Both lives give their second command the same ticket, perhaps in two processes.
    """
    lease = machine("Lease")
    start = lease.start_type(resource="a")
    named = {message.__name__: message for message in lease.messages}
    acquire, retire = named["Acquire"], named["Retire"]
    held = acquire(holder="h", ttl=50)
    sent = [(0, start), (10, held), (500, retire(reason="r")), (100, start), (10, held)]
    sent.append((9_000, start))  # as long as messages come the run goes on
    return replace(
        plan_of(seed, [lease]),
        processes=2,
        window=256,
        plain=False,
        rules=Rules(keep=1),
        sendings=tuple(Sending(after, "Lease", "a", m, None, 0) for after, m in sent),
        operations=(),
        calls=(Trouble(2, Fault.LATE, 3_000), Trouble(4, Fault.LATE, 3_000)),
    )


def a_long_hold_of_the_write_lock(seed: int) -> Plan:
    """Who waits for it with commands at work is reaped before its own turn comes."""
    delivery = machine("Delivery")
    sent = [
        Sending(
            1_000,
            "Delivery",
            id,
            delivery.start_type(delivery=id, url="u", body="b"),
            None,
            0,
        )
        for id in "abcdefghijkl"
    ]
    return replace(
        plan_of(seed, [delivery]),
        processes=2,
        window=256,
        plain=False,
        rules=Rules(lease=2_000),
        sendings=tuple(sent),
        operations=(Trouble(40 + seed % 60, Fault.STOPPED, 5_500),),
        calls=tuple(Trouble(call, Fault.LATE, 4_000) for call in range(1, 6)),
        others=(),
    )


DIRECTED: Final = {
    "take by ticket without claim": ("Lease", two_lives),
    "forget the fence": ("Delivery", a_long_hold_of_the_write_lock),
}
"""What random plans seldom come to."""


def seeds_until_caught(mutant: Mutant) -> tuple[int, str]:
    """How many runs it takes, over all these machines, and what broke."""
    machines = [mutant.machine(machine(name)) for name in MACHINES]
    runs = 0
    directed = DIRECTED.get(mutant.name)
    for seed in range(SEEDS):
        if directed is not None:
            runs += 1
            name, planned = directed
            plan = planned(seed)
            assert simulate(plan, [machine(name)]).broken == []
            done = simulate(plan, [machine(name)], tamper=mutant.tampering())
            if done.broken:
                return runs, done.broken[0]
            continue
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
