"""The writer: one thread that makes every change of its process, a batch at a time.

It takes all that waits, at once and without delay, has it committed by its `Session`,
and hands on what follows: group commit.  It sleeps to its `Horizon`, and renews the
lease, so that no event loop can hold it up.

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
from .apart import one_by_one
from .batch import (
    SUSPECTS,
    Answered,
    Batch,
    Desk,
    Held,
    Item,
    Live,
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
from .errors import StoreClosed, Unsettled
from .horizon import FLOOR, Horizon
from .operations import Key, Name, Program, Store
from .protocol import glance
from .session import Session
from .values import Rules
from .watches import Watches

LARGEST_BATCH: Final = 512
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
    """The queue, the session, and the numbers to wake by."""

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
        self.counts: Counter[str] = Counter()
        self._session = Session(codecs, rules, clock, self)
        self._horizon = Horizon(clock, peers=peers)
        self._queue: deque[Item | Control] = deque()
        self._waking = threading.Event()
        self._asleep = False
        self._closing = False
        self._abandoned = False
        self._dispatcher: Dispatcher | None = None
        self._watches = Watches()
        self._again: list[Answered | Raised | Posted] = []

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

    def surely_holds(self, held: Held) -> bool:
        """Whether nobody else can have the row: it is held, and the lease has not run out."""
        return self.desk.held.get(held.key) is held and self._session.lease != 0

    @property
    def desk(self) -> Desk:
        """What this process holds."""
        return self._session.desk

    @property
    def watched(self) -> int:
        """For how many instances somebody waits."""
        return len(self._watches)

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
            control.reply((yield from self._session.end()))
            for watch in self._watches.take():
                watch.reply(StoreClosed())
            self._dispatcher = None
            self._horizon.forget()
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
        watches = self._watches.take()
        live: dict[Name, Live] = {}
        try:
            result = yield from glance(self.desk, watches, self.clock.wall())
        except Exception as problem:
            log.warning("what others have committed cannot be read: %s", problem)
            horizon.look = True
        else:
            live = result.live
            if result.outlook is not None:
                horizon.learn(result.outlook)
        finally:
            horizon.heard = False
        self._watches.show(live, watches)

    def _gather(self) -> Batch | None:
        """All that waits, up to a batch; None when there is nothing to do."""
        batch, desk, horizon = Batch(), self.desk, self._horizon
        some = self._take(batch)
        if self._dispatcher is None:
            return batch if some else None
        batch.due = [desk.codecs[name] for name in horizon.due()]
        if horizon.look or horizon.reap or batch.redriven:
            desk.backlog.update(desk.room)
            batch.watches.extend(self._watches.take())
            horizon.look = True
        batch.look, horizon.look = horizon.look, False
        batch.reap, horizon.reap = horizon.reap, False
        batch.check = self._session.is_check_due
        if (
            some
            or batch.look
            or batch.due
            or desk.marks
            or self._session.renewal == 0
            or self._claimable()
        ):
            return batch
        return None

    def _take(self, batch: Batch) -> bool:
        """Put what waits into the batch; whether anything did."""
        queue, some = self._queue, False
        if self._again and self._horizon.ready:
            some = True
            for late in self._again:
                batch.add(late)
            self._again = []
        for _ in range(LARGEST_BATCH):
            item = queue[0] if queue else None
            if item is None or isinstance(item, Control):
                break
            if isinstance(item, Watch) and item.over:
                self._watches.drop(item)
            else:
                some = True
                batch.add(item)
            queue.popleft()
        return some

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
            if self.desk.marks or self._claimable():
                waits.append(0)
            if self._session.renewal is not None:
                waits.append(self._session.renewal)
        return max(min(waits), self._pause_within_lease()) if waits else None

    def _pause_within_lease(self) -> int:
        """The pause after failures, but not past the moment at which the lease ends."""
        pause, lease = self._horizon.pause, self._session.lease
        return min(pause, max(lease, FLOOR)) if pause and lease is not None else pause

    # -- one batch

    def _do(self, batch: Batch) -> Program[None]:
        """The batch; again when it failed; then one item a transaction (R2)."""
        problem = yield from self._session.attempt(batch)
        if problem is not None and not isinstance(problem, Unsettled):
            problem = yield from self._session.attempt(batch)
        if isinstance(problem, Unsettled):
            self._leave_unsettled(batch, problem)
        elif problem is not None:
            horizon, pause = self._horizon, self._horizon.pause
            if pause == 0:
                log.warning(
                    "a batch failed twice, its items are tried alone: %s", problem
                )
            left = yield from one_by_one(self._session, batch)
            self._again.extend(left.again)
            horizon.look = horizon.look or left.look
            horizon.reap = horizon.reap or left.reap
            if left.waits:
                horizon.back_off(pause)

    def _leave_unsettled(self, batch: Batch, problem: Unsettled) -> None:
        """Nobody knows whether it is committed: it is not done again, and all hear so.

        What it owes, and what was held, is taken up when the lost session's lease ends.
        """
        asked: list[Tell | Redriven | Migrating]
        asked = [*batch.tells, *batch.redriven, *batch.migrating]
        for item in asked:
            item.reply(problem)
        self._watches.show({}, batch.watches)

    # -- what the session came to

    def committed(self, batch: Batch, result: Result) -> None:
        """Now, and only now, the world may hear of it (R1)."""
        desk = self.desk
        deliveries = [desk.held[key] for key in result.marked if key in desk.held]
        for held in result.started:
            if held.type.name in held.codec.targets:
                self._queue.append(Posted(held.key))
            elif not held.type.unrepeatable:
                deliveries.append(held)
        self.counts.update(result.counts)
        self._horizon.note(batch, result)
        if result.deferred:
            self._queue.extendleft(reversed(result.deferred))
        for reply, value in result.replies:
            reply(value)
        self._watches.show(result.live, batch.watches)
        # Held up for longer than the lease, others may have what was committed as held.
        self._session.lapse()
        if self._dispatcher is not None:
            still = [held for held in deliveries if held.key in desk.held]
            self._dispatcher.deliver(still, result.ended)

    def lost(self, ended: Iterable[Key]) -> None:
        """Others may hold what was held here."""
        self.counts["fenced"] += 1
        self._horizon.look = self._dispatcher is not None
        if self._dispatcher is not None:
            self._dispatcher.deliver([], ended)
