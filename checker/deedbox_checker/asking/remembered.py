"""Reports of earlier searches, kept in files: what has not changed is not explored again.

A report is known by all that it depends on: the specs, what was asked for, the format
number, and every line of the code that explores and that is explored.  What cannot be
read is explored again; nothing is ever wrong because of a file here.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import deedbox
import deedbox_dsl
import deedbox_generator
import msgspec
from msgspec import Struct, field

import deedbox_checker

FORMAT: Final = 2
FOLDER: Final = ".deedbox-cache"


class Told(Struct, frozen=True):
    """A verdict: the text of its failure, the name of its run, and the run as ITF."""

    name: str
    holds: bool
    text: str = ""
    id: str = ""
    itf: dict[str, Any] | None = None


class Known(Struct, frozen=True):
    """A report as it is printed, and as JSON; `summary` is its first line."""

    holds: bool
    text: str
    data: dict[str, Any]
    summary: str = ""
    told: list[Told] = field(default_factory=list[Told])


class Remembered:
    """The reports of one project; `asked` is everything that one of them depends on."""

    def __init__(self, root: Path, asked: Mapping[str, str]) -> None:
        self._folder = root / FOLDER / "verify"
        self._digest = sha256(
            msgspec.json.encode([FORMAT, _code(), sorted(asked.items())])
        )

    def _file(self, path: str, machine: str) -> Path:
        digest = self._digest.copy()
        digest.update(msgspec.json.encode([path, machine]))
        return self._folder / f"{digest.hexdigest()[:32]}.json"

    @contextmanager
    def alone(self, path: str, machine: str) -> Generator[None]:
        """One process at a time; who waited finds the report of the one before.

        Where a file cannot be locked everybody searches, which is only slower.
        """
        file = self._file(path, machine).with_suffix(".lock")
        with ExitStack() as stack:
            with suppress(OSError):
                file.parent.mkdir(parents=True, exist_ok=True)
                held = stack.enter_context(file.open("ab"))
                lock(held.fileno())
            yield

    def find(self, path: str, machine: str) -> Known | None:
        try:
            return msgspec.json.decode(
                self._file(path, machine).read_bytes(), type=Known
            )
        except (OSError, msgspec.MsgspecError):
            return None

    def keep(self, path: str, machine: str, known: Known) -> None:
        """Written beside and moved into place, so that nobody reads a half of it."""
        file = self._file(path, machine)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            (file.parent.parent / ".gitignore").write_text("*\n", encoding="utf-8")
            part = file.with_suffix(".part")
            part.write_bytes(msgspec.json.encode(known))
            part.replace(file)
        except OSError:
            return


def lock(descriptor: int) -> None:
    """Until the file is closed, or its process dies."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


@cache
def _code() -> str:
    """A digest of all that explores, and of what makes and runs the explored code."""
    digest = sha256()
    for file in _files():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    packages = (deedbox_checker, deedbox, deedbox_dsl, deedbox_generator)
    for package in packages:
        folder = Path(package.__file__ or "").parent
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".j2", ".lark", ".toml"):
                yield file
