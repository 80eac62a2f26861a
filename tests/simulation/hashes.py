"""Print the hashes of some runs; a test calls this with different hash seeds."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PLACES = ("runtime", "dsl", "generator", "checker")
sys.path[:0] = [str(HERE), *(str(ROOT / place) for place in PLACES)]

from deedbox.simulation import plan_of, run  # noqa: E402  the paths come first
from gallery import machines  # noqa: E402

for group in (("Order", "Lease"), ("Showcase",)):
    found = machines(group)
    for seed in range(12):
        others = [type(other).__name__ for other in plan_of(seed, found).others]
        print(run(seed, found).hash, *others)
