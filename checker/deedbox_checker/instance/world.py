"""One instance as it is explored: its state, its owed row, and what the far side knows of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct

from ..scans.listing import Pass

VOID: Final = "void"


Fate: TypeAlias = Struct | Literal["void"] | None


class Row(StrEnum):
    """The outbox row of the awaited issue.

    `OUT`: handed out.  `SPENT`: handed out once and never again (`unrepeatable`).
    `LOST`: a dead process has it, and nobody takes it over (no row of the protocol).
    """

    NONE = "-"
    OWED = "owed"
    OUT = "handed out"
    SPENT = "handed out, never again"
    LOST = "claimed by a dead process"


class Deed(Struct, frozen=True, cache_hash=True):
    """What the far side knows of one key: undecided (None), its answer, or void.

    `loose`: a hand-out of it is still on its way, and nobody waits for it.
    `started`: it is `unrepeatable`, and was handed out.
    """

    number: int
    command: Struct
    fate: Fate = None
    loose: bool = False
    started: bool = False


class World(Struct, frozen=True, cache_hash=True):
    """One instance, its owed row, and what the far side knows of it.

    `counts` and `stale` follow `Model.counted`: deeds ended so, and deeds forgotten by
    everybody but a hand-out on its way; 2 is more.  `asked`: commands of which an issue
    is no longer awaited, so that a late answer may come.  `passing`: how far the pass
    of a scan has come.  `fresh`: of an older version, no time has passed since its last step.
    `unarmed`: no deadline of it will fire.  `loaded`: the state from which another worker
    is about to make a step.
    """

    state: Struct | None = None
    row: Row = Row.NONE
    deeds: tuple[Deed, ...] = ()
    counts: tuple[int, ...] = ()
    stale: tuple[int, ...] = ()
    asked: frozenset[str] = frozenset()
    passing: Pass | None = None
    fresh: bool = False
    unarmed: bool = False
    loaded: Struct | None = None

    def to(self, state: Struct | None, row: Row, deeds: tuple[Deed, ...]) -> World:
        """The same with these three; `replace` takes thrice as long, and most steps do it."""
        return World(
            state,
            row,
            deeds,
            self.counts,
            self.stale,
            self.asked,
            self.passing,
            self.fresh,
            self.unarmed,
            self.loaded,
        )

    def deed(self, number: int) -> Deed | None:
        for deed in self.deeds:
            if deed.number == number:
                return deed
        return None

    @property
    def open_deed(self) -> Deed | None:
        """The deed of the awaited issue."""
        if self.row is Row.NONE:
            return None
        return self.deed(cast(int, getattr(self.state, "deed_number", 0)))


def exchanged(deeds: tuple[Deed, ...], deed: Deed) -> tuple[Deed, ...]:
    return tuple(deed if one.number == deed.number else one for one in deeds)
