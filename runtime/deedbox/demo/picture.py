"""What the demo shows: one picture of both lanes, from stored fields only.

A view is a function of pictures.  Nothing here looks into a worker process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class Row:
    """An order as its store has it.  `limit` 0: no end of attempts is known."""

    order: str
    status: str
    attempt: int = 0
    limit: int = 0
    due: int | None = None

    def dots(self) -> str:
        return "●" * self.attempt + "○" * (self.limit - self.attempt)

    def countdown(self, now: int) -> str:
        if self.due is None:
            return ""
        return f"due in {max(self.due - now, 0) / 1000:.1f} s"


@dataclass(frozen=True, slots=True)
class Lane:
    """`pid` is None while its worker is dead."""

    title: str
    pid: int | None
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """Both lanes at one time, in milliseconds since the epoch."""

    began: int
    now: int
    lanes: tuple[Lane, Lane]

    @property
    def seconds(self) -> float:
        return (self.now - self.began) / 1000


class View(Protocol):
    def show(self, picture: Picture, /) -> None: ...

    def say(self, picture: Picture, text: str, /) -> None:
        """Something happened that no store records: a start, a kill."""
        ...


WIDTH: Final = 38


class PlainView:
    """Lines for logs: one for each change of a stored row, one for each event."""

    def __init__(self, titles: tuple[str, str]) -> None:
        self._seen: dict[tuple[int, str], Row] = {}
        print(f"{'':9}{titles[0]:{WIDTH}}{titles[1]}", flush=True)

    def show(self, picture: Picture, /) -> None:
        orders = dict.fromkeys(row.order for lane in picture.lanes for row in lane.rows)
        for name in orders:
            cells = [
                self._cell(at, name, lane, picture.now)
                for at, lane in enumerate(picture.lanes)
            ]
            if any(cells):
                line = f"{picture.seconds:6.1f} s {cells[0]:{WIDTH}}{cells[1]}"
                print(line.rstrip(), flush=True)

    def say(self, picture: Picture, text: str, /) -> None:
        print(f"{picture.seconds:6.1f} s -- {text}", flush=True)

    def _cell(self, at: int, order: str, lane: Lane, now: int) -> str:
        for row in lane.rows:
            if row.order == order and self._seen.get((at, order)) != row:
                self._seen[at, order] = row
                return cell(row, now)
        return ""


def cell(row: Row, now: int) -> str:
    """`mug   PaymentBackoff ●●○○ due in 3.6 s`, at most WIDTH - 1 wide."""
    parts = row.order, row.status, row.dots(), row.countdown(now)
    return " ".join(part for part in parts if part)
