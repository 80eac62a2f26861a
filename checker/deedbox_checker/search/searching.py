"""One instance, closed and explored: what every verdict is read from.

Pure; what takes long tells `progress` how many states there are.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..engine import lists
from ..engine.levels import Explored
from ..engine.tables import Closure, Tables, close
from ..environment.environment import Environment
from ..environment.labels import COUNTED, Label
from ..instance.model import Model
from ..instance.world import World

LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Searched:
    """One instance, closed and explored."""

    environment: Environment
    closure: Closure[World]
    labels: tuple[Label, ...]
    explored: Explored

    @property
    def model(self) -> Model:
        return self.environment.model

    @property
    def tables(self) -> Tables:
        return self.explored.tables

    def own(self, world: World) -> bool:
        """Whether it is of this version: of others nothing is said."""
        return self.environment.of(world) is self.environment

    def native(self) -> frozenset[World]:
        """The states of runs in which no older version has a part."""
        tables, worlds = self.tables, self.closure.states
        waiting, known = [tables.start], {tables.start}
        while waiting:
            for edge in tables.steps(waiting.pop()):
                after = tables.targets[edge]
                if after not in known and self.own(worlds[after]):
                    known.add(after)
                    waiting.append(after)
        return frozenset(worlds[row] for row in known)

    def some(self, test: Callable[[World], bool]) -> bool:
        return any(self.own(each) and test(each) for each in self.closure.states)


@dataclass(slots=True)
class Numbered:
    """Labels by number, in the order in which they first occur."""

    numbers: dict[Label, int] = field(default_factory=dict[Label, int])

    def of(self, label: Label) -> int:
        return self.numbers.setdefault(label, len(self.numbers))


@contextmanager
def uncollected() -> Generator[None]:
    """Without looking for cycles: a search makes millions of values, and no cycle."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def search(
    environs: Environment, limit: int, progress: Callable[[int], None]
) -> Searched:
    numbered = Numbered()
    met = 0

    def successors(world: World) -> Iterator[tuple[World, int]]:
        nonlocal met
        met += 1
        if not met % 1000:
            progress(met)
        for after, label in environs.steps(world):
            yield after, numbered.of(label)

    with uncollected():
        closed = close([World()], successors, limit)
    labels = tuple(numbered.numbers)
    made = Tables(
        len(closed.states),
        1,
        0,
        closed.offsets,
        closed.targets,
        closed.labels,
        bytes(label.kind in COUNTED for label in labels),
    )
    return Searched(environs, closed, labels, lists.explore(made))
