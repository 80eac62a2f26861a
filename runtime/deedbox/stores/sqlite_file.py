"""A SQLite store as files: what may be opened, and the locks beside it.

Beside `orders.db` stands the folder `orders.db.deedbox` with one lock file for each
session and two for the turnstile.  A kernel lock is free the moment its process
dies, so a killed process is found at once; the turnstile gives writers queue order
(ticket lock by two locks), while correctness rests on `begin immediate` alone.
The rule here: what cannot be opened is refused with its reason, before any write.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from pathlib import Path
from typing import Final

from ..errors import StoreRefused

SCHEMA: Final = 1
HEADER: Final = b"SQLite format 3\0"
MOUNTS: Final = "/proc/mounts"
NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "fuse.sshfs", "glusterfs"}
)


def check_file(path: Path, *, adopt: bool, network: bool) -> None:
    """Refuse a file that is not ours, not whole, or newer; read it only."""
    if not path.parent.is_dir():
        raise StoreRefused(f"{path}: there is no folder {path.parent}")
    if not network and (kind := _file_system(path.parent)) in NETWORK:
        raise StoreRefused(
            f"{path}: it lies on a network file system ({kind}), where locks cannot be"
            " trusted; allow_network_fs=true opens it all the same"
        )
    if not _may(path.parent, os.W_OK | os.X_OK):
        raise StoreRefused(
            f"{path}: this process may not write in {path.parent}, where the log and the"
            " locks are kept beside it"
        )
    if not path.exists():
        return
    if not path.is_file():
        raise StoreRefused(f"{path}: this is not a file")
    if not _may(path, os.R_OK | os.W_OK):
        raise StoreRefused(f"{path}: this process may not write it")
    if path.stat().st_size == 0:
        return
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as problem:
        raise StoreRefused(f"{path}: {problem.strerror}") from problem
    if header[:16] != HEADER or len(header) < 100:
        raise StoreRefused(f"{path}: this is not a SQLite database")
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    size, expected = path.stat().st_size, pages * (65536 if page == 1 else page)
    if header[24:28] == header[92:96] and size < expected and not _log(path):
        raise StoreRefused(f"{path}: it is cut short, {size} of {expected} bytes")
    try:
        reader = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            _check_schema(reader, path, adopt=adopt)
        finally:
            reader.close()
    except sqlite3.Error as problem:
        raise StoreRefused(f"{path}: {problem}") from problem


def _check_schema(reader: sqlite3.Connection, path: Path, *, adopt: bool) -> None:
    tables = {
        str(name)
        for (name,) in reader.execute(
            "select name from sqlite_master where type='table'"
        )
    }
    if "deedbox_meta" in tables:
        row = reader.execute(
            "select value from deedbox_meta where name = 'schema'"
        ).fetchone()
        number = None if row is None else row[0]
        if not isinstance(number, int):
            raise StoreRefused(f"{path}: its schema number is missing")
        if number > SCHEMA:
            raise StoreRefused(
                f"{path}: it was written by a newer deedbox"
                f" (schema {number}, this one reads up to {SCHEMA})"
            )
    elif tables and not adopt:
        raise StoreRefused(
            f"{path}: it holds tables of something else"
            f" ({', '.join(sorted(tables)[:3])}); adopt=true adds ours beside them"
        )


def file_at(path: Path) -> tuple[int, int] | None:
    """Which file stands there; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _may(path: Path, what: int) -> bool:
    """Whether this process may, by the rights that it has now."""
    return os.access(path, what, effective_ids=os.access in os.supports_effective_ids)


def _log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _file_system(folder: Path) -> str:
    """The type of the file system that holds a folder, as far as Linux tells."""
    mounts, real = Path(MOUNTS), str(folder.resolve())
    kind, longest = "", -1
    if mounts.exists():
        for line in mounts.read_text().splitlines():
            point, found = line.split(" ")[1:3]
            for written, meant in (("\\040", " "), ("\\011", "\t"), ("\\134", "\\")):
                point = point.replace(written, meant)
            inside = real == point or real.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= longest:
                kind, longest = found, len(point)
    return kind


class Locks:
    """The kernel locks beside a store."""

    def __init__(self, path: Path) -> None:
        self.folder = path.with_name(path.name + ".deedbox")
        self.folder.mkdir(exist_ok=True)
        self._next = self._open("next")
        self._write = self._open("write")
        self._sessions: dict[int, int] = {}

    def _open(self, name: str) -> int:
        return os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def enter(self) -> None:
        """Stand in the queue of writers until it is our turn."""
        fcntl.flock(self._next, fcntl.LOCK_EX)
        fcntl.flock(self._write, fcntl.LOCK_EX)
        fcntl.flock(self._next, fcntl.LOCK_UN)

    def leave(self) -> None:
        fcntl.flock(self._write, fcntl.LOCK_UN)

    def hold(self, epoch: int) -> bool:
        """Show, for as long as this process lives, that the session does.

        An epoch whose transaction was rolled back is given again: to the same process,
        or to another while this one holds its lock still; then not, and it is passed over.
        """
        if epoch in self._sessions:
            os.close(self._sessions.pop(epoch))
        file = self._open(str(epoch))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._sessions[epoch] = file
        return True

    def free(self, epoch: int) -> bool:
        """Whether nobody holds this session's lock."""
        if epoch in self._sessions:
            return False
        try:
            file = os.open(self.folder / str(epoch), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(file)
        return True

    def forget(self, epoch: int) -> None:
        """The session is over: its file goes, and with it our lock."""
        file = self._sessions.pop(epoch, None)
        if file is not None:
            os.close(file)
        (self.folder / str(epoch)).unlink(missing_ok=True)

    def close(self) -> None:
        for epoch in list(self._sessions):
            os.close(self._sessions.pop(epoch))
        os.close(self._next)
        os.close(self._write)
