"""Where a test's boxes live: one store, on a clock that the test drives."""

from __future__ import annotations

from collections.abc import Callable

from deedbox import Rules
from deedbox.box import WAITING, Box
from deedbox.operations import Store
from deedbox.testing import FakeClock, Laws, Watched
from jobs import job

MACHINES = [job.machine]


class Place:
    """Where a test's boxes live: one store, opened as often as the test likes."""

    def __init__(self, open_store: Callable[[FakeClock], Store]) -> None:
        self.clock = FakeClock()
        self._open_store = open_store
        self.boxes: list[Box] = []
        self.watched: list[Watched] = []
        self.rules = Rules()

    def open(self, waiting: int = WAITING) -> Box:
        """Another process's view of the same store."""
        rules = self.rules
        store = Watched(self._open_store(self.clock))
        box = Box(
            store,
            MACHINES,
            rules=rules,
            clock=self.clock,
            peers=False,
            waiting=waiting,
        )
        store.watch(Laws(MACHINES, rules))
        self.watched.append(store)
        self.boxes.append(box)
        return box

    def close(self) -> None:
        for box in self.boxes:
            box.close()
        broken = [text for store in self.watched for text in store.broken]
        assert broken == []
