"""States a second, and bytes a state, of the engines on the order saga.

    python bench/checker.py [S M L XL]

Beside them Spin and rumur, on models of the same saga, and how often their time
ours is.  The counts are checked on the way: an engine that is fast and wrong has no rate.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "checker"), str(ROOT)]

import strangers  # noqa: E402  the paths come first
from deedbox_checker.engine import levels, lists, vectors  # noqa: E402
from deedbox_checker.engine.tables import Tables  # noqa: E402
from deedbox_checker.liveness import product  # noqa: E402
from deedbox_checker.liveness.graph import Fair  # noqa: E402

from tests.checker.money_saga import ENDED, WORK, saga  # noqa: E402

SIZES = {
    "S": (2, 1, 0, 16_900),
    "M": (2, 1, 2, 128_502),
    "L": (2, 3, 2, 1_213_878),
    "XL": (3, 1, 1, 13_587_561),
}
"""Orders, attempts, crashes, and the known number of states."""

ENGINES: dict[str, Callable[[Tables, int], levels.Explored]] = {
    "standard library": lists.explore,
    "numpy": vectors.explore,
}


def measure(name: str) -> None:
    orders, attempts, crashes, known = SIZES[name]
    tables = saga(attempts, crashes).tables
    best: float | None = None
    for words, explore in ENGINES.items():
        if name == "XL" and words != "numpy":
            continue
        begun = perf_counter()
        explored = explore(tables, orders)
        seconds = perf_counter() - begun
        if explored.states != known:
            raise SystemExit(f"{words}: {explored.states} states instead of {known}")
        rate = explored.states / seconds / 1e6
        size = memory(explore, tables, orders) / explored.states
        print(
            f"{name:>2}  {words:<17} {explored.states:>11,} states  {seconds:7.2f} s"
            f"  {rate:6.2f} M/s  {size:5.1f} B a state",
            flush=True,
        )
        best = seconds if best is None else min(best, seconds)
    for who in strangers.STRANGERS:
        seconds = strangers.measure(who, name, (orders, attempts, crashes), known)
        ratio = "" if best is None else f"  {seconds / best:5.1f} times ours"
        print(
            f"{name:>2}  {who:<17} {known:>11,} states  {seconds:7.2f} s"
            f"  {known / seconds / 1e6:6.2f} M/s{ratio}",
            flush=True,
        )


def memory(
    explore: Callable[[Tables, int], levels.Explored], tables: Tables, orders: int
) -> int:
    """The most memory that the search held at once."""
    tracemalloc.start()
    explore(tables, orders)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def liveness() -> None:
    """Two orders with two crashes come to an end: search, graph and verdict together."""
    model = saga(attempts=1, crashes=2)
    ended = [order.step in ENDED and not order.owed for order in model.orders]
    size = model.tables.locals
    begun = perf_counter()
    found = product.product(vectors.explore(model.tables, 2), ends=bytes([0, 1]))
    cells: list[int] = found.cells.tolist()
    target = bytes(ended[cell // size % size] and ended[cell % size] for cell in cells)
    premise = bytes(number == found.graph.start for number in range(len(cells)))
    workers = [Fair(f"order {n}", frozenset((2 * n + WORK,))) for n in range(2)]
    if product.refute(found.graph, premise, target, workers) is not None:
        raise SystemExit("two orders do not come to an end")
    seconds = perf_counter() - begun
    print(f" M  liveness, numpy   {len(cells):>11,} states  {seconds:7.2f} s")


if __name__ == "__main__":
    for size in sys.argv[1:] or ["S", "M", "L"]:
        measure(size)
    liveness()
