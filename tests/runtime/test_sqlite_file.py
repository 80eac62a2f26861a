"""What may be opened, and that what may not is left as it was."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import deedbox
import pytest
from deedbox import StoreRefused
from deedbox.operations import Begin, Enter, Fence, Program, Rollback, ask
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock
from jobs import job


def fill(path: Path, number: int = 1) -> None:
    with deedbox.open(f"sqlite:///{path}", [job.machine]) as box:
        box.start_many(job.Start(job=f"j{each}") for each in range(number))


def refused(path: Path, why: str, options: str = "") -> None:
    before = path.read_bytes()
    with pytest.raises(StoreRefused, match=why):
        deedbox.open(f"sqlite:///{path}{options}", [job.machine])
    assert path.read_bytes() == before


def test_a_text_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database\n" * 100)
    refused(path, "not a SQLite database")


def test_another_program_s_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("create table customers (name text)")
    db.commit()
    db.close()
    refused(path, "tables of something else .customers.")
    with deedbox.open(f"sqlite:///{path}?adopt=true", [job.machine]) as box:
        box.start(job.Start(job="a"))
    fill(path)


def test_a_store_of_a_newer_deedbox_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    fill(path)
    db = sqlite3.connect(path)
    db.execute("update deedbox_meta set value = 2 where name = 'schema'")
    db.commit()
    db.close()
    refused(path, "written by a newer deedbox .schema 2")


def test_a_store_without_its_schema_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    fill(path)
    db = sqlite3.connect(path)
    db.execute("delete from deedbox_meta where name = 'schema'")
    db.commit()
    db.close()
    refused(path, "schema number is missing")


def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    fill(path, 400)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(path, "cut short")


def test_a_file_with_a_broken_first_page_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    fill(path)
    bytes_ = bytearray(path.read_bytes())
    bytes_[100:400] = b"\xff" * 300
    path.write_bytes(bytes_)
    refused(path, "malformed|corrupt|not a database")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgres://x", "not the URL of a store"),
        ("sqlite://jobs.db", "not the URL of a store"),
        ("sqlite:///", "not the URL of a store"),
        ("sqlite:///{folder}/none/jobs.db", "there is no folder"),
        ("sqlite:///{folder}", "not a file"),
        ("sqlite:///{folder}/jobs.db?peer=false", "there is no option 'peer'"),
        ("sqlite:///{folder}/jobs.db?peers=no", "peers is true or false"),
        ("sqlite:///{folder}/jobs.db?synchronous=OFF", "FULL or NORMAL"),
    ],
)
def test_a_url_that_cannot_be_opened_says_why(
    tmp_path: Path, url: str, why: str
) -> None:
    with pytest.raises(StoreRefused, match=why):
        deedbox.open(url.format(folder=tmp_path), [job.machine])
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_durable_and_its_log_bounded(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    fill(path, 5_000)
    db = sqlite3.connect(path)
    (mode,) = db.execute("pragma journal_mode").fetchone()
    (size,) = db.execute('select count(*) from "job"').fetchone()
    db.close()
    assert (mode, size) == ("wal", 5_000)


def test_a_statement_of_the_caller_fails_as_the_caller_s(tmp_path: Path) -> None:
    with deedbox.open(f"sqlite:///{tmp_path}/jobs.db", [job.machine]) as box:
        with box.transaction() as tx:
            tx.connection.execute("create table invoices (job text)")

        def fail() -> None:
            with box.transaction() as tx:
                tx.start(job.Start(job="a"))
                tx.connection.execute("insert into nowhere values (1)")

        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            fail()
        with box.transaction() as tx:
            tx.start(job.Start(job="b"))
            tx.connection.execute("insert into invoices values ('b')")
        assert [one.id for one in box.list(job.machine)] == ["b"]
    db = sqlite3.connect(tmp_path / "jobs.db")
    assert db.execute("select * from invoices").fetchall() == [("b",)]
    db.close()


def test_an_epoch_is_never_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    for _ in range(3):
        fill(path)
    db = sqlite3.connect(path)
    (epoch,) = db.execute(
        "select value from deedbox_meta where name='epoch'"
    ).fetchone()
    sessions = db.execute("select count(*) from deedbox_session").fetchone()
    db.close()
    assert (epoch, sessions) == (3, (0,))
    assert sorted(each.name for each in (tmp_path / "jobs.db.deedbox").iterdir()) == [
        "next",
        "write",
    ]


def test_a_transaction_that_ends_in_an_error_gives_the_lock_back(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "jobs.db", FakeClock())

    def broken() -> Program[None]:
        yield from ask(Begin())
        yield from ask(Enter(10))
        raise KeyError("a bug")

    def whole() -> Program[int | None]:
        yield from ask(Begin())
        now = yield from ask(Fence(1, 0, 10))
        yield from ask(Rollback())
        return now

    with pytest.raises(KeyError):
        store.run(broken())
    assert store.run(whole()) is None
    store.close()
