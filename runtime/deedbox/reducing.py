"""The middle of a transaction: answers, deadlines and messages, reduced over the overlay.

Each instance sees them in this order.  Only `advance` changes the overlay, and what can
fail in a step fails before that; so an item that is refused or raises does so alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from msgspec import Struct

from .batch import (
    Answered,
    Held,
    Live,
    Tell,
)
from .codec import answered, recorded, stamped
from .documents import plain, text
from .errors import (
    MessageIdReused,
    NewerVersion,
    ReducerFailed,
    Rejected,
    SendError,
    UnknownInstance,
    failure,
)
from .machine import Command, Due, Instant, Refused
from .operations import (
    Key,
    Owing,
    Program,
    ask,
)
from .step import Step, step
from .upcast import ticket_of
from .values import HOUR, Receipt
from .work import Work

BASE_EVERY: Final = 256
FIRINGS: Final = 1_000
"""So many deadlines of one instance fire in one batch; what is left waits for the next.
As many in a row of which none is later than the one before are no pause: it is parked."""
REDUCING: Final = 20
"""Milliseconds of reducing after which the rest of it waits a batch."""


class Poisoned(Exception):
    """The reducer raised on the answer of this row: the batch again, without it."""

    def __init__(self, key: Key, reason: str) -> None:
        super().__init__(key, reason)
        self.key = key
        self.reason = reason


def reduce(work: Work, spent: Callable[[], int]) -> Program[None]:
    """Answers, then deadlines, then messages: each instance sees them in this order."""
    for answer, one in work.taken:
        answer_in_hand(work, answer, one)
    if work.due:
        yield from wake_due(work, spent)
    for held, post in work.posts.values():
        deliver(work, held, post)
    reply = work.result.replies.append
    for number, tell in enumerate(work.batch.tells):
        if number % 32 == 31 and spent() > REDUCING:
            work.result.deferred = work.batch.tells[number:]
            break
        try:
            reply((tell.reply, apply(work, tell)))
        except SendError as refusal:
            if isinstance(refusal, Rejected):
                remember(work, tell, refusal)
            work.result.counts["rejected"] += 1
            reply((tell.reply, refusal))


def answer_in_hand(work: Work, answer: Answered, one: Live | None) -> None:
    """An outcome whose row was just taken; a reducer that fails on it poisons it."""
    if one is None or answer.outcome is None:
        work.result.counts["handled"] += 1
        return
    if one.state is None:
        work.result.counts["late"] += 1
        return
    ticket = answer.key[2]
    try:
        at = max(one.at, work.now)
        result = advance(work, one, answered(answer.outcome, at, ticket), at)
        if (
            isinstance(result, Refused)
            and one.codec.machine.awaited(one.state) == ticket
        ):
            raise ValueError(f"the awaited answer is refused: {result.text}")
    except Exception as problem:
        raise Poisoned(answer.key, failure(problem)) from problem
    late = isinstance(result, Refused)
    work.result.counts["late" if late else "handled"] += 1


def wake_due(work: Work, spent: Callable[[], int]) -> Program[None]:
    """Fire what is due, oldest first; a finished instance that is due is removed (R18)."""
    ended: dict[str, list[Live]] = {}
    for number, one in enumerate(work.due):
        if number % 32 == 31 and spent() > REDUCING:
            work.more_due = True
            break
        if one.state is None:
            continue
        if type(one.state) not in one.codec.machine.finals:
            fire(work, one, FIRINGS)
            if not one.dirty and one.refusal is None:
                # The column says due and the state does not: the state is right.
                one.wake_at, one.dirty = one.codec.machine.wake(one.state), True
                work.result.counts["wakes corrected"] += 1
        elif one.wake_at is not None and one.wake_at <= work.now and not one.dirty:
            ended.setdefault(one.codec.name, []).append(one)
    # What is told in this batch may be refused, and is owed again then.
    telling = {key[:2] for key in work.posts}
    for machine, ones in ended.items():
        owing = yield from ask(Owing(machine, [one.id for one in ones]))
        for one in ones:
            if one.id in owing or (machine, one.id) in telling:
                one.wake_at, one.dirty = work.now + HOUR, True
            else:
                work.remove(one)


def fire(work: Work, one: Live, most: int | None = None) -> None:
    """All deadlines that are due at the instance's own time, earliest first.

    Missed ones on a grid end at `at`, however many they are; those that follow each
    other without a pause would never end.
    """
    wake, at = one.codec.machine.wake, max(one.at, work.now)
    latest, standing, fired = -1, 0, 0
    while one.state is not None and one.refusal is None and fired != most:
        due = wake(one.state)
        if due is None or due > at:
            return
        latest, standing = (due, 0) if due > latest else (latest, standing + 1)
        if standing == FIRINGS - 1:
            work.park(one, f"{FIRINGS} deadlines follow each other without a pause")
            return
        try:
            result = advance(work, one, Due(Instant(at)), at)
        except Exception as problem:
            work.park(one, f"the reducer raised on a deadline\n{failure(problem)}")
            return
        if isinstance(result, Refused) or not result.changed:
            work.park(one, f"a deadline of {due} is due and changes nothing")
            return
        fired += 1


def apply(work: Work, tell: Tell) -> Receipt:
    one = work.live[tell.codec.name, tell.id]
    if tell.message_id is not None:
        known = work.seen.get((tell.codec.name, tell.id, tell.message_id))
        if known is not None:
            digest, answer = known
            if digest != tell.digest:
                raise MessageIdReused(f"{tell.message_id} for {tell.id}")
            if isinstance(answer, Receipt):
                return answer
            raise answer
    if one.state is not None and one.refusal is None:
        fire(work, one)
    if one.refusal is not None:
        raise one.refusal
    if one.state is None and not tell.starts:
        raise UnknownInstance(f"{tell.codec.name} {tell.id}")
    at = max(one.at, work.now)
    try:
        result = advance(work, one, stamped(tell.message, at), at)
    except SendError:
        raise
    except Exception as problem:
        what = f"{type(tell.message).__name__} to {tell.codec.name} {tell.id}"
        raise ReducerFailed(f"{what}\n{failure(problem)}") from problem
    if isinstance(result, Step):
        receipt = one.receipt("applied")
        work.result.counts["handled"] += 1
    elif result.kind == "rejected":
        raise Rejected(f"{one.phase} {tell.id}: {result.text}")
    else:
        receipt = one.receipt("kept" if result.kind == "kept" else "ignored")
        work.result.counts["ignored"] += 1
    remember(work, tell, receipt)
    return receipt


def deliver(work: Work, held: Held, post: Tell | SendError) -> None:
    """Deliver what was just taken; what is not applied is owed on, with the answer.

    Nobody can be asked again, so it is set aside at once; a newer version of the
    other machine is left to a process that has it.
    """
    try:
        if isinstance(post, SendError):
            raise post
        apply(work, post)
    except SendError as refusal:
        said = str(refusal)
        newer = isinstance(refusal, NewerVersion)
        park = work.parked(held, None if newer else said)
        next_at = work.later(held, park)
        machine, id, ticket = held.key
        key = cast("Command", held.command).idempotency_key
        row = (machine, id, ticket, held.type.name, key, None, next_at, held.tries)
        version, document = held.codec.version, text(held.command)
        work.returned.append((*row, 0, park, said, version, document))


def remember(work: Work, tell: Tell, answer: Receipt | Rejected) -> None:
    """The first answer to a `message_id` is the answer (R14)."""
    if tell.message_id is None:
        return
    name = (tell.codec.name, tell.id, tell.message_id)
    if name not in work.seen:
        work.seen[name] = tell.digest, answer
        work.inbox.append((*name, tell.digest, work.now, recorded(answer)))


def advance(
    work: Work, one: Live, message: Struct, at: int
) -> Step[Struct, Struct] | Refused:
    """One step over the overlay.  Whatever can fail is done before the first change."""
    codec, machine, id = one.codec, one.codec.machine, one.id
    result: Step[Struct, Struct] | Refused = step(machine, one.state, message)
    if isinstance(result, Refused) or not result.changed:
        return result
    doc, said = text(result.state), plain(message)
    owed = [
        (codec.command_types[type(command)], command, text(command))
        for command in result.owed
    ]
    name, version, rev = codec.name, codec.version, one.rev + 1
    work.journal.append((name, id, rev, at, "step", version, said))
    if rev % BASE_EVERY == 0 or (one.version != version and one.rev > 0):
        rules = work.desk.rules
        work.journal.append((name, id, rev, at, "base", version, doc))
        work.trims.append((name, id, rev - rules.history, at - rules.remember))
    if result.withdrawn is not None:
        key = (name, id, result.withdrawn)
        if work.owed.pop(key, None) is None:
            work.withdrawn.append(key)
            work.end(key)
        work.result.counts["withdrawn"] += 1
    for type_, command, document in owed:
        ticket = ticket_of(command)
        work.owed[name, id, ticket] = type_, command, document, version
    if one.state is None:
        one.born = at
    one.state, one.doc, one.rev, one.at, one.version, one.dirty = (
        result.state,
        doc,
        rev,
        at,
        version,
        True,
    )
    one.wake_at = work.wake_of(codec, result.state, result.wake, at)
    return result
