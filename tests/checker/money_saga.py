"""An order saga as local tables: the known model that the engines are held against.

Reserve, charge, ship, and refund on the way back; at most A attempts a step.  The
orders share one process, whose crash clears every worker, at most C times.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from deedbox_checker.engine.tables import Joint, Tables, close, tables


class Step(IntEnum):
    RESERVE, CHARGE, SHIP, REFUND, DONE, REFUNDED, CANCELLED, STUCK = range(8)


class Worker(IntEnum):
    IDLE, REDUCED, ACTED = range(3)


class Answer(IntEnum):
    NONE, OK, FAILED, LOST = range(4)


AFTER_OK = {
    Step.RESERVE: Step.CHARGE,
    Step.CHARGE: Step.SHIP,
    Step.SHIP: Step.DONE,
    Step.REFUND: Step.REFUNDED,
}
AFTER_LAST_FAILURE = {
    Step.RESERVE: Step.CANCELLED,
    Step.CHARGE: Step.REFUND,
    Step.SHIP: Step.REFUND,
    Step.REFUND: Step.STUCK,
}
ENDED = (Step.DONE, Step.REFUNDED, Step.CANCELLED, Step.STUCK)
WORK, CRASH = 0, 1


@dataclass(frozen=True, slots=True)
class Order:
    step: Step = Step.RESERVE
    attempt: int = 0
    owed: bool = True
    worker: Worker = Worker.IDLE
    answer: Answer = Answer.NONE
    stale_copy: bool = False
    charged: bool = False
    shipped: bool = False
    refunded: bool = False

    def crashed(self) -> Order:
        return Order(
            self.step, self.attempt, self.owed, Worker.IDLE, self.answer,
            self.stale_copy, self.charged, self.shipped, self.refunded,
        )  # fmt: skip

    @property
    def sound(self) -> bool:
        match self.step:
            case Step.DONE:
                settled = self.charged and self.shipped and not self.refunded
            case Step.CANCELLED:
                settled = not self.charged
            case Step.REFUNDED:
                settled = self.refunded or not self.charged
            case _:
                settled = True
        return settled and (self.charged or not self.refunded)


def moves(order: Order, attempts: int) -> Iterator[Order]:
    """What one order can do; the crash is a joint step."""
    o = order
    idle = o.worker is Worker.IDLE
    if o.owed and idle:
        stale = o.stale_copy or o.answer is not Answer.NONE
        for answer in (Answer.OK, Answer.FAILED, Answer.LOST):
            acts = answer is not Answer.FAILED
            yield Order(
                o.step, o.attempt, True, Worker.ACTED, answer, stale,
                o.charged or (acts and o.step is Step.CHARGE),
                o.shipped or (acts and o.step is Step.SHIP),
                o.charged if acts and o.step is Step.REFUND else o.refunded,
            )  # fmt: skip
    if o.worker is Worker.ACTED:
        yield Order(
            o.step, o.attempt, False, Worker.IDLE, o.answer,
            o.stale_copy, o.charged, o.shipped, o.refunded,
        )  # fmt: skip
    if idle and o.answer is not Answer.NONE:
        yield Order(
            o.step, o.attempt, o.owed, Worker.REDUCED, o.answer,
            o.stale_copy, o.charged, o.shipped, o.refunded,
        )  # fmt: skip
    if o.worker is Worker.REDUCED:
        if o.answer is Answer.OK:
            step, attempt = AFTER_OK[o.step], 0
        elif o.attempt + 1 < attempts:
            step, attempt = o.step, o.attempt + 1
        else:
            step, attempt = AFTER_LAST_FAILURE[o.step], 0
        yield Order(
            step, attempt, step not in ENDED, Worker.IDLE, Answer.NONE, True,
            o.charged, o.shipped, o.refunded,
        )  # fmt: skip
    if o.stale_copy and idle:
        yield Order(
            o.step, o.attempt, o.owed, o.worker, o.answer, False,
            o.charged, o.shipped, o.refunded,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Saga:
    orders: tuple[Order, ...]
    tables: Tables


def saga(attempts: int, crashes: int) -> Saga:
    """The tables of one order; the shared state counts the crashes."""

    def successors(order: Order) -> Iterator[tuple[Order, int]]:
        for after in moves(order, attempts):
            yield after, WORK
        if crashes and order.worker is not Worker.IDLE:
            yield order.crashed(), CRASH

    closed = close([Order()], successors, limit=100_000)
    count = len(closed.states)
    rows = [
        [
            (shared * count + closed.targets[edge], WORK)
            for edge in range(closed.offsets[n], closed.offsets[n + 1])
            if closed.labels[edge] == WORK
        ]
        for shared in range(crashes + 1)
        for n in range(count)
    ]
    cleared = array(
        "I", [closed.index.get(o.crashed(), n) for n, o in enumerate(closed.states)]
    )
    joints = tuple(Joint(CRASH, c, c + 1, cleared) for c in range(crashes))
    return Saga(
        closed.states,
        tables(count, crashes + 1, 0, rows, faults=bytes([0, 1]), joints=joints),
    )
