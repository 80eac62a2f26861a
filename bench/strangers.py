"""Spin and rumur on the order saga that `checker.py` gives to our engines.

The models are written for them by hand, as a user of theirs would; their compiling
is not counted.  A count that differs from the known one ends the benchmark.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Final

MODELS: Final = Path(__file__).parent / "models"
TABLE: Final = {"S": 18, "M": 20, "L": 22, "XL": 25}
"""For Spin: the size of its hash table, a power of two that fits the states."""


def run(folder: Path, *command: str) -> str:
    if shutil.which(command[0]) is None and not (folder / command[0]).exists():
        raise SystemExit(f"{command[0]} is not installed: run scripts/strangers")
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def spin(
    folder: Path, name: str, orders: int, attempts: int, crashes: int
) -> tuple[str, ...]:
    shutil.copy(MODELS / "saga.pml", folder)
    sizes = (f"-DORDERS={orders}", f"-DATTEMPTS={attempts}", f"-DCRASHES={crashes}")
    run(folder, "spin", *sizes, "-a", "saga.pml")
    options = ("-O2", "-w", "-DSAFETY", "-DNOREDUCE")
    run(folder, "gcc", *options, "-o", "pan", "pan.c")
    return "./pan", "-m1000000", f"-w{TABLE[name]}"


def rumur(
    folder: Path, name: str, orders: int, attempts: int, crashes: int
) -> tuple[str, ...]:
    del name
    sizes = f"const ORDERS: {orders}; ATTEMPTS: {attempts}; CRASHES: {crashes};\n"
    model = sizes + (MODELS / "saga.m").read_text("utf-8")
    (folder / "saga.m").write_text(model, "utf-8")
    options = ("--threads", "1", "--deadlock-detection", "off", "--output", "saga.c")
    run(folder, "rumur", *options, "saga.m")
    run(folder, "gcc", "-O3", "-w", "-mcx16", "-o", "saga", "saga.c", "-lpthread")
    return ("./saga",)


Prepare = Callable[[Path, str, int, int, int], tuple[str, ...]]
STRANGERS: Final[dict[str, tuple[Prepare, str]]] = {
    "Spin": (spin, r"(\d+) states, stored"),
    "rumur": (rumur, r"(\d+) states, \d+ rules fired in"),
}


def measure(who: str, name: str, size: tuple[int, int, int], known: int) -> float:
    """Seconds of one search, which must find the known number of states."""
    prepare, pattern = STRANGERS[who]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        command = prepare(folder, name, *size)
        begun = perf_counter()
        said = run(folder, *command)
        seconds = perf_counter() - begun
    found = re.search(pattern, said)
    if found is None or int(found[1]) != known:
        raise SystemExit(f"{who}: not {known} states\n{said}")
    return seconds
