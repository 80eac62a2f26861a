"""Simulated runs by the ten thousand, over all machines of the gallery; it can go on.

    soak.py SEEDS WORKERS

The seeds are dealt in blocks to so many processes.  Blocks that held are written down
in `.soak`, and a later call begins behind them; a run that broke a law is told in full
and ends everything with status 1.  Delete `.soak` after a change of the interpreter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [
    str(Path(__file__).parent),
    *(str(ROOT / place) for place in ("dsl", "checker", "generator", "runtime")),
]

from deedbox.simulation import run, smallest  # noqa: E402  the paths come first
from gallery import GROUPS, machines  # noqa: E402

DONE: Final = ROOT / ".soak"
BLOCK: Final = 100
BEGIN: Final = 10_000
"""The seeds below are those of `make test`."""

Block = tuple[int, int]
"""A group of machines and the first of its seeds."""


def blocks(seeds: int) -> Iterator[Block]:
    each = -(-seeds // len(GROUPS))
    for first in range(BEGIN, BEGIN + each, BLOCK):
        for group in range(len(GROUPS)):
            yield group, first


def carry_out(block: Block) -> str | None:
    """The story of the first run of a block that breaks a law."""
    group, first = block
    found = machines(GROUPS[group])
    for seed in range(first, first + BLOCK):
        done = run(seed, found)
        if done.broken:
            return smallest(done, found).story
    return None


def main(seeds: int, workers: int) -> int:
    done = set(DONE.read_text().splitlines()) if DONE.exists() else set[str]()
    left = [block for block in blocks(seeds) if _line(block) not in done]
    print(f"{len(left)} blocks of {BLOCK} runs, {len(done)} done before", flush=True)
    with ProcessPoolExecutor(workers) as pool, DONE.open("a") as log:
        for number, (block, story) in enumerate(
            zip(left, pool.map(carry_out, left), strict=True), 1
        ):
            if story is not None:
                print(story)
                pool.shutdown(wait=False, cancel_futures=True)
                return 1
            log.write(_line(block) + "\n")
            log.flush()
            if number % 20 == 0:
                print(f"{number * BLOCK} runs hold", flush=True)
    return 0


def _line(block: Block) -> str:
    group, first = block
    return f"{'+'.join(GROUPS[group])} {first}"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
