"""The table that an older version made, opened by a newer one, and by both in turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import deedbox
import pytest

from tests.versions.made import imported, picks


@pytest.fixture(scope="module")
def pick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ModuleType]]:
    with imported(tmp_path_factory.mktemp("picks"), "pick", *picks()) as modules:
        yield modules


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "picks.db"


def start(file: Path, module: ModuleType, id: str, **more: int) -> None:
    with deedbox.open(f"sqlite:///{file}?peers=false", [module.machine]) as box:
        box.start(module.Start(pick=id, size=1, **more))


def seen(file: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(file)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def test_the_view_of_a_newer_version_has_its_columns_and_the_older_rows(
    file: Path, pick: list[ModuleType]
) -> None:
    start(file, pick[0], "a")
    with pytest.raises(sqlite3.OperationalError):
        seen(file, "select silent_at from pick")
    start(file, pick[2], "b", tip=3)
    rows = seen(file, 'select pick, phase, tip, silent_at from pick order by "pick"')
    assert rows == [("a", "Idle", None, None), ("b", "Idle", 3, None)]


def test_an_older_version_goes_on_writing_beside_a_newer_one(
    file: Path, pick: list[ModuleType]
) -> None:
    """While processes of both versions run, each keeps its own rows."""
    start(file, pick[0], "a")
    start(file, pick[2], "b", tip=3)
    start(file, pick[0], "c")
    start(file, pick[2], "d", tip=4)
    rows = seen(file, "select id, version from deedbox_pick order by id")
    assert rows == [("a", 1), ("b", 3), ("c", 1), ("d", 3)]


def test_a_table_knows_the_phases_of_all_versions(
    file: Path, pick: list[ModuleType]
) -> None:
    """A phase of none is refused by the store itself."""
    start(file, pick[0], "a")
    start(file, pick[2], "b", tip=3)
    connection = sqlite3.connect(file, isolation_level=None)
    for phase in ("Paused", "Waiting", "Packing"):
        connection.execute("update deedbox_pick set phase = ? where id = 'a'", (phase,))
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("update deedbox_pick set phase = 'Elsewhere'")
    connection.close()


def test_opening_again_changes_nothing_in_the_file(
    file: Path, pick: list[ModuleType]
) -> None:
    start(file, pick[2], "b", tip=3)
    before = seen(file, "select sql from sqlite_master order by name")
    with deedbox.open(f"sqlite:///{file}?peers=false", [pick[2].machine]):
        pass
    assert seen(file, "select sql from sqlite_master order by name") == before
