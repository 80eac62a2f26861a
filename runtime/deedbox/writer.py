"""The writer: one thread that makes every change of its process, a batch at a time.

It takes all that waits, at once and without delay, gives it to `transaction`, and
applies what comes back to the `Desk`: group commit.  It sleeps to its `Horizon`, and
renews the lease, so that no event loop can hold it up.

`turn` is one round, as a program over the store: the thread below runs it, and so
may anything else that owns the order of things.  After a commit, and only then, it
answers senders and hands on what was started and what was withdrawn.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Iterable
from functools import partial
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from . import failpoints
from .batch import (
    SUSPECTS,
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
    Woken,
    leave,
)
from .clock import Clock
from .codec import Codec
from .errors import DeedboxError, StoreClosed, StoreFailed, Unsettled
from .horizon import FLOOR, Horizon
from .loading import DUE_PAGE
from .operations import (
    Begin,
    Commit,
    Enter,
    Key,
    ListDue,
    Name,
    Now,
    Program,
    Release,
    Rollback,
    Store,
    Unstorable,
    ask,
)
from .protocol import Fenced, glance, transaction
from .reducing import Poisoned
from .values import Rules

LARGEST_BATCH: Final = 512
HOPELESS: Final = 20
"""So many failures in a row say that it is not one instance (a page has 9 halvings)."""
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
    """Claim nothing more; `reply` hears when all that was claimed is on its way."""

    reply: Reply


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
        self._horizon = Horizon(clock, peers=peers)
        self._queue: deque[Item | Control] = deque()
        self._waking = threading.Event()
        self._asleep = False
        self._closing = False
        self._abandoned = False
        self._dispatcher: Dispatcher | None = None
        self._watches: dict[Name, list[Watch]] = {}
        self._marks: list[Key] = []
        self._again: list[Answered | Raised | Posted] = []
        self._renewed = 0

    # -- from other threads

    def submit(self, item: Item | Control) -> None:
        if self._closing:
            raise StoreClosed
        self._queue.append(item)
        if self._asleep:
            self._waking.set()

    def poke(self) -> None:
        """Something was written past this writer: look what there is."""
        self._horizon.look = True
        self._waking.set()

    def overhear(self) -> None:
        """Another process has committed: see whether it left something to do here."""
        self._horizon.heard = True
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

    def abandon(self) -> None:
        """Leave what is in the queue, and end with the turn that has begun."""
        self._abandoned = True
        self.close()

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
        """Whether the writer was closed, and all that was sent is done or left."""
        return self._closing and (self._abandoned or not self._queue)

    def failed(self) -> int:
        """A turn raised: how long to wait before the next."""
        log.exception("a turn of the writer failed")
        return self._horizon.back_off(self._horizon.pause)

    def rests(self, wait: int | None) -> bool:
        """Whether to sleep now, for `wait` milliseconds or until called."""
        if self._queue or self._closing or wait == 0:
            return False
        if self._horizon.sleeps:
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
        if self._has_heard():
            yield from self._glance()
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
                self.desk.room = {**control.room, SUSPECTS: 1}
                self.desk.backlog = set(self.desk.room)
                self._horizon.reap = self._horizon.look = True
            case Drain():
                self.desk.room = dict.fromkeys(self.desk.room, CLOSED)
                control.reply(None)
            case Stop():
                pass
            case _:
                return None
        self._queue.popleft()
        return control

    def _has_heard(self) -> bool:
        """Whether another process has committed, as far as a process without peers asks."""
        horizon, epoch = self._horizon, self.desk.epoch
        if self._dispatcher is None or not epoch:
            return False
        if horizon.poll() and self.store.changed(epoch):
            horizon.heard = True
        return horizon.heard

    def _glance(self) -> Program[None]:
        """Read what others have left to do, and whether somebody waits for it here."""
        horizon = self._horizon
        watches = [one for waiting in self._watches.values() for one in waiting]
        try:
            result = yield from glance(self.desk, watches, self.clock.wall())
        except Exception as problem:
            log.warning("what others have committed cannot be read: %s", problem)
            horizon.look = True
            return
        finally:
            horizon.heard = False
        if result.outlook is not None:
            horizon.learn(result.outlook)
        self._watches = {}
        self._show(Batch(watches=watches), result)

    def _gather(self) -> Batch | None:
        """All that waits, up to a batch; None when there is nothing to do."""
        batch, queue, desk, horizon = Batch(), self._queue, self.desk, self._horizon
        if self._again and horizon.ready:
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
        batch.due = [desk.codecs[name] for name in horizon.due()]
        if horizon.look or horizon.reap or batch.redriven:
            desk.backlog.update(desk.room)
            for waiting in self._watches.values():
                batch.watches.extend(waiting)
            self._watches = {}
            horizon.look = True
        batch.look, horizon.look = horizon.look, False
        batch.reap, horizon.reap = horizon.reap, False
        age = self.clock.monotonic() - self._renewed
        renew = bool(desk.held) and age >= desk.rules.lease // 3
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
                if item.over:
                    self._unwatch(item)
                else:
                    batch.watches.append(item)
            case Redriven():
                batch.redriven.append(item)
            case Migrating():
                batch.migrating.append(item)

    def _unwatch(self, watch: Watch) -> None:
        name = watch.codec.name, watch.id
        left = [each for each in self._watches.get(name, ()) if each is not watch]
        if left:
            self._watches[name] = left
        else:
            self._watches.pop(name, None)

    @property
    def watched(self) -> int:
        """For how many instances somebody waits."""
        return len(self._watches)

    def _claimable(self) -> bool:
        room = self.desk.room
        return any(room.get(name, 0) > 0 for name in self.desk.backlog)

    def _until_next(self) -> int | None:
        """How long there is nothing to do, as far as this process knows."""
        waits: list[int] = []
        if self._again:
            waits.append(FLOOR)
        if self._dispatcher is not None:
            waits.extend(self._horizon.waits())
            if self._marks or self._claimable():
                waits.append(0)
            if self.desk.held:
                third = self.desk.rules.lease // 3
                waits.append(max(self._renewed + third - self.clock.monotonic(), 0))
        return max(min(waits), self._pause_within_lease()) if waits else None

    def _pause_within_lease(self) -> int:
        """The pause after failures, but not past the moment at which the lease ends."""
        pause = self._horizon.pause
        if pause and self.desk.held:
            over = self._renewed + self.desk.rules.lease - self.clock.monotonic()
            return min(pause, max(over, FLOOR))
        return pause

    # -- one batch

    def _do(self, batch: Batch) -> Program[None]:
        """The batch; again when it failed; then one item a transaction (R2)."""
        problem = yield from self._attempt(batch)
        if problem is not None and not isinstance(problem, Unsettled):
            problem = yield from self._attempt(batch)
        if problem is None:
            return
        if isinstance(problem, Unsettled):
            self._leave_unsettled(batch, problem)
            return
        horizon, pause = self._horizon, self._horizon.pause
        if pause == 0:
            log.warning("a batch failed twice, its items are tried alone: %s", problem)
        apart = Batch(marks=batch.marks, look=batch.look, reap=batch.reap)
        problem = yield from self._attempt(apart)
        waits = problem is not None
        if waits:
            horizon.look = horizon.look or batch.look
            horizon.reap = horizon.reap or batch.reap
            self._marks.extend(batch.marks)
            self._lose_the_lease_in_time()
        else:
            for codec in batch.due:
                waits = (yield from self._wake_apart(codec)) or waits
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
                case Answered() | Posted() if isinstance(problem, Unstorable):
                    said = str(problem)
                    log.error("what follows from %s cannot be kept: %s", item.key, said)
                    self._again.append(Raised(item.key, said, said))
                case Answered() | Raised() | Posted():
                    self._again.append(item)
                case _:
                    known = isinstance(problem, DeedboxError)
                    item.reply(problem if known else StoreFailed(repr(problem)))
        if waits or self._again:
            horizon.back_off(pause)

    def _leave_unsettled(self, batch: Batch, problem: Unsettled) -> None:
        """Nobody knows whether it is committed: it is not done again, and all hear so.

        What it owes, and what was held, is taken up when the lost session's lease ends.
        """
        asked: list[Tell | Redriven | Migrating]
        asked = [*batch.tells, *batch.redriven, *batch.migrating]
        for item in asked:
            item.reply(problem)
        self._queue.extend(batch.watches)

    def _wake_apart(self, codec: Codec) -> Program[bool]:
        """Fire a page of due instances that cannot be written together.

        By halves, so that few are alone: one that the store does not take is set aside
        (R11), the others go on.  Whether some could not be written, and wait.
        """
        due = yield from self._due(codec)
        if due is None:
            self._horizon.look = True
            return True
        left = [due]
        failures, waits = 0, False
        while left and failures < HOPELESS:
            ids = left.pop()
            woken = [Woken(codec, id) for id in ids]
            problem = yield from self._attempt(Batch(woken=woken))
            if isinstance(problem, Unstorable) and len(ids) == 1:
                log.error("%s %s cannot be written: %s", codec.name, ids[0], problem)
                aside = [Woken(codec, ids[0], f"cannot be written: {problem}")]
                problem = yield from self._attempt(Batch(woken=aside))
            failures = 0 if problem is None else failures + 1
            if problem is not None:
                waits = waits or len(ids) == 1
                half = len(ids) // 2
                left += [some for some in (ids[half:], ids[:half]) if half]
        self._horizon.look = True
        return waits or bool(left)

    def _due(self, codec: Codec) -> Program[list[str] | None]:
        """A page of what is due, in the order of the wakes; None when it cannot be read."""
        try:
            yield from ask(Begin())
            now = yield from ask(Now())
            due = ListDue(codec.name, codec.version, now, DUE_PAGE)
            return [row[0] for row in (yield from ask(due))]
        except Exception as problem:
            log.warning("what is due of %s cannot be read: %s", codec.name, problem)
            return None
        finally:
            yield from self._roll_back()

    def _roll_back(self) -> Program[None]:
        """Undo the transaction; one whose undoing fails was not committed either."""
        try:
            yield from ask(Rollback())
        except Exception as problem:
            log.warning("a rollback failed: %s", problem)

    def _attempt(self, batch: Batch) -> Program[Exception | None]:
        """One transaction; what made it fail, if it did and left the store as it was.

        Again at once without an answer on which the reducer raised, and in a new session
        where this one was declared dead.
        """
        while True:
            started = self.clock.monotonic()
            try:
                if self.desk.epoch == 0:
                    yield from self._enter()
                result = yield from transaction(
                    self.desk, batch, partial(self._since, started)
                )
            except Poisoned as poison:
                yield from self._roll_back()
                log.error("the reducer failed on an answer:\n%s", poison.reason)
                aside = Raised(poison.key, poison.reason, poison.reason)
                batch.answers = [one for one in batch.answers if one.key != poison.key]
                batch.raised = [*batch.raised, aside]
            except Fenced:
                yield from self._roll_back()
                self._lose_everything("another process declared it dead")
            except Unsettled as problem:
                log.error("%s", problem)
                self._lose_everything("its last commit is unknown")
                return problem
            except Exception as problem:
                yield from self._roll_back()
                return problem
            else:
                self._apply(batch, result, started)
                return None

    def _since(self, started: int) -> int:
        return self.clock.monotonic() - started

    def _enter(self) -> Program[None]:
        yield from ask(Begin())
        self.desk.epoch = yield from ask(Enter())
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
        self._horizon.note(batch, result)
        if result.deferred:
            self._queue.extendleft(reversed(result.deferred))
        for reply, value in result.replies:
            reply(value)
        if batch.watches or self._watches:
            self._show(batch, result)
        # Held up for longer than the lease, others may have what was committed as held.
        self._lose_the_lease_in_time()
        if self._dispatcher is not None:
            still = [held for held in deliveries if held.key in desk.held]
            self._dispatcher.deliver(still, result.ended)

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

    def _lose_everything(self, why: str) -> None:
        """Others may hold what we held; our answers to it are late."""
        desk = self.desk
        log.warning("session %d is over: %s", desk.epoch, why)
        self.counts["fenced"] += 1
        for held in desk.held.values():
            leave(desk.room, held)
        ended = list(desk.held)
        desk.held = {}
        desk.epoch = 0
        desk.backlog = set(desk.room)
        self._marks = []
        self._horizon.look = self._dispatcher is not None
        if self._dispatcher is not None:
            self._dispatcher.deliver([], ended)

    def _lose_the_lease_in_time(self) -> None:
        """No write was accepted in time: when the lease has run out, stop what runs."""
        over = self._renewed + self.desk.rules.lease
        if self.desk.held and self.clock.monotonic() >= over:
            self._lose_everything("its lease has run out")

    def _stop(self, stop: Stop) -> Program[None]:
        count, desk = 0, self.desk
        if desk.epoch:
            try:
                yield from ask(Begin())
                now = yield from ask(Now())
                count = yield from ask(Release(desk.epoch, now))
                yield from ask(Commit())
            except Exception:
                yield from self._roll_back()
                log.exception("the session could not be ended; its lease will run out")
        self.desk = Desk(desk.codecs, desk.rules)
        self._dispatcher = None
        self._horizon.forget()
        stop.reply(count)
