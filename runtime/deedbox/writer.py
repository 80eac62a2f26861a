"""The writer: one thread that makes every change of its process, a batch at a time.

It takes all that waits, at once and without delay, gives it to `transaction`, and
applies what comes back to the `Desk`: group commit.  It keeps the numbers by which
the process wakes (the soonest wake of each machine, the next owed row, a foreign
lease), and renews the lease, so that no event loop can hold it up.

`turn` is one round, as a program over the store: the thread below runs it, and so
may anything else that owns the order of things.  After a commit, and only then, it
answers senders and hands on what was started and what was withdrawn.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Iterable
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from . import failpoints
from .batch import (
    Answered,
    Batch,
    Desk,
    Held,
    Item,
    Migrating,
    Posted,
    Raised,
    Redriven,
    Reply,
    Result,
    Tell,
    Watch,
)
from .clock import Clock
from .codec import Codec
from .errors import DeedboxError, StoreClosed, StoreFailed
from .operations import (
    Begin,
    Commit,
    Enter,
    Key,
    Name,
    Now,
    Program,
    Release,
    Rollback,
    Store,
    ask,
)
from .protocol import Fenced, transaction
from .reducing import Poisoned
from .values import Rules

LARGEST_BATCH: Final = 512
POLL: Final = 50
"""Milliseconds between two questions whether another process has committed."""
FLOOR, CEILING = 5, 250
"""The shortest pause after a turn that got nowhere, and the longest."""
CLOSED: Final = -1_000_000
"""The room of a command that is no longer claimed."""

log = logging.getLogger("deedbox")


class Dispatcher(Protocol):
    """Who runs handlers; called on the writer's thread, after a commit.

    `flush` ends a turn: all that was delivered and answered in it may go on its way.
    """

    def deliver(self, started: list[Held], ended: Iterable[Key]) -> None: ...
    def flush(self) -> None: ...


class Serve(Struct):
    """From now on handlers are started for these commands."""

    dispatcher: Dispatcher
    room: dict[Name, int]


class Drain(Struct):
    """Claim nothing more."""


class Stop(Struct):
    """Give everything back; `reply` hears how many commands that were."""

    reply: Reply


Control: TypeAlias = Serve | Drain | Stop


class Writer:
    """The queue, the desk, and the numbers to wake by."""

    def __init__(
        self,
        store: Store,
        codecs: dict[str, Codec],
        rules: Rules,
        clock: Clock,
        *,
        peers: bool,
    ) -> None:
        self.store = store
        self.clock = clock
        self.desk = Desk(codecs, rules)
        self.counts: Counter[str] = Counter()
        self._peers = peers
        self._queue: deque[Item | Control] = deque()
        self._waking = threading.Event()
        self._asleep = False
        self._closing = False
        self._dispatcher: Dispatcher | None = None
        self._watches: dict[Name, list[Watch]] = {}
        self._marks: list[Key] = []
        self._again: list[Answered | Raised | Posted] = []
        self._wakes: dict[str, int] = {}
        self._next_at: int | None = None
        self._foreign_lease: int | None = None
        self._reap = False
        self._look = False
        self._renewed = 0
        self._polled = 0
        self._pause = 0

    # -- from other threads

    def submit(self, item: Item | Control) -> None:
        if self._closing:
            raise StoreClosed
        self._queue.append(item)
        if self._asleep:
            self._waking.set()

    def poke(self) -> None:
        """Something was written past this writer: look what there is."""
        self._look = True
        self._waking.set()

    @property
    def queued(self) -> list[object]:
        """What waits for the next turn."""
        return list(self._queue)

    @property
    def quiet(self) -> bool:
        """Whether nothing is to be done before the next deadline."""
        return self._asleep and not self._queue and not self._waking.is_set()

    def close(self) -> None:
        """Take no more items; what is in the queue is still done."""
        self._closing = True
        self._waking.set()

    # -- turn after turn

    def serve(self) -> None:
        """The body of the writer's thread."""
        while not self.over:
            try:
                wait = self.store.run(self.turn())
            except Exception:
                wait = self.failed()
            if self.rests(wait):
                self.clock.wait(self._waking, wait)
                self.roused()

    @property
    def over(self) -> bool:
        """Whether the writer was closed, and all that was sent is done."""
        return self._closing and not self._queue

    def failed(self) -> int:
        """A turn raised: how long to wait before the next."""
        log.exception("a turn of the writer failed")
        return self._back_off()

    def rests(self, wait: int | None) -> bool:
        """Whether to sleep now, for `wait` milliseconds or until called."""
        if self._queue or self._closing or wait == 0:
            return False
        if self._wakes:
            failpoints.hit("waiting")
        self._asleep = True
        if self._queue or self._closing:
            self.roused()
            return False
        return True

    def roused(self) -> None:
        """The sleep is over."""
        self._asleep = False
        self._waking.clear()

    @property
    def called(self) -> bool:
        """Whether somebody wants the sleep to end."""
        return self._waking.is_set()

    def turn(self) -> Program[int | None]:
        """Do what waits; in how many milliseconds there is more, None = when told."""
        control, dispatcher = self._control(), self._dispatcher
        if isinstance(control, Stop):
            yield from self._stop(control)
        batch = self._gather()
        if batch is not None:
            if batch.answers:
                failpoints.hit("answer_before_save")
            yield from self._do(batch)
        if dispatcher is not None:
            dispatcher.flush()
        return self._until_next()

    def _control(self) -> Control | None:
        """The control item at the head of the queue, obeyed."""
        control = self._queue[0] if self._queue else None
        match control:
            case Serve():
                self._dispatcher = control.dispatcher
                self.desk.room = dict(control.room)
                self.desk.backlog = set(control.room)
                self._reap = self._look = True
            case Drain():
                self.desk.room = dict.fromkeys(self.desk.room, CLOSED)
            case Stop():
                pass
            case _:
                return None
        self._queue.popleft()
        return control

    def _gather(self) -> Batch | None:
        """All that waits, up to a batch; None when there is nothing to do."""
        batch, queue, desk = Batch(), self._queue, self.desk
        if self._again:
            again, self._again = self._again, []
            for late in again:
                self._add(batch, late)
        for _ in range(LARGEST_BATCH):
            item = queue[0] if queue else None
            if item is None or isinstance(item, Control):
                break
            self._add(batch, item)
            queue.popleft()
        some = bool(
            batch.tells
            or batch.answers
            or batch.raised
            or batch.posted
            or batch.redriven
            or batch.watches
            or batch.migrating
        )
        if self._dispatcher is None:
            return batch if some else None
        batch.marks, self._marks = self._marks, []
        now, monotonic = self.clock.wall(), self.clock.monotonic()
        if self._peers and monotonic - self._polled >= POLL and desk.epoch:
            self._polled = monotonic
            if self.store.changed(desk.epoch):
                self._look = True
        if batch.redriven or (self._next_at is not None and self._next_at <= now):
            self._look = True
        if self._foreign_lease is not None and self._foreign_lease <= now:
            self._reap = True
        if self._look or self._reap:
            desk.backlog.update(desk.room)
            for waiting in self._watches.values():
                batch.watches.extend(waiting)
            self._watches = {}
        batch.look, self._look = self._look, False
        batch.reap, self._reap = self._reap, False
        batch.due = [
            desk.codecs[name] for name, wake in self._wakes.items() if wake <= now
        ]
        renew = bool(desk.held) and monotonic - self._renewed >= desk.rules.lease // 3
        if (
            some
            or batch.marks
            or batch.look
            or batch.reap
            or batch.due
            or renew
            or self._claimable()
        ):
            return batch
        return None

    def _add(self, batch: Batch, item: Item) -> None:
        match item:
            case Answered():
                batch.answers.append(item)
            case Tell():
                batch.tells.append(item)
            case Raised():
                batch.raised.append(item)
            case Posted():
                batch.posted.append(item)
            case Watch():
                batch.watches.append(item)
            case Redriven():
                batch.redriven.append(item)
            case Migrating():
                batch.migrating.append(item)

    def _claimable(self) -> bool:
        room = self.desk.room
        return any(room.get(name, 0) > 0 for name in self.desk.backlog)

    def _until_next(self) -> int | None:
        """How long there is nothing to do, as far as this process knows."""
        waits: list[int] = []
        if self._again:
            waits.append(FLOOR)
        if self._dispatcher is not None:
            now = self.clock.wall()
            known = (*self._wakes.values(), self._next_at, self._foreign_lease)
            waits.extend(max(at - now, 0) for at in known if at is not None)
            if self._look or self._marks or self._claimable():
                waits.append(0)
            if self.desk.held:
                third = self.desk.rules.lease // 3
                waits.append(max(self._renewed + third - self.clock.monotonic(), 0))
            if self._peers:
                waits.append(POLL)
        return max(min(waits), self._pause_within_lease()) if waits else None

    def _pause_within_lease(self) -> int:
        """The pause after failures, but not past the moment at which the lease ends."""
        if self._pause and self.desk.held:
            over = self._renewed + self.desk.rules.lease - self.clock.monotonic()
            return min(self._pause, max(over, FLOOR))
        return self._pause

    def _back_off(self) -> int:
        self._pause = min(max(self._pause * 2, FLOOR), CEILING)
        return self._pause

    # -- one batch

    def _do(self, batch: Batch) -> Program[None]:
        """The batch; again when it failed; then one item a transaction (R2)."""
        problem = yield from self._attempt(batch)
        if problem is not None:
            problem = yield from self._attempt(batch)
        if problem is None:
            return
        if self._pause == 0:
            log.warning("a batch failed twice, its items are tried alone: %s", problem)
        self._back_off()
        apart = Batch(
            marks=batch.marks, due=batch.due, look=batch.look, reap=batch.reap
        )
        problem = yield from self._attempt(apart)
        if problem is not None:
            self._look = self._look or batch.look
            self._reap = self._reap or batch.reap
            self._marks.extend(batch.marks)
            self._lose_the_lease_in_time()
        items: list[Item] = [
            *batch.answers,
            *batch.raised,
            *batch.posted,
            *batch.tells,
            *batch.redriven,
            *batch.watches,
            *batch.migrating,
        ]
        for item in items:
            alone = Batch()
            self._add(alone, item)
            problem = yield from self._attempt(alone)
            if problem is None:
                continue
            match item:
                case Answered() | Raised() | Posted():
                    self._again.append(item)
                case _:
                    known = isinstance(problem, DeedboxError)
                    item.reply(problem if known else StoreFailed(repr(problem)))

    def _attempt(self, batch: Batch) -> Program[Exception | None]:
        """One transaction; what made it fail, if it did and left the store as it was."""
        started = self.clock.monotonic()
        try:
            if self.desk.epoch == 0:
                yield from self._enter()
            result = yield from transaction(
                self.desk, batch, lambda: self.clock.monotonic() - started
            )
        except Poisoned as poison:
            yield from ask(Rollback())
            log.error("the reducer failed on an answer:\n%s", poison.reason)
            aside = Raised(poison.key, poison.reason, poison.reason)
            batch.answers = [one for one in batch.answers if one.key != poison.key]
            batch.raised = [*batch.raised, aside]
            return (yield from self._attempt(batch))
        except Fenced:
            yield from ask(Rollback())
            self._lose_everything()
            return (yield from self._attempt(batch))
        except Exception as problem:
            yield from ask(Rollback())
            return problem
        self._apply(batch, result, started)
        return None

    def _enter(self) -> Program[None]:
        yield from ask(Begin())
        self.desk.epoch = yield from ask(Enter(self.desk.rules.lease))
        self.desk.batch = 0
        try:
            yield from ask(Commit())
        except BaseException:
            self.desk.epoch = 0
            raise

    def _apply(self, batch: Batch, result: Result, started: int) -> None:
        """The batch is committed: now, and only now, the world may hear of it (R1)."""
        if result.steps:
            failpoints.hit("after_save")
        desk = self.desk
        desk.batch += 1
        desk.room, desk.backlog = result.room, result.backlog
        self._renewed = started
        for key in result.ended:
            desk.held.pop(key, None)
        deliveries = [desk.held[key] for key in result.marked if key in desk.held]
        for held in result.started:
            desk.held[held.key] = held
            if held.type.name in held.codec.targets:
                self._queue.append(Posted(held.key))
            elif held.type.unrepeatable:
                self._marks.append(held.key)
            else:
                deliveries.append(held)
        self.counts.update(result.counts)
        self._note(batch, result)
        if result.deferred:
            self._queue.extendleft(reversed(result.deferred))
        for reply, value in result.replies:
            reply(value)
        if batch.watches or self._watches:
            self._show(batch, result)
        if self._dispatcher is not None:
            self._dispatcher.deliver(deliveries, result.ended)

    def _note(self, batch: Batch, result: Result) -> None:
        """When to wake next, and whether this turn got anywhere."""
        outlook = result.outlook
        if outlook is not None:
            self._wakes = dict(outlook.wakes)
            self._next_at = outlook.next_at
            self._foreign_lease = outlook.foreign_lease
        else:
            for machine, wake in result.wakes.items():
                known = self._wakes.get(machine)
                if known is None or wake < known:
                    self._wakes[machine] = wake
            if result.next_at is not None and (
                self._next_at is None or result.next_at < self._next_at
            ):
                self._next_at = result.next_at
        if result.live or result.started or result.ended or not batch.due:
            self._pause = 0
        else:
            self._back_off()

    def _show(self, batch: Batch, result: Result) -> None:
        """Tell those who wait for a phase."""
        for watch in batch.watches:
            self._watches.setdefault((watch.codec.name, watch.id), []).append(watch)
        for name, one in result.live.items():
            if one.state is None or name not in self._watches:
                continue
            waiting = self._watches.pop(name)
            left = [watch for watch in waiting if one.phase not in watch.phases]
            if left:
                self._watches[name] = left
            for watch in waiting:
                if one.phase in watch.phases:
                    watch.reply(one.state)

    # -- losing the session, and giving it back

    def _lose_everything(self) -> None:
        """Declared dead: others may hold what we held; our answers to it are late."""
        desk = self.desk
        log.warning("session %d was declared dead by another process", desk.epoch)
        self.counts["fenced"] += 1
        for held in desk.held.values():
            desk.room[held.codec.name, held.type.name] += 1
        ended = list(desk.held)
        desk.held = {}
        desk.epoch = 0
        desk.backlog = set(desk.room)
        self._marks = []
        self._look = self._dispatcher is not None
        if self._dispatcher is not None:
            self._dispatcher.deliver([], ended)

    def _lose_the_lease_in_time(self) -> None:
        """The store cannot be written: when the lease has run out, stop what runs."""
        over = self._renewed + self.desk.rules.lease
        if self.desk.held and self.clock.monotonic() >= over:
            self._lose_everything()

    def _stop(self, stop: Stop) -> Program[None]:
        count, desk = 0, self.desk
        if desk.epoch:
            try:
                yield from ask(Begin())
                now = yield from ask(Now())
                count = yield from ask(Release(desk.epoch, now))
                yield from ask(Commit())
            except Exception:
                yield from ask(Rollback())
                log.exception("the session could not be ended; its lease will run out")
        self.desk = Desk(desk.codecs, desk.rules)
        self._dispatcher = None
        self._wakes, self._next_at, self._foreign_lease = {}, None, None
        stop.reply(count)
