"""What happens in the demo, in order; every wait is for something stored or held.

The story kills on what it reads: once when both lanes wait for the third attempt
at a charge, once when both refunds are with the processor and not yet acted on.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final, assert_never

import deedbox

from .account import exchange
from .memory_lane import PLACE, ROWS, WAITS, connect
from .orders import order
from .orders.types import Cents, Line, OrderId
from .picture import Lane, Picture, Row, View
from .processor import Character
from .stage import LANES, Stage

PRICES: Final = {"mug": 1200, "lamp": 3800}
CHARACTER: Final = Character(
    declines={"mug": 3}, sold_out=frozenset({"lamp"}), hold_refunds=True
)
PATIENCE: Final = 20.0
TITLES: Final = (
    "A: ladder in memory, a status row",
    "B: ladder written down, orders.deed",
)


class Stuck(Exception):
    """The demo waited for something that did not come."""


class Story:
    """One telling of it."""

    def __init__(self, stage: Stage, box: deedbox.Box, view: View) -> None:
        self._stage = stage
        self._box = box
        self._view = view
        self._began = milliseconds()
        self._placed: list[str] = []
        connect(stage.files.status).close()

    def tell(self) -> Picture:
        self._stage.start_workers()
        self._place("mug", "its card is declined three times, then accepted")
        self._until("both lanes to wait for the third attempt", self._mid_ladder)
        self._pass(0.8)
        self._kill("mid-ladder: mug waits for its third attempt")
        self._place("lamp", "it will be sold out: its money is to go back")
        self._until("both refunds to be in flight", self._mid_refund)
        self._pass(0.6)
        self._kill("mid-refund: the processor has both refunds, and has done neither")
        exchange(self._stage.port, "POST", "/open")
        self._until("lane B to settle and to refund", self._finished)
        return self._picture()

    def _place(self, name: str, why: str) -> None:
        self._say(f"both lanes take the order {name}: {why}")
        with closing(connect(self._stage.files.status)) as rows:
            rows.execute(PLACE, (name, PRICES[name]))
        lines = (Line(sku=name, quantity=1),)
        amount: Cents = PRICES[name]
        self._box.start(order.Start(order=OrderId(name), amount=amount, lines=lines))
        self._placed.append(name)

    def _kill(self, when: str) -> None:
        self._say(f"kill -9 of both workers, {when}")
        self._stage.kill_workers()
        self._pass(0.8)
        self._say("both workers are started again")
        self._stage.start_workers()

    def _mid_ladder(self, picture: Picture) -> bool:
        return all(
            lane.rows
            and lane.rows[0].status in ("retrying", "PaymentBackoff")
            and lane.rows[0].attempt == 2
            for lane in picture.lanes
        )

    def _mid_refund(self, _picture: Picture) -> bool:
        held = json.loads(exchange(self._stage.port, "GET", "/held"))
        return bool(held == list(LANES))

    def _finished(self, picture: Picture) -> bool:
        ends = [row.status for row in picture.lanes[1].rows]
        return ends == ["Settled", "Refunded"]

    def _until(self, what: str, reached: Callable[[Picture], bool]) -> None:
        limit = time.monotonic() + PATIENCE
        while True:
            picture = self._picture()
            self._view.show(picture)
            if reached(picture):
                return
            if time.monotonic() > limit:
                raise Stuck(f"waited {PATIENCE:.0f} s for {what}")
            time.sleep(0.1)

    def _pass(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._view.show(self._picture())
            time.sleep(0.1)

    def _say(self, text: str) -> None:
        self._view.say(self._picture(), text)

    def _picture(self) -> Picture:
        rows = self._memory_rows(), self._written_rows()
        a, b = (
            Lane(title, self._stage.pid(name), found)
            for title, name, found in zip(TITLES, LANES, rows, strict=True)
        )
        return Picture(self._began, milliseconds(), (a, b))

    def _memory_rows(self) -> tuple[Row, ...]:
        with closing(sqlite3.connect(self._stage.files.status)) as rows:
            return tuple(
                Row(name, status, attempt, limit=len(WAITS) + 1)
                for name, status, attempt in rows.execute(ROWS)
            )

    def _written_rows(self) -> tuple[Row, ...]:
        found = ((name, self._box.get(order.machine, name)) for name in self._placed)
        return tuple(
            written_row(name, instance.state)
            for name, instance in found
            if instance is not None
        )


def written_row(name: str, state: order.State) -> Row:
    """The fields by which the machine itself decides."""
    phase = type(state).__name__
    match state:
        case order.PaymentRunning() | order.StockRunning():
            return Row(name, phase, state.attempt, order.LADDER_ATTEMPTS)
        case order.PaymentBackoff() | order.PaymentSilent() | order.StockBackoff():
            return Row(name, phase, state.attempt, order.LADDER_ATTEMPTS, state.due)
        case order.PaymentUndoing() | order.StockUndoing():
            return Row(name, phase, state.attempt)
        case order.PaymentUndoBackoff() | order.StockUndoBackoff():
            return Row(name, phase, state.attempt, due=state.due)
        case order.SettlementRunning() | order.Settled() | order.Refunded():
            return Row(name, phase)
        case _:
            assert_never(state)


def milliseconds() -> int:
    return time.time_ns() // 1_000_000
