"""The interpreter holds its laws in every simulated run, over all machines of the gallery."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from deedbox import Rules
from deedbox.operations import AnyOperation, Begin, Withdraw
from deedbox.simulation import (
    Fault,
    Sending,
    Trouble,
    hold,
    plan_of,
    run,
    simulate,
    smallest,
)
from deedbox.simulation.process import Process
from gallery import GROUPS, compiled, machine, machines
from msgspec.structs import replace

HERE: Final = Path(__file__).parent
RUNTIME: Final = HERE.parents[1] / "runtime" / "deedbox"
SEEDS: Final = 2_000
CHUNKS: Final = 4


EACH: Final = -(-SEEDS // len(GROUPS) // CHUNKS)
DEALT: Final = [
    pytest.param(group, range(at * EACH, (at + 1) * EACH), id=f"{'+'.join(group)}-{at}")
    for group in GROUPS
    for at in range(CHUNKS)
]
"""All seeds, dealt to the groups of machines, in pieces for several processes."""


@pytest.mark.parametrize(("group", "seeds"), DEALT)
def test_the_laws_hold_in_every_run(group: tuple[str, ...], seeds: range) -> None:
    """I1 to I8, persist first, nothing lost, one deed a key, and quiet: after each commit."""
    found = machines(group)
    for seed in seeds:
        hold(run(seed, found), found)


def test_the_whole_gallery_is_simulated() -> None:
    declared = {one.name for module in compiled().modules for one in module.machines}
    assert {name for group in GROUPS for name in group} == declared


def test_one_seed_is_one_run_in_every_process() -> None:
    """Whatever the hash seed: no set, no address and no clock decides anything."""
    said = {
        subprocess.run(
            [sys.executable, str(HERE / "hashes.py")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "4242")
    }
    assert len(said) == 1
    lines = said.pop().splitlines()
    assert len({line.split()[0] for line in lines}) == 24
    done = {name for line in lines for name in line.split()[1:]}
    assert done == {"Within", "Many", "Redriving"}


def test_r7_processes_with_nothing_to_do_do_not_wake_each_other() -> None:
    """What one commits is read by the other, and not answered by a commit of its own."""
    lease = machine("Lease")
    start = lease.start_type(resource="a")
    later = lease.start_type(resource="b")
    sent = (
        Sending(0, "Lease", "a", start, None, 0),
        Sending(30_000, "Lease", "b", later, None, 0),
    )
    plan = replace(
        plan_of(0, [lease]),
        processes=2,
        rules=Rules(lease=60_000),
        sendings=sent,
        operations=(),
        calls=(),
    )
    done = simulate(plan, [lease])
    assert done.broken == []
    between = [line for line in done.trace if 1_000 < line.at < 30_000]
    assert between == []
    assert any(
        isinstance(line.what, Begin) and line.at >= 30_000 for line in done.trace
    )


def test_a_plan_without_a_fault_is_the_same_run_up_to_that_fault() -> None:
    """What makes shrinking work: the rest of a run is drawn from streams of its own."""
    order = machine("Order")
    plan = replace(plan_of(3, [order]), operations=(), calls=())
    fault = Trouble(40, Fault.FAILS, 0)
    whole = simulate(plan, [order]).trace
    broken = simulate(replace(plan, operations=(fault,)), [order]).trace
    first = next(
        number
        for number, line in enumerate(broken)
        if isinstance(line.what, str) and line.what.startswith(Fault.FAILS.name)
    )
    assert first > 30
    assert [str(line) for line in whole[:first]] == [
        str(line) for line in broken[:first]
    ]


def test_a_failing_run_is_made_smaller_and_told() -> None:
    """The smallest run that shows a forgotten withdrawal, told from its first line."""
    delivery = machine("Delivery")

    def forgetting(
        _: Process, operation: AnyOperation, perform: Callable[[AnyOperation], object]
    ) -> object:
        return None if isinstance(operation, Withdraw) else perform(operation)

    runs = (
        simulate(plan_of(seed, [delivery]), [delivery], tamper=forgetting)
        for seed in range(1_000)
    )
    broken = next(done for done in runs if done.broken and done.plan.size > 3)
    small = smallest(broken, [delivery], tamper=forgetting)
    assert small.plan.size < broken.plan.size
    assert any(text.startswith("I1") for text in small.broken)
    told = small.story.splitlines()
    assert told[0] == f"seed {broken.plan.seed}"
    assert "p1         opens" in told[1]
    assert told[-1].startswith("BROKEN ")


# ---- the seam ----------------------------------------------------------------------


def imported(name: str, known: dict[str, Path]) -> dict[str, Path]:
    """The module and those of ours that it needs, but for the seam and its test points."""
    path = RUNTIME / f"{name}.py"
    if name in known or name in {"clock", "failpoints"} or not path.exists():
        return known
    known[name] = path
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            imported(node.module, known)
    return known


SHELL: Final = sorted(imported("worker", {}).values())
BANNED: Final = {
    "time", "random", "uuid", "secrets", "datetime", "threading", "socket", "signal",
    "subprocess", "multiprocessing",
}  # fmt: skip
BUILTINS: Final = {"id", "hash"}
SEAMS: Final = {
    # What waits on it is handed to the clock; what is held is never waited for.
    ("writer", "threading.Event"),
    ("box", "threading.Lock"),
    ("box", "threading.BoundedSemaphore"),
    # Whether a call comes from the thread of its own loop: nothing is ordered by it.
    ("crossing", "threading.get_ident"),
    # A writer's thread is made by `spawn`, which a simulation exchanges.
    ("box", "threading.Thread"),
}


def uses(path: Path) -> Iterator[tuple[str, str]]:
    """What a module takes of the banned: by attribute, by import, by call."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in BANNED:
                yield path.stem, f"{name}.{attr}"
            case ast.ImportFrom(module=str(name)) if name.split(".")[0] in BANNED:
                yield path.stem, f"from {name}"
            case ast.Call(func=ast.Name(id=name)) if name in BUILTINS:
                yield path.stem, f"{name}()"
            case _:
                pass


def test_time_chance_and_threads_come_in_by_the_seam_only() -> None:
    assert {use for path in SHELL for use in uses(path)} == SEAMS
