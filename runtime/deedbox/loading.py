"""The first half of a transaction: what is due and named is read, what was held is taken.

After it, every instance that an item names is in the overlay, readable or refused, and
every row that was answered is gone (R5), or its answer is late.
"""

from __future__ import annotations

from typing import Final

from .batch import (
    Answered,
    Held,
    Live,
    Migrating,
    Tell,
    is_held,
)
from .codec import recalled
from .errors import (
    InstanceParked,
    SendError,
)
from .operations import (
    Gone,
    Key,
    ListDue,
    Load,
    Mark,
    Page,
    Postpone,
    Program,
    Redrive,
    Seen,
    Still,
    Take,
    ask,
)
from .values import Migrated
from .work import Work

DUE_PAGE: Final = 512


def load(work: Work) -> Program[None]:
    """Due instances, then those that the items name, then what is remembered."""
    batch, live = work.batch, work.live
    for codec in batch.due:
        rows = yield from ask(ListDue(codec.name, codec.version, work.now, DUE_PAGE))
        work.more_due = work.more_due or len(rows) == DUE_PAGE
        for row in rows:
            one = live[codec.name, row[0]] = work.read(codec, row)
            work.due.append(one)
    wanted: dict[str, set[str]] = {}
    messages: list[tuple[str, str, str]] = []
    for tell in batch.tells:
        name = tell.codec.name
        work.want(wanted, tell.codec, tell.id)
        if tell.message_id is not None:
            messages.append((name, tell.id, tell.message_id))
    for answer in batch.answers:
        if answer.outcome is not None and is_held(work.desk, answer):
            machine, id, _ = answer.key
            work.want(wanted, work.desk.codecs[machine], id)
    for posted in batch.posted:
        held = work.desk.held.get(posted.key)
        if held is not None:
            post = address(work, held)
            work.posts[held.key] = held, post
            if isinstance(post, Tell):
                work.want(wanted, post.codec, post.id)
    for woken in batch.woken:
        work.want(wanted, woken.codec, woken.id)
    for watch in batch.watches:
        work.want(wanted, watch.codec, watch.id)
    for machine, named in wanted.items():
        codec, ids = work.desk.codecs[machine], sorted(named)
        rows = yield from ask(Load(machine, ids))
        for row in rows:
            live[machine, row[0]] = work.read(codec, row)
        if len(rows) < len(ids):
            gone = yield from ask(Gone(machine))
            for id in ids:
                if (machine, id) not in live:
                    live[machine, id] = work.unborn(codec, id, gone)
    for woken in batch.woken:
        one = live[woken.codec.name, woken.id]
        if woken.park is not None and one.state is not None:
            work.park(one, woken.park)
        elif one.wake_at is not None and one.wake_at <= work.now:
            work.due.append(one)
    for migrating in batch.migrating:
        yield from migrate(work, migrating)
    if messages:
        for machine, id, message_id, digest, _, said in (
            yield from ask(Seen(messages))
        ):
            work.seen[machine, id, message_id] = digest, recalled(said)


def address(work: Work, held: Held) -> Tell | SendError:
    """What one machine tells another, as the message that it is; or why it is none."""
    target = work.desk.codecs[held.codec.targets[held.type.name]]
    try:
        id, message = target.told(held.command)
    except SendError as problem:
        return problem
    starts = type(message) is target.machine.start_type
    return Tell(target, id, message, starts, None, "", lambda _: None)


def migrate(work: Work, page: Migrating) -> Program[None]:
    """Bring a page of rows to this version, in bulk (R12)."""
    codec = page.codec
    rows = yield from ask(Page(codec.name, page.after, None, None, page.limit))
    migrated = parked = 0
    for row in rows:
        if row[5] >= codec.version or row[7] is not None:
            continue
        one = work.live.get((codec.name, row[0]))
        if one is None:
            one = work.live[codec.name, row[0]] = work.read(codec, row)
        if one.state is None:
            parked += 1
            continue
        migrated += 1
        if one.version != codec.version:
            work.renew(one)
    last = rows[-1][0] if rows else page.after
    answer = Migrated(len(rows), migrated, parked, last)
    work.result.replies.append((page.reply, answer))


def take(work: Work) -> Program[None]:
    """Remove the rows that were answered, as far as the claim is still ours (R5).

    Those that are delivered to another machine too: its step is in this transaction.
    """
    keys: list[Key] = list(work.posts)
    known: list[tuple[Answered, Live | None]] = []
    for answer in work.batch.answers:
        key = answer.key
        if not is_held(work.desk, answer):
            work.result.counts["late"] += 1
            continue
        one = None if answer.outcome is None else work.live[key[0], key[1]]
        if one is not None and one.refusal is not None:
            said = str(one.refusal)
            parked = isinstance(one.refusal, InstanceParked)
            work.give_back(key, said, said if parked else None)
            continue
        keys.append(key)
        known.append((answer, one))
    if not keys:
        return
    taken = yield from ask(Take(work.desk.epoch, keys))
    for key in list(work.posts):
        work.end(key)
        if key not in taken:
            del work.posts[key]
    for answer, one in known:
        work.end(answer.key)
        if answer.key in taken:
            work.taken.append((answer, one))
        else:
            work.result.counts["late"] += 1


def let_go(work: Work) -> Program[None]:
    """End what another process has withdrawn from this one: nobody else says so (R19)."""
    held = list(work.desk.held)
    still = yield from ask(Still(work.desk.epoch, held))
    for key in held:
        if key not in still:
            work.end(key)


def postpone(work: Work) -> Program[None]:
    """Rows whose handler raised go back, on the ladder or to the side (R6)."""
    for raised in work.batch.raised:
        if is_held(work.desk, raised):
            work.give_back(raised.key, raised.error, raised.park)
    if work.postponed:
        yield from ask(Postpone(work.desk.epoch, work.postponed))
    if work.desk.marks:
        marked = yield from ask(Mark(work.desk.epoch, work.desk.marks))
        work.result.marked = [key for key in work.desk.marks if key in marked]
    for redriven in work.batch.redriven:
        count = yield from ask(Redrive(redriven.codec.name, redriven.id, work.now))
        work.result.replies.append((redriven.reply, count))
