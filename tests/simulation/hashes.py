"""Print the hashes of some runs; a test calls this with different hash seeds."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "runtime"), str(ROOT / "tests" / "replay")]

from deedbox.simulation import run  # noqa: E402  the paths come first
from lease import lease  # noqa: E402
from orders import order  # noqa: E402

for seed in range(12):
    print(run(seed, [order.machine, lease.machine]).hash)
