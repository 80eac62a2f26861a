"""A store of each kind, for rows of several versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from deedbox.operations import Store
from deedbox.stores.memory import MemoryStore
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock

from tests.versions.shelf import Shelf


@pytest.fixture(params=["memory", "sqlite"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    memory: list[MemoryStore] = []

    def open_memory(clock: FakeClock) -> Store:
        if not memory:
            memory.append(MemoryStore(clock))
        return memory[0]

    def open_sqlite(clock: FakeClock) -> Store:
        return SqliteStore(tmp_path / "rows.db", clock)

    made = Shelf(open_memory if request.param == "memory" else open_sqlite)
    yield made
    made.store.close()
    assert made.broken() == []
