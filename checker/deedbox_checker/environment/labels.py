"""Every sort of step by name: whose it is, whether it is a fault, what it may change."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct


class Kind(StrEnum):
    """What sort of step it is; fairness and reports go by it."""

    START = "start"
    MESSAGE = "message"
    HAND_OUT = "hand out"
    TAKE = "take"
    DUE = "due"
    TIME = "time"
    FAR_SIDE = "far side"
    ARRIVAL = "late arrival"
    CRASH = "crash"
    RAISE = "raise"
    LATE = "late answer"
    EARLY = "early wake"
    SECOND = "second worker"
    BEHIND = "commit from behind"
    CLOCK = "clock set back"
    UPGRADE = "upgrade"


Who: TypeAlias = Literal["sender", "worker", "time", "far side"]

FAULTS: dict[str, Kind] = {
    "crash": Kind.CRASH,
    "raise": Kind.RAISE,
    "late_arrival": Kind.ARRIVAL,
    "late_answer": Kind.LATE,
    "early_wake": Kind.EARLY,
    "second_worker": Kind.SECOND,
    "upgrade": Kind.UPGRADE,
}
"""The switches of `faults all except …`; the others cost nothing and are always on."""

COUNTED = (frozenset(FAULTS.values()) | {Kind.CLOCK}) - {Kind.ARRIVAL}
"""Kinds of which a counterexample should have as few as possible."""

ENDING = COUNTED | {Kind.START, Kind.MESSAGE, Kind.BEHIND}
"""Kinds that happen any number of times, and then no more."""

PLAIN = frozenset({Kind.HAND_OUT, Kind.TIME, Kind.CRASH, Kind.RAISE, Kind.SECOND})
"""Kinds after which every deed is still what it was, and needed."""


class Label(Struct, frozen=True, cache_hash=True):
    """A step by name.  `broken`: what it breaks, whatever the state it leads to."""

    kind: Kind
    who: Who
    text: str
    subject: str = ""
    broken: tuple[str, ...] = ()
