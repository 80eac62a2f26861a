"""Numbers as closed intervals (Moore, Interval Analysis, 1966); None is "no bound known"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Interval:
    low: int | None = None
    high: int | None = None

    def meet(self, other: Interval) -> Interval:
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        return Interval(max(lows, default=None), min(highs, default=None))

    def join(self, other: Interval) -> Interval:
        low = (
            None if self.low is None or other.low is None else min(self.low, other.low)
        )
        high = (
            None
            if self.high is None or other.high is None
            else max(self.high, other.high)
        )
        return Interval(low, high)

    @property
    def empty(self) -> bool:
        return self.low is not None and self.high is not None and self.low > self.high


ANY = Interval()


# ---- asking ----------------------------------------------------------------------------


def arithmetic(operator: Literal["+", "-", "*"], a: Interval, b: Interval) -> Interval:
    if operator == "-":
        return arithmetic(
            "+",
            a,
            Interval(
                None if b.high is None else -b.high, None if b.low is None else -b.low
            ),
        )
    if operator == "+":
        return Interval(
            None if a.low is None or b.low is None else a.low + b.low,
            None if a.high is None or b.high is None else a.high + b.high,
        )
    if a.low is None or a.high is None or b.low is None or b.high is None:
        never_negative = (
            a.low is not None and a.low >= 0 and b.low is not None and b.low >= 0
        )
        return Interval(0, None) if never_negative else ANY
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(corners), max(corners))


def extreme(found: list[Interval], *, least: bool) -> Interval:
    lows = [one.low for one in found]
    highs = [one.high for one in found]
    known_lows = [low for low in lows if low is not None]
    known_highs = [high for high in highs if high is not None]
    if least:
        low = min(known_lows) if len(known_lows) == len(found) else None
        return Interval(low, min(known_highs, default=None))
    high = max(known_highs) if len(known_highs) == len(found) else None
    return Interval(max(known_lows, default=None), high)


def least_known(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return min(known, default=None)
