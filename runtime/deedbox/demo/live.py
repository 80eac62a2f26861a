"""The live view: both lanes side by side on a terminal.  Needs rich."""

from __future__ import annotations

from types import TracebackType
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .picture import Lane, Picture

HEIGHT: Final = 4
"""Two orders, and the frame."""


class LiveView:
    """Draws each picture over the last; what happened stands above, as it came."""

    def __init__(self) -> None:
        self._live = Live(console=Console(), auto_refresh=False)

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def show(self, picture: Picture, /) -> None:
        lanes = Table.grid(expand=True)
        lanes.add_column(ratio=1)
        lanes.add_column(ratio=1)
        lanes.add_row(*(panel(lane, picture.now) for lane in picture.lanes))
        clock = Text(f"{picture.seconds:5.1f} s", style="dim")
        self._live.update(Group(lanes, clock), refresh=True)

    def say(self, picture: Picture, text: str, /) -> None:
        line = Text(f"{picture.seconds:5.1f} s  ", style="dim")
        line.append(text, style="bold red" if "kill" in text else "bold")
        self._live.console.print(line)
        self.show(picture)


def panel(lane: Lane, now: int) -> Panel:
    rows = Table.grid(padding=(0, 1))
    for row in lane.rows:
        dots = Text(row.dots(), style="yellow")
        due = Text(row.countdown(now), style="cyan")
        rows.add_row(row.order, Text(row.status, style="bold"), dots, due)
    alive = lane.pid is not None
    worker = f"worker {lane.pid}" if alive else "killed"
    return Panel(
        rows,
        title=lane.title,
        subtitle=worker,
        border_style="green" if alive else "red",
        height=HEIGHT,
    )
