"""What becomes of a batch that failed twice: its items, one a transaction (R2, R3).

Each is done, or fails alone: its sender hears why, an answer is kept for later, and what
no store takes is set aside (R11).  The rest of the batch does not suffer for it.
"""

from __future__ import annotations

import logging
from typing import Final

from msgspec import Struct, field

from .batch import Answered, Batch, Item, Posted, Raised, Woken
from .codec import Codec
from .errors import DeedboxError, StoreFailed
from .loading import DUE_PAGE
from .operations import Begin, ListDue, Now, Program, Unstorable, ask
from .protocol import roll_back
from .session import Session

HOPELESS: Final = 20
"""So many failures in a row say that it is not one instance (a page has 9 halvings)."""

log = logging.getLogger("deedbox")


class Left(Struct):
    """What is still to be done: these items again, a look, a reaping.

    `waits`: something got nowhere, so there is a pause before it.
    """

    again: list[Answered | Raised | Posted] = field(
        default_factory=list[Answered | Raised | Posted]
    )
    look: bool = False
    reap: bool = False
    waits: bool = False


def one_by_one(session: Session, batch: Batch) -> Program[Left]:
    """Do each thing of a batch by itself."""
    left = Left()
    rest = Batch(look=batch.look, reap=batch.reap)
    if (yield from session.attempt(rest)) is not None:
        left = Left(look=batch.look, reap=batch.reap, waits=True)
        session.lapse()
    else:
        for codec in batch.due:
            waits = yield from wake(session, codec)
            left.waits, left.look = left.waits or waits, True
    for item in batch.items:
        alone = Batch()
        alone.add(item)
        problem = yield from session.attempt(alone)
        if problem is not None:
            fail(item, problem, left)
    left.waits = left.waits or bool(left.again)
    return left


def fail(item: Item, problem: Exception, left: Left) -> None:
    """Nothing of what is owed is dropped; who asked for something hears that it failed."""
    match item:
        case Answered() | Posted() if isinstance(problem, Unstorable):
            said = str(problem)
            log.error("what follows from %s cannot be kept: %s", item.key, said)
            left.again.append(Raised(item.key, said, said))
        case Answered() | Raised() | Posted():
            left.again.append(item)
        case _:
            known = isinstance(problem, DeedboxError)
            item.reply(problem if known else StoreFailed(repr(problem)))


def wake(session: Session, codec: Codec) -> Program[bool]:
    """Fire a page of due instances that cannot be written together.

    By halves, so that few are alone: one that the store does not take is set aside
    (R11), the others go on.  Whether some could not be written, and wait.
    """
    due = yield from page(codec)
    if due is None:
        return True
    left = [due]
    failures, waits = 0, False
    while left and failures < HOPELESS:
        ids = left.pop()
        woken = [Woken(codec, id) for id in ids]
        problem = yield from session.attempt(Batch(woken=woken))
        if isinstance(problem, Unstorable) and len(ids) == 1:
            log.error("%s %s cannot be written: %s", codec.name, ids[0], problem)
            aside = [Woken(codec, ids[0], f"cannot be written: {problem}")]
            problem = yield from session.attempt(Batch(woken=aside))
        failures = 0 if problem is None else failures + 1
        if problem is not None:
            waits = waits or len(ids) == 1
            half = len(ids) // 2
            left += [some for some in (ids[half:], ids[:half]) if half]
    return waits or bool(left)


def page(codec: Codec) -> Program[list[str] | None]:
    """What is due, in the order of the wakes; None when it cannot be read."""
    ids: list[str] | None = None
    try:
        yield from ask(Begin())
        now = yield from ask(Now())
        due = ListDue(codec.name, codec.version, now, DUE_PAGE)
        ids = [row[0] for row in (yield from ask(due))]
    except Exception as problem:
        log.warning("what is due of %s cannot be read: %s", codec.name, problem)
    # Not in a `finally`: a program that is dropped here must not ask for anything.
    yield from roll_back()
    return ids
