"""A box over each store, on a clock that the test drives, watched by the laws."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from deedbox.box import Box
from deedbox.operations import Store
from deedbox.stores.memory import MemoryStore
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock
from place import Place


@pytest.fixture(params=["memory", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    memory: list[MemoryStore] = []

    def open_memory(clock: FakeClock) -> Store:
        if not memory:
            memory.append(MemoryStore(clock))
        return memory[0]

    def open_sqlite(clock: FakeClock) -> Store:
        return SqliteStore(tmp_path / "jobs.db", clock)

    made = Place(open_memory if request.param == "memory" else open_sqlite)
    yield made
    made.close()


@pytest.fixture
def box(place: Place) -> Box:
    return place.open()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Each `async def` test runs on an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    given = {name: pyfuncitem.funcargs[name] for name in wanted}
    asyncio.run(pyfuncitem.obj(**given))
    return True
