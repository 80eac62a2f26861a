"""What may be opened, and that what may not is left as it was."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import deedbox
import pytest
from deedbox import Rules, StoreRefused, Worker
from deedbox.box import Box
from deedbox.operations import Begin, Enter, Fence, Program, Rollback, ask
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock
from hands import Hands
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


@contextmanager
def a_user_without_rights() -> Generator[None]:
    """Root may write everything; nobody may not."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def common() -> Iterator[Path]:
    """A folder that another user can enter too."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def test_a_file_that_may_not_be_written_is_refused(common: Path) -> None:
    path = common / "jobs.db"
    fill(path)
    path.chmod(0o444)
    with a_user_without_rights():
        refused(path, "this process may not write it")
    path.chmod(0o000)
    with (
        a_user_without_rights(),
        pytest.raises(StoreRefused, match="may not write it"),
    ):
        deedbox.open(f"sqlite:///{path}", [job.machine])


def test_a_folder_that_may_not_be_written_is_refused(common: Path) -> None:
    path = common / "jobs.db"
    fill(path)
    path.chmod(0o666)
    common.chmod(0o555)
    with a_user_without_rights():
        refused(path, "where the log and the locks are kept")
    common.chmod(0o777)


def test_locks_of_another_user_are_refused_by_name(common: Path) -> None:
    path = common / "jobs.db"
    fill(path)
    path.chmod(0o666)
    with a_user_without_rights():
        refused(path, r"Permission denied: .*jobs\.db\.deedbox")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("server:/x {folder} nfs4 rw 0 0", "nfs4"),
        ("//server/x {folder} cifs rw 0 0", "cifs"),
        ("root / ext4 rw 0 0\nme@host: {folder} fuse.sshfs rw 0 0", "fuse.sshfs"),
    ],
)
def test_a_network_file_system_is_refused_by_its_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, kind: str
) -> None:
    folder = tmp_path / "a share"
    folder.mkdir()
    mounts = tmp_path / "mounts"
    point = str(folder).replace(" ", "\\040")
    mounts.write_text(line.format(folder=point) + "\n")
    monkeypatch.setattr("deedbox.stores.sqlite_file.MOUNTS", str(mounts))
    url = f"sqlite:///{folder}/jobs.db"
    with pytest.raises(StoreRefused, match=rf"network file system \({kind}\)"):
        deedbox.open(url, [job.machine])
    assert list(folder.iterdir()) == []
    with deedbox.open(f"{url}?allow_network_fs=true", [job.machine]) as box:
        assert box.start(job.Start(job="a")).rev == 1
    monkeypatch.setattr("deedbox.stores.sqlite_file.MOUNTS", str(tmp_path / "none"))
    with deedbox.open(url, [job.machine]) as box:
        assert box.start(job.Start(job="b")).rev == 1


FULL_DISK = """
import resource, signal, sys
import deedbox
from jobs import job

path = sys.argv[1]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with deedbox.open(f"sqlite:///{path}", [job.machine]) as box:
    box.start(job.Start(job="first"))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, most))
    kept, problem = 1, None
    while problem is None:
        try:
            box.start(job.Start(job=f"j{kept}"), message_id="m" * 400)
            kept += 1
        except deedbox.StoreFailed as failed:
            problem = str(failed)
    assert box.get(job.machine, "first").rev == 1
    assert box.get(job.machine, f"j{kept}") is None
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    box.start(job.Start(job=f"j{kept}"))
    print(kept + 1, problem)
"""


def test_a_full_disk_is_an_error_of_the_sender_and_passes(tmp_path: Path) -> None:
    """R2: what was answered is kept, what failed left nothing, and then it goes on."""
    path = tmp_path / "jobs.db"
    folder = Path(__file__).parent
    child = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    kept, said = child.stdout.split(" ", 1)
    assert "rolled back" in said
    assert "disk" in said
    with deedbox.open(f"sqlite:///{path}", [job.machine]) as box:
        assert len(box.list(job.machine, limit=10_000)) == int(kept)


def test_every_transaction_that_writes_takes_the_lock_at_its_beginning(
    tmp_path: Path,
) -> None:
    """C35: none begins with a read that must be upgraded."""
    said: list[str] = []
    store = SqliteStore(tmp_path / "jobs.db", FakeClock())
    connect = store._connect  # pyright: ignore[reportPrivateUsage]

    def traced() -> sqlite3.Connection:
        connection = connect()
        connection.set_trace_callback(said.append)
        return connection

    store._connect = traced  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
    store._writer.set_trace_callback(said.append)  # pyright: ignore[reportPrivateUsage]
    rules = Rules()
    with Box(store, [job.machine], rules=rules, clock=FakeClock(), peers=True) as box:
        box.start(job.Start(job="a"))
        with box.transaction() as tx:
            tx.send(job.machine, "a", job.Note(text="n"))
        asyncio.run(served(box))
    begun = [each for each in said if each.lower().startswith("begin")]
    assert len(begun) > 4
    assert {each.lower() for each in begun} == {"begin immediate"}
    inside = False
    for each in (statement.lower() for statement in said):
        inside = (inside or each.startswith("begin")) and each != "commit"
        assert inside or each.startswith(("commit", "pragma", "rollback")), each


async def served(box: Box) -> None:
    async with Worker(box, {job.machine: Hands()}) as worker:
        await worker.wait(job.machine, "a")


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
        yield from ask(Enter())
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
