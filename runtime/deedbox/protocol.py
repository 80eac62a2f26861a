"""The write transaction: every change of a store is made here, by one generator.

A batch of items goes in; operations come out, in one order: begin, fence, due, load,
take, reduce over an overlay, then save, withdraw, owe, journal, remember, claim,
commit.  The rule that keeps it right (R1): what follows from a batch (answers to
senders, handlers to start) is *returned*, after the commit; nothing acts before.

It knows no store, no thread, no loop, no clock but the one the fence answers with.
It holds no state between batches (R2): the caller applies the result to its `Desk`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from .batch import (
    Batch,
    Desk,
    Result,
    Watch,
)
from .errors import StoreFailed, Unsettled
from .loading import let_go, load, postpone, take
from .operations import (
    Begin,
    Commit,
    CommitUnknown,
    Fence,
    Program,
    Reap,
    Rest,
    Rollback,
    Settle,
    ask,
)
from .reducing import reduce
from .work import Work
from .writing import claim, look, overdue, write

ASKED: Final = 8
"""So often is a store asked what became of a commit."""


log = logging.getLogger("deedbox")


class Fenced(Exception):
    """This process was declared dead; what it held is somebody else's now."""


def transaction(desk: Desk, batch: Batch, spent: Callable[[], int]) -> Program[Result]:
    """One batch, from begin to commit; `spent` tells the milliseconds since its start."""
    yield from ask(Begin())
    now = yield from ask(Fence(desk.epoch, desk.batch, desk.rules.lease))
    if now is None:
        raise Fenced
    if batch.reap:
        yield from ask(Reap(desk.epoch, now, desk.rules.deliveries))
    work = Work(desk, batch, now)
    if batch.check:
        yield from let_go(work)
    yield from load(work)
    yield from take(work)
    yield from postpone(work)
    yield from reduce(work, spent)
    yield from write(work)
    if batch.look or (batch.due and not work.more_due):
        yield from look(work, work.now)
    if batch.due or not overdue(work):
        yield from claim(work)
    if not work.holds:
        yield from ask(Rest(desk.epoch))
    try:
        yield from ask(Commit())
    except CommitUnknown as unknown:
        last = yield from settled(desk.epoch)
        if last is None:
            # Done again, a batch that was committed would be applied twice.
            raise Unsettled("the session ended before it was asked") from unknown
        if last == desk.batch:
            raise StoreFailed(f"the commit was not made: {unknown}") from unknown
    return work.result


def roll_back() -> Program[None]:
    """Undo the transaction; one whose undoing fails was not committed either."""
    try:
        yield from ask(Rollback())
    except Exception as problem:
        log.warning("a rollback failed: %s", problem)


def settled(epoch: int) -> Program[int | None]:
    """The last batch that was committed; it is asked until there is an answer, or `Unsettled`.

    Doing a batch again before that is known could apply a message twice.
    """
    silence: Exception | None = None
    for _ in range(ASKED):
        try:
            yield from ask(Rollback())
            return (yield from ask(Settle(epoch)))
        except Exception as problem:
            silence = problem
    raise Unsettled(str(silence)) from silence


def glance(desk: Desk, watches: list[Watch], now: int) -> Program[Result]:
    """What others have committed, read and not written: nobody hears of a glance (R7).

    A look in a transaction of its own is a commit to the others, who would look in
    turn, and so on for ever.
    """
    work = Work(desk, Batch(watches=watches), now)
    yield from load(work)
    yield from look(work, -1)
    return work.result


def inside(desk: Desk, batch: Batch, now: int) -> Program[Result]:
    """The same steps in a transaction of the caller's, who commits it."""
    work = Work(desk, batch, now)
    yield from load(work)
    yield from reduce(work, lambda: 0)
    yield from write(work)
    return work.result
