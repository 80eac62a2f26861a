"""The far side of the kill tests: a ledger by key, and a place to die on each side of it.

It declines the first charge of a purchase and fails its first refund, so that each
is asked for twice.  The rule: one key, one answer, written before it is given.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, TypeAlias

Side: TypeAlias = Literal["before", "after"]

CREATE: Final = """
create table if not exists ledger (
    key text primary key, verb text not null, outcome text not null
)
"""
KNOWN: Final = "select outcome from ledger where key = ?"
ASKED: Final = "select count(*) from ledger where verb = ?"
WRITE: Final = "insert into ledger values (?, ?, ?)"
COUNTS: Final = "select verb || '.' || outcome, count(*) from ledger group by 1"

Decide: TypeAlias = Callable[[int], str]
"""From how many keys of this verb were answered before, to the outcome."""


class FarSide:
    """`dies` names the second asking of a verb, and the side of its act."""

    def __init__(self, path: Path, dies: tuple[str, Side] | None) -> None:
        self._path = path
        self._dies = dies
        with sqlite3.connect(path) as rows:
            rows.execute(CREATE)
        rows.close()

    def ask(self, verb: str, key: str, decide: Decide) -> str:
        rows = sqlite3.connect(self._path, isolation_level=None)
        try:
            (asked,) = rows.execute(ASKED, (verb,)).fetchone()
            known = rows.execute(KNOWN, (key,)).fetchone()
            second = asked == 1 and known is None
            self._die_if(second, verb, "before")
            outcome = decide(asked) if known is None else str(known[0])
            if known is None:
                rows.execute(WRITE, (key, verb, outcome))
            self._die_if(second, verb, "after")
            return outcome
        finally:
            rows.close()

    def _die_if(self, second: bool, verb: str, side: Side) -> None:
        if second and self._dies == (verb, side):
            os.kill(os.getpid(), signal.SIGKILL)


def counts(path: Path) -> dict[str, int]:
    """How many keys ended with each outcome."""
    rows = sqlite3.connect(path)
    try:
        return dict(rows.execute(COUNTS).fetchall())
    finally:
        rows.close()
