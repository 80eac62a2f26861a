"""Machines that are wrong in one way each: a place of their generated code is changed.

Each breaks a law of its kind, and nothing of the interpreter: what is stored is what
the machine says, and that is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Miswritten:
    """`old` becomes `new`, and `more` is written behind it; `says`: what the broken law says."""

    name: str
    machine: str
    says: str
    old: str = ""
    new: str = ""
    more: str = ""


SAGAS: Final = (
    Miswritten(
        "the steps are undone from the first on",
        "Order",
        "`refund` is asked for before step 2 is undone",
        more="""
def _to_stock_undoing(state, *, attempt, since, told, cause, hold):
    return _to_payment_undoing(
        state,
        attempt=attempt,
        since=since,
        told=told,
        cause=cause,
        ref=state.ref,
        payment_deed=state.payment_deed,
    )
""",
    ),
    Miswritten(
        "an undo is left out",
        "Order",
        "and step 1 was not undone",
        more="""
def _to_payment_undoing(state, *, cause, **_):
    return _to_refunded(state, cause=cause)
""",
    ),
    Miswritten(
        "what is done is undone too",
        "Order",
        "it is done, and step 2, 1 was undone",
        more="""
_right = _settlement_running


def _settlement_running(state, msg):
    if not isinstance(msg, SettleSettled):
        return _right(state, msg)
    return _to_stock_undoing(
        state, attempt=1, since=msg.at, told=False, cause="", hold=state.hold
    )
""",
    ),
    Miswritten(
        "what was declined is undone",
        "Order",
        "`refund` is asked for, and its step was never done",
        more="""
_right = _payment_running


def _payment_running(state, msg):
    if not isinstance(msg, ChargeDeclined):
        return _right(state, msg)
    return _to_payment_undoing(
        state,
        attempt=1,
        since=msg.at,
        told=False,
        cause="",
        ref=None,
        payment_deed=_key(state, state.deed_number),
    )
""",
    ),
    Miswritten(
        "an undo is asked for again when it was done",
        "Order",
        "`release` is asked for again, and it was done",
        more="""
_right = _stock_undoing


def _stock_undoing(state, msg):
    if not isinstance(msg, ReleaseReleased):
        return _right(state, msg)
    return _to_stock_undoing(
        state, attempt=1, since=msg.at, told=False, cause="", hold=state.hold
    )
""",
    ),
    Miswritten(
        "a step is left out",
        "Trip",
        "`pay` is asked for after step 1",
        more="""
def _to_room_running(state, *, seat_id, seat_deed, **_):
    n = state.issued + 1
    after = PaymentRunning(
        state.trip,
        state.flight,
        state.hotel,
        state.price,
        state.born,
        n,
        ticket=n,
        deed_number=n,
        silent_at=Instant(1),
        seat_id=seat_id,
        room_id="r",
        seat_deed=seat_deed,
        cancelled=None,
    )
    return after, (Pay(_key(state, n), n, state.trip, state.price),)
""",
    ),
    Miswritten(
        "silence ends it, and nobody knows what was done",
        "Order",
        "and step 1 may have been done",
        old="""                return _to_payment_undoing(
                    state,
                    attempt=1,
                    since=msg.at,
                    told=False,
                    cause=(
                        "cancelled: " + state.cancelled
                        if state.cancelled is not None
                        else "payment.silence"
                    ),
                    ref=None,
                    payment_deed=_key(state, state.deed_number),
                )
""",
        new="""                return _to_refunded(state, cause="")
""",
    ),
)
WAITS: Final = (
    Miswritten(
        "a wait without a wake",
        "Order",
        "nothing ever moves PaymentUndoBackoff",
        more="""
from dataclasses import replace

_right = wake


def _forgetful(state):
    return None if isinstance(state, PaymentUndoBackoff) else _right(state)


machine = replace(machine, wake=_forgetful)
""",
    ),
)
SCANS: Final = (
    Miswritten(
        "no more than a page is asked for",
        "Showcase",
        "2 records are asked for, a page is 2",
        ", 3)",
        ", 2)",
    ),
    Miswritten(
        "the cursor moves to the record that was only looked at",
        "Showcase",
        "consumed is up to",
        "upto=mine[-1].id",
        "upto=msg.jobs[-1].id",
    ),
    Miswritten(
        "a page that is full is taken for one of many",
        "Showcase",
        "consumed is up to None",
        "len(msg.jobs) > 2",
        "len(msg.jobs) >= 2",
    ),
    Miswritten(
        "the cursor is forgotten between two pages",
        "Showcase",
        "what is behind None is asked for",
        "state.after, 3)",
        "None, 3)",
    ),
    Miswritten(
        "a pass ends with its first page",
        "Showcase",
        "the cursor is None, consumed is up to",
        more="""
def _to_pausing(state, *, after, woken, due):
    return _to_resting(state, after=None, due=due)
""",
    ),
    Miswritten(
        "a record of the page is passed over",
        "NightlyExport",
        "comes (Account(",
        "if len(state.todo) > 0:",
        "if len(state.todo) > 1:",
    ),
    Miswritten(
        "a record is taken twice",
        "NightlyExport",
        "due on the page is",
        "todo=ready[1:]",
        "todo=ready",
    ),
    Miswritten(
        "what is not due is taken",
        "NightlyExport",
        "due on the page",
        "account.export_at <= msg.at",
        "account.export_at <= msg.at + 10**12",
    ),
)
