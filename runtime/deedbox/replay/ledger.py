"""What of a run survives a process: the far side's book, the time, the place, what was seen.

It is plain data, so that it can lie in a file between two lives of a process.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..codec import Codec
from ..step import AnyMachine
from ..testing import EPOCH
from .ran import Ran, Seen


class Entry(Struct):
    """An instance after a step, as it is stored."""

    document: str
    at: int
    now: int
    wake_at: int | None
    owed: tuple[str, ...]
    counts: dict[str, int]


class Asked(Struct):
    """A deed that was owed: its command, and what was first asked for under its key."""

    key: str
    command: str
    arguments: dict[str, Any]


class Ledger(Struct):
    """What survives a process.

    `rev` is the last revision that was read, `entries` what the steps of the run made
    of the instance, `pending` what it has become since then; `fallen`: why it has been
    set aside after that.
    """

    next: int = 0
    at: int = EPOCH
    id: str = ""
    asked: list[Asked] = []
    decided: dict[str, int] = {}
    counts: dict[str, int] = {}
    rev: int = 0
    entries: list[Entry] = []
    pending: list[Entry] = []
    fallen: str = ""
    parted: str = ""
    raised: str = ""
    broke: set[str] = set()

    def ran(self, machine: AnyMachine) -> Ran[Any]:
        decode = Codec(machine).decode_state
        seen = tuple(
            Seen[Any](
                decode(one.document),
                one.at,
                one.now,
                one.wake_at,
                one.owed,
                one.counts,
            )
            for one in self.entries
        )
        return Ran(seen, self.parted, self.raised, frozenset(self.broke))
