"""The processes and files of the demo: started, killed, and gone at the end.

The rule: no child outlives the stage.  Leaving it kills all, and each child dies by
itself when its standard input ends.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from .processor import Character

LaneName: TypeAlias = Literal["A", "B"]
LANES: Final[tuple[LaneName, LaneName]] = ("A", "B")
MODULES: Final[dict[LaneName, str]] = {
    "A": "deedbox.demo.memory_lane",
    "B": "deedbox.demo.written_lane",
}


@dataclass(frozen=True, slots=True)
class Files:
    """Where the lanes and the processor keep what must survive."""

    folder: Path

    @property
    def status(self) -> Path:
        return self.folder / "status.db"

    @property
    def orders(self) -> Path:
        return self.folder / "orders.db"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"

    def argument(self, lane: LaneName) -> str:
        return str(self.status) if lane == "A" else f"sqlite:///{self.orders}"


class Stage:
    """The processor and one worker process a lane."""

    def __init__(self, files: Files, character: Character) -> None:
        self.files = files
        self._character = character
        self._workers: dict[LaneName, subprocess.Popen[bytes]] = {}
        self._processor: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *error: object) -> None:
        children = [*self._workers.values(), self._processor]
        for child in children:
            if child is not None:
                end(child)

    def start_processor(self) -> None:
        character = msgspec.json.encode(self._character).decode()
        child = spawn("deedbox.demo.processor", str(self.files.ledger), character)
        self._processor = child
        assert child.stdout is not None
        self.port = int(child.stdout.readline())

    def start_workers(self) -> None:
        for lane in LANES:
            argument = self.files.argument(lane)
            self._workers[lane] = spawn(MODULES[lane], argument, str(self.port))

    def kill_workers(self) -> None:
        """SIGKILL: no handler runs, nothing is flushed."""
        for lane in LANES:
            end(self._workers.pop(lane))

    def pid(self, lane: LaneName) -> int | None:
        child = self._workers.get(lane)
        return None if child is None or child.poll() is not None else child.pid


def spawn(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A child in a session of its own, so that Ctrl-C reaches the stage alone."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
