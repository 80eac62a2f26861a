"""The write transaction: every change of a store is made here, by one generator.

A batch of items goes in; operations come out, in one order: begin, fence, due, load,
take, reduce over an overlay, then save, withdraw, owe, journal, remember, claim,
commit.  The rule that keeps it right (R1): what follows from a batch (answers to
senders, handlers to start) is *returned*, after the commit; nothing acts before.

It knows no store, no thread, no loop, no clock but the one the fence answers with.
It holds no state between batches (R2): the caller applies the result to its `Desk`.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct

from . import failpoints
from .batch import (
    Answer,
    Answered,
    Batch,
    Desk,
    Held,
    Live,
    Migrating,
    Result,
    Tell,
)
from .codec import Codec, answered, plain, stamped, text
from .errors import (
    InstanceParked,
    MessageIdReused,
    NewerVersion,
    ReducerFailed,
    Rejected,
    SendError,
    UnknownInstance,
    UnknownVersion,
)
from .machine import CommandType, Due, Refused
from .operations import (
    Begin,
    Behind,
    Claim,
    Commit,
    CommitUnknown,
    Conflict,
    Fence,
    InboxRow,
    InstanceRow,
    Journal,
    JournalRow,
    Key,
    ListDue,
    Load,
    Look,
    Mark,
    Name,
    OutboxRow,
    Owe,
    Owed,
    Owing,
    Page,
    Park,
    Postpone,
    Program,
    Reap,
    Redrive,
    Remember,
    Remove,
    Rollback,
    Save,
    Seen,
    Settle,
    Take,
    Trim,
    Withdraw,
    ask,
)
from .step import Step, step
from .upcast import ticket_of
from .values import HOUR, MINUTE, Migrated, Receipt, Rules

DUE_PAGE: Final = 512
BASE_EVERY: Final = 256
CLOCK_BEHIND: Final = 5 * MINUTE
"""So far may the clock be behind an instance's time before it is counted (R9)."""
FIRINGS: Final = 64
"""So many deadlines of one instance fire in one batch; what is left waits for the next."""
REDUCING: Final = 20
"""Milliseconds of reducing after which the rest of the messages wait a batch."""


class Fenced(Exception):
    """This process was declared dead; what it held is somebody else's now."""


class Poisoned(Exception):
    """The reducer raised on the answer of this row: the batch again, without it."""

    def __init__(self, key: Key, reason: str) -> None:
        super().__init__(key, reason)
        self.key = key
        self.reason = reason


def transaction(desk: Desk, batch: Batch, spent: Callable[[], int]) -> Program[Result]:
    """One batch, from begin to commit; `spent` tells the milliseconds since its start."""
    yield from ask(Begin())
    now = yield from ask(Fence(desk.epoch, desk.batch, desk.rules.lease))
    if now is None:
        raise Fenced
    if batch.reap:
        yield from ask(Reap(desk.epoch, now, desk.rules.deliveries))
    work = Work(desk, batch, now)
    yield from work.load()
    yield from work.take()
    yield from work.postpone()
    yield from work.reduce(spent)
    yield from work.write()
    yield from work.claim()
    if batch.due or batch.look or batch.reap:
        yield from work.look()
    try:
        yield from ask(Commit())
    except CommitUnknown:
        yield from ask(Rollback())
        last = yield from ask(Settle(desk.epoch))
        if last is None:
            raise Fenced from None
        if last == desk.batch:
            raise Conflict("the commit was not made") from None
    return work.result


def inside(desk: Desk, batch: Batch, now: int) -> Program[Result]:
    """The same steps in a transaction of the caller's, who commits it."""
    work = Work(desk, batch, now)
    yield from work.load()
    yield from work.reduce(lambda: 0)
    yield from work.write()
    return work.result


def ladder(rules: Rules, tries: int) -> int:
    """How long a row waits after its n-th delivery failed."""
    return min(rules.first_delay << min(tries - 1, 20), rules.longest_delay)


class Work:
    """The overlay of one transaction, and the rows it will write."""

    def __init__(self, desk: Desk, batch: Batch, now: int) -> None:
        self.desk = desk
        self.batch = batch
        self.now = now
        self.result = Result(now, dict(desk.room), set(desk.backlog))
        self.live = self.result.live
        self.due: list[Live] = []
        self.older: list[Live] = []
        self.seen: dict[tuple[str, str, str], tuple[str, Answer]] = {}
        self.taken: list[tuple[Answered, Live | None]] = []
        self.posts: dict[Key, tuple[Held, Tell | SendError]] = {}
        self.returned: list[OutboxRow] = []
        self.owed: dict[Key, tuple[CommandType, Struct, str, int]] = {}
        self.withdrawn: list[Key] = []
        self.journal: list[JournalRow] = []
        self.inbox: list[InboxRow] = []
        self.parks: dict[str, list[tuple[str, str]]] = {}
        self.removals: dict[str, list[tuple[str, int]]] = {}
        self.trims: list[tuple[str, str, int, int]] = []
        self.postponed: list[tuple[Key, str, int, str | None]] = []

    # -- what is there

    def load(self) -> Program[None]:
        """Due instances, then those that the items name, then what is remembered."""
        batch, live = self.batch, self.live
        for codec in batch.due:
            rows = yield from ask(
                ListDue(codec.name, codec.version, self.now, DUE_PAGE + 1)
            )
            if len(rows) > DUE_PAGE:
                self.result.more_due.append(codec)
            for row in rows[:DUE_PAGE]:
                one = live[codec.name, row[0]] = self.read(codec, row)
                self.due.append(one)
        wanted: dict[str, list[str]] = {}
        messages: list[tuple[str, str, str]] = []
        for tell in batch.tells:
            name = tell.codec.name
            self.want(wanted, tell.codec, tell.id)
            if tell.message_id is not None:
                messages.append((name, tell.id, tell.message_id))
        for answer in batch.answers:
            if answer.outcome is not None and answer.key in self.desk.held:
                machine, id, _ = answer.key
                self.want(wanted, self.desk.codecs[machine], id)
        for posted in batch.posted:
            held = self.desk.held.get(posted.key)
            if held is not None:
                post = self.address(held)
                self.posts[held.key] = held, post
                if isinstance(post, Tell):
                    self.want(wanted, post.codec, post.id)
        for watch in batch.watches:
            self.want(wanted, watch.codec, watch.id)
        for machine, ids in wanted.items():
            codec = self.desk.codecs[machine]
            ids.sort()
            for row in (yield from ask(Load(machine, ids))):
                live[machine, row[0]] = self.read(codec, row)
        for migrating in batch.migrating:
            yield from self.migrate(migrating)
        if messages:
            for machine, id, message_id, digest, _, said in (
                yield from ask(Seen(messages))
            ):
                self.seen[machine, id, message_id] = digest, recalled(said)

    def address(self, held: Held) -> Tell | SendError:
        """What one machine tells another, as the message that it is; or why it is none."""
        target = self.desk.codecs[held.codec.targets[held.type.name]]
        try:
            id, message = target.told(held.command)
        except SendError as problem:
            return problem
        starts = type(message) is target.machine.start_type
        return Tell(target, id, message, starts, None, "", lambda _: None)

    def want(self, wanted: dict[str, list[str]], codec: Codec, id: str) -> None:
        name = codec.name, id
        if name not in self.live:
            self.live[name] = Live(codec, id)
            wanted.setdefault(codec.name, []).append(id)

    def read(self, codec: Codec, row: InstanceRow) -> Live:
        """A row as it stands; one that cannot be read is parked (R11)."""
        id, rev, phase, at, born, version, wake_at, parked, doc = row
        one = Live(codec, id, None, rev, rev, at, born, version, wake_at, doc)
        if at > self.now + CLOCK_BEHIND:
            self.result.counts["clock_behind"] += 1
        if parked is not None:
            one.refusal = InstanceParked(f"{codec.name} {id}: {parked}")
        elif version > codec.version:
            one.refusal = NewerVersion(
                f"{codec.name} {id} has version {version}, this is {codec.version}"
            )
        else:
            try:
                self.decode(one, phase)
            except (msgspec.MsgspecError, UnicodeError) as problem:
                self.park(one, f"does not decode: {problem}")
            except SendError as problem:
                self.park(one, f"cannot be brought to this version: {problem}")
        return one

    def decode(self, one: Live, phase: str) -> None:
        """The state of a row; an older one in the words of this version (R12).

        A migrated row is written with the next step, or at once where it changes what
        is owed or when it wakes.
        """
        codec, version = one.codec, one.codec.version
        found = codec.state(one.version, one.doc, one.at)
        if found.phase != phase:
            raise msgspec.ValidationError(
                f"the document is a {found.phase}, the column says {phase}"
            )
        if one.version == version:
            one.state = found.state
            return
        doc, wake = text(found.state), self.wake_of(codec, found.state, one.at)
        owed = [
            (codec.command_types[type(command)], command, text(command))
            for command in found.owed
        ]
        one.state, one.doc = found.state, doc
        self.older.append(one)
        if found.withdrawn is not None:
            key = (codec.name, one.id, found.withdrawn)
            self.withdrawn.append(key)
            self.end(key)
            self.result.counts["withdrawn"] += 1
        for type_, command, document in owed:
            key = (codec.name, one.id, ticket_of(command))
            self.owed[key] = type_, command, document, version
        if found.withdrawn is not None or owed or wake != one.wake_at:
            one.wake_at = wake
            self.renew(one)

    def wake_of(self, codec: Codec, state: Struct, at: int) -> int | None:
        """The next deadline of a state; of a finished one, when it is removed."""
        if type(state) not in codec.machine.finals:
            return codec.machine.wake(state)
        keep = self.desk.rules.keep
        return None if keep is None else at + keep

    def renew(self, one: Live) -> None:
        """Write a migrated row without a step: a revision of its own, with its base."""
        name, version = one.codec.name, one.codec.version
        one.rev, one.version, one.dirty = one.rev + 1, version, True
        self.journal.append((name, one.id, one.rev, one.at, "base", version, one.doc))
        self.result.counts["migrated"] += 1

    def migrate(self, page: Migrating) -> Program[None]:
        """Bring a page of rows to this version, in bulk (R12)."""
        codec = page.codec
        rows = yield from ask(Page(codec.name, page.after, None, None, page.limit))
        migrated = parked = 0
        for row in rows:
            if row[5] >= codec.version or row[7] is not None:
                continue
            one = self.live.get((codec.name, row[0]))
            if one is None:
                one = self.live[codec.name, row[0]] = self.read(codec, row)
            if one.state is None:
                parked += 1
                continue
            migrated += 1
            if one.version != codec.version:
                self.renew(one)
        last = rows[-1][0] if rows else page.after
        answer = Migrated(len(rows), migrated, parked, last)
        self.result.replies.append((page.reply, answer))

    def park(self, one: Live, reason: str) -> None:
        one.refusal = InstanceParked(f"{one.codec.name} {one.id}: {reason}")
        self.parks.setdefault(one.codec.name, []).append((one.id, reason))
        self.result.counts["instances parked"] += 1

    # -- what was handed out

    def take(self) -> Program[None]:
        """Remove the rows that were answered, as far as the claim is still ours (R5).

        Those that are delivered to another machine too: its step is in this transaction.
        """
        held = self.desk.held
        keys: list[Key] = list(self.posts)
        known: list[tuple[Answered, Live | None]] = []
        for answer in self.batch.answers:
            key = answer.key
            if key not in held:
                self.result.counts["late"] += 1
                continue
            one = None if answer.outcome is None else self.live[key[0], key[1]]
            if one is not None and one.refusal is not None:
                said = str(one.refusal)
                parked = isinstance(one.refusal, InstanceParked)
                self.give_back(key, said, said if parked else None)
                continue
            keys.append(key)
            known.append((answer, one))
        if not keys:
            return
        taken = yield from ask(Take(self.desk.epoch, keys))
        for key in list(self.posts):
            self.end(key)
            if key not in taken:
                del self.posts[key]
        for answer, one in known:
            self.end(answer.key)
            if answer.key in taken:
                self.taken.append((answer, one))
            else:
                self.result.counts["late"] += 1

    def end(self, key: Key) -> None:
        """A row that was held is so no longer: its place is free."""
        held = self.desk.held.get(key)
        if held is not None and key not in self.result.ended:
            self.result.ended[key] = held
            self.result.room[held.codec.name, held.type.name] += 1
            if not held.type.outcomes:
                self.result.backlog.add((held.codec.name, held.type.name))

    def postpone(self) -> Program[None]:
        """Rows whose handler raised go back, on the ladder or to the side (R6)."""
        for raised in self.batch.raised:
            if raised.key in self.desk.held:
                self.give_back(raised.key, raised.error, raised.park)
        if self.postponed:
            yield from ask(Postpone(self.desk.epoch, self.postponed))
        if self.batch.marks:
            marked = yield from ask(Mark(self.desk.epoch, self.batch.marks))
            self.result.marked = [key for key in self.batch.marks if key in marked]
        for redriven in self.batch.redriven:
            count = yield from ask(Redrive(redriven.codec.name, redriven.id, self.now))
            self.result.replies.append((redriven.reply, count))

    def give_back(self, key: Key, error: str, park: str | None) -> None:
        held = self.desk.held[key]
        park = self.parked(held, park)
        self.postponed.append((key, error, self.later(held, park), park))
        self.end(key)

    def parked(self, held: Held, park: str | None) -> str | None:
        """Why a row is set aside: it cannot be delivered, or was so too often."""
        tries = held.tries
        often = tries >= self.desk.rules.deliveries and not held.type.unrepeatable
        return f"no answer in {tries} deliveries" if park is None and often else park

    def later(self, held: Held, park: str | None) -> int:
        """When a row that was given back may go out again."""
        next_at = self.now + ladder(self.desk.rules, held.tries)
        self.result.counts["raised" if park is None else "commands parked"] += 1
        if park is None:
            self.soon(next_at)
        return next_at

    def soon(self, next_at: int) -> None:
        known = self.result.next_at
        self.result.next_at = next_at if known is None else min(known, next_at)

    # -- the reducer

    def reduce(self, spent: Callable[[], int]) -> Program[None]:
        """Answers, then deadlines, then messages: each instance sees them in this order."""
        for answer, one in self.taken:
            self.answer(answer, one)
        if self.due:
            yield from self.wake()
        for held, post in self.posts.values():
            self.post(held, post)
        reply = self.result.replies.append
        for number, tell in enumerate(self.batch.tells):
            if number % 32 == 31 and spent() > REDUCING:
                self.result.deferred = self.batch.tells[number:]
                break
            try:
                reply((tell.reply, self.tell(tell)))
            except SendError as refusal:
                if isinstance(refusal, Rejected):
                    self.remember(tell, refusal)
                self.result.counts["rejected"] += 1
                reply((tell.reply, refusal))

    def answer(self, answer: Answered, one: Live | None) -> None:
        """An outcome whose row was just taken; a reducer that fails on it poisons it."""
        if one is None or answer.outcome is None:
            self.result.counts["handled"] += 1
            return
        if one.state is None:
            self.result.counts["late"] += 1
            return
        ticket = answer.key[2]
        try:
            at = max(one.at, self.now)
            result = self.advance(one, answered(answer.outcome, at, ticket), at)
            if (
                isinstance(result, Refused)
                and one.codec.machine.awaited(one.state) == ticket
            ):
                raise ValueError(f"the awaited answer is refused: {result.text}")
        except Exception as problem:
            raise Poisoned(answer.key, failure(problem)) from problem
        late = isinstance(result, Refused)
        self.result.counts["late" if late else "handled"] += 1

    def wake(self) -> Program[None]:
        """Fire what is due; a finished instance that is due is removed (R18)."""
        ended: dict[str, list[Live]] = {}
        for one in self.due:
            if one.state is None:
                continue
            if type(one.state) not in one.codec.machine.finals:
                self.fire(one)
                if not one.dirty and one.refusal is None:
                    # The column says due and the state does not: the state is right.
                    one.wake_at, one.dirty = one.codec.machine.wake(one.state), True
                    self.result.counts["wakes corrected"] += 1
            elif one.wake_at is not None and one.wake_at <= self.now and not one.dirty:
                ended.setdefault(one.codec.name, []).append(one)
        for machine, ones in ended.items():
            owing = yield from ask(Owing(machine, [one.id for one in ones]))
            for one in ones:
                if one.id in owing:
                    one.wake_at, one.dirty = self.now + HOUR, True
                else:
                    gone = self.removals.setdefault(machine, [])
                    gone.append((one.id, one.stored_rev))
                    self.live[machine, one.id] = Live(one.codec, one.id)
                    self.result.counts["removed"] += 1

    def fire(self, one: Live) -> None:
        """All deadlines that are due at the instance's own time, earliest first."""
        wake, at = one.codec.machine.wake, max(one.at, self.now)
        for _ in range(FIRINGS):
            if one.state is None or one.refusal is not None:
                return
            due = wake(one.state)
            if due is None or due > at:
                return
            try:
                result = self.advance(one, Due(at), at)  # type: ignore[arg-type]
            except Exception as problem:
                self.park(one, f"the reducer raised on a deadline\n{failure(problem)}")
                return
            if isinstance(result, Refused) or not result.changed:
                self.park(one, f"a deadline of {due} is due and changes nothing")
                return

    def tell(self, tell: Tell) -> Receipt:
        one = self.live[tell.codec.name, tell.id]
        if tell.message_id is not None:
            known = self.seen.get((tell.codec.name, tell.id, tell.message_id))
            if known is not None:
                digest, answer = known
                if digest != tell.digest:
                    raise MessageIdReused(f"{tell.message_id} for {tell.id}")
                if isinstance(answer, Receipt):
                    return answer
                raise answer  # type: ignore[misc]
        if one.state is not None and one.refusal is None:
            self.fire(one)
        if one.refusal is not None:
            raise one.refusal
        if one.state is None and not tell.starts:
            raise UnknownInstance(f"{tell.codec.name} {tell.id}")
        at = max(one.at, self.now)
        try:
            result = self.advance(one, stamped(tell.message, at), at)
        except SendError:
            raise
        except Exception as problem:
            what = f"{type(tell.message).__name__} to {tell.codec.name} {tell.id}"
            raise ReducerFailed(f"{what}\n{failure(problem)}") from problem
        if isinstance(result, Step):
            receipt = one.receipt("applied")
            self.result.counts["handled"] += 1
        elif result.kind == "rejected":
            raise Rejected(f"{one.phase} {tell.id}: {result.text}")
        else:
            receipt = one.receipt("kept" if result.kind == "kept" else "ignored")
            self.result.counts["ignored"] += 1
        self.remember(tell, receipt)
        return receipt

    def post(self, held: Held, post: Tell | SendError) -> None:
        """Deliver what was just taken; what is not applied is owed on, with the answer.

        Nobody can be asked again, so it is set aside at once; a newer version of the
        other machine is left to a process that has it.
        """
        try:
            if isinstance(post, SendError):
                raise post
            self.tell(post)
        except SendError as refusal:
            said = str(refusal)
            newer = isinstance(refusal, NewerVersion)
            park = self.parked(held, None if newer else said)
            next_at = self.later(held, park)
            machine, id, ticket = held.key
            key: str = getattr(held.command, "idempotency_key")  # noqa: B009
            row = (machine, id, ticket, held.type.name, key, None, next_at, held.tries)
            version, document = held.codec.version, text(held.command)
            self.returned.append((*row, 0, park, said, version, document))

    def remember(self, tell: Tell, answer: Receipt | Rejected) -> None:
        """The first answer to a `message_id` is the answer (R14)."""
        if tell.message_id is None:
            return
        name = (tell.codec.name, tell.id, tell.message_id)
        if name not in self.seen:
            self.seen[name] = tell.digest, answer
            self.inbox.append((*name, tell.digest, self.now, recorded(answer)))

    def advance(
        self, one: Live, message: Struct, at: int
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
        self.journal.append((name, id, rev, at, "step", version, said))
        if rev % BASE_EVERY == 0 or (one.version != version and one.rev > 0):
            rules = self.desk.rules
            self.journal.append((name, id, rev, at, "base", version, doc))
            self.trims.append((name, id, rev - rules.history, at - rules.remember))
        if result.withdrawn is not None:
            key = (name, id, result.withdrawn)
            if self.owed.pop(key, None) is None:
                self.withdrawn.append(key)
                self.end(key)
            self.result.counts["withdrawn"] += 1
        for type_, command, document in owed:
            ticket: int = command.ticket  # type: ignore[attr-defined]
            self.owed[name, id, ticket] = type_, command, document, version
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
        one.wake_at = self.wake_of(codec, result.state, at)
        return result

    # -- what is written

    def write(self) -> Program[None]:
        """The rows of all steps: a handful of statements, whatever the size (R1)."""
        inserts: dict[str, list[InstanceRow]] = {}
        updates: dict[str, list[tuple[InstanceRow, int]]] = {}
        for (machine, id), one in self.live.items():
            if not one.dirty:
                continue
            if one.version != one.codec.version:
                self.renew(one)
            row: InstanceRow = (
                id,
                one.rev,
                one.phase,
                one.at,
                one.born,
                one.version,
                one.wake_at,
                None,
                one.doc,
            )
            if one.stored_rev == 0:
                inserts.setdefault(machine, []).append(row)
            else:
                updates.setdefault(machine, []).append((row, one.stored_rev))
            if one.wake_at is not None:
                known = self.result.wakes.get(machine)
                if known is None or one.wake_at < known:
                    self.result.wakes[machine] = one.wake_at
        self.result.steps = len(self.journal)
        if self.journal:
            failpoints.hit("before_save")
        if self.due:
            failpoints.hit("wake_before_save")
        for machine, gone in self.removals.items():
            yield from ask(Remove(machine, gone))
        for machine in inserts.keys() | updates.keys():
            yield from ask(
                Save(machine, inserts.get(machine, []), updates.get(machine, []))
            )
        for machine, parks in self.parks.items():
            yield from ask(Park(machine, parks))
        if self.withdrawn:
            yield from ask(Withdraw(self.withdrawn))
        for one in self.older:
            if one.dirty:
                yield from self.carry_over(one)
        if self.returned:
            yield from ask(Owe(self.returned))
        if self.owed:
            yield from self.owe()
        if self.journal:
            yield from ask(Journal(self.journal))
        if self.trims:
            yield from ask(Trim(self.trims))
        if self.inbox:
            yield from ask(Remember(self.inbox))

    def owe(self) -> Program[None]:
        """New commands: held at once when there is room here and none waits before them."""
        room, backlog = self.result.room, self.result.backlog
        desk = self.desk
        rows: list[OutboxRow] = []
        alone = [
            (machine, id, type_.name)
            for (machine, id, _), (type_, *_) in self.owed.items()
            if not type_.outcomes
        ]
        behind = (
            (yield from ask(Behind(alone))) if alone else set[tuple[str, str, str]]()
        )
        for key, (type_, command, document, version) in self.owed.items():
            machine, id, ticket = key
            name = machine, type_.name
            blocked = False
            if not type_.outcomes:
                blocked = (machine, id, type_.name) in behind
                behind.add((machine, id, type_.name))
            claimed = not blocked and name not in backlog and room.get(name, 0) > 0
            if claimed:
                room[name] -= 1
                held = Held(key, desk.codecs[machine], type_, command, 1)
                self.result.started.append(held)
            elif name in room and not blocked:
                backlog.add(name)
            rows.append(
                (
                    machine,
                    id,
                    ticket,
                    type_.name,
                    command.idempotency_key,  # type: ignore[attr-defined]
                    desk.epoch if claimed else None,
                    None if claimed else self.now,
                    1 if claimed else 0,
                    0,
                    None,
                    None,
                    version,
                    document,
                )
            )
        yield from ask(Owe(rows))

    def carry_over(self, one: Live) -> Program[None]:
        """What a migrated instance still owes, in the words of this version.

        Key, ticket, claim and deliveries stay; a process of an older version leaves
        such a row alone.  One that cannot be read is left for `claim` to park.
        """
        codec = one.codec
        rows: list[OutboxRow] = []
        for row in (yield from ask(Owed(codec.name, one.id))):
            version, document = row[11], row[12]
            if version >= codec.version:
                continue
            try:
                command = text(codec.command(version, row[3], document))
            except (msgspec.MsgspecError, SendError):
                continue
            rows.append((*row[:11], codec.version, command))
        if rows:
            yield from ask(Withdraw([row[:3] for row in rows]))
            yield from ask(Owe(rows))

    def claim(self) -> Program[None]:
        """Take up waiting rows, as many as there is room for, the longest due first."""
        room, codecs = self.result.room, self.desk.codecs
        wants = [
            (machine, command, codecs[machine].version, room[machine, command])
            for machine, command in sorted(self.result.backlog)
            if room.get((machine, command), 0) > 0
        ]
        if not wants:
            return
        rows = yield from ask(Claim(self.desk.epoch, self.now, wants))
        broken: list[tuple[Key, str, int, str | None]] = []
        got: Counter[Name] = Counter()
        for row in rows:
            machine, id, ticket, name, _, _, _, tries, _, _, _, version, document = row
            key, codec = (machine, id, ticket), codecs[machine]
            got[machine, name] += 1
            try:
                command = codec.command(version, name, document)
            except (msgspec.MsgspecError, UnknownVersion) as problem:
                reason = f"does not decode: {problem}"
                broken.append((key, reason, self.now, reason))
                self.result.counts["commands parked"] += 1
                continue
            room[machine, name] -= 1
            held = Held(key, codec, codec.commands[name], command, tries)
            self.result.started.append(held)
        for machine, name, _, limit in wants:
            if got[machine, name] < limit:
                self.result.backlog.discard((machine, name))
        if broken:
            yield from ask(Postpone(self.desk.epoch, broken))

    def look(self) -> Program[None]:
        """What will come due next, of all that is stored."""
        machines = [(codec.name, codec.version) for codec in self.desk.codecs.values()]
        self.result.outlook = yield from ask(Look(self.desk.epoch, self.now, machines))


def failure(problem: BaseException) -> str:
    """A traceback as it is stored: its end, which says most."""
    return "".join(traceback.format_exception(problem))[-4000:]


class Recorded(Struct, frozen=True):
    """An answer in the inbox: a receipt, or the text of a refusal."""

    receipt: Receipt | None = None
    rejected: str | None = None


_recall = msgspec.json.Decoder(Recorded).decode


def recorded(answer: Receipt | Rejected) -> str:
    if isinstance(answer, Receipt):
        return text(Recorded(receipt=answer))
    return text(Recorded(rejected=str(answer.args[0])))


def recalled(said: str) -> Answer:
    known = _recall(said)
    return known.receipt or Rejected(known.rejected or "")
