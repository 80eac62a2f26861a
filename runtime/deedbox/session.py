"""The session of a process: what it holds, and the transactions that it proves itself in.

A batch is tried here until it is committed or has failed for a reason that is its own.
A process that was declared dead, or that cannot be sure what it committed, has lost all
that it held: it enters a new session, and what it still hears of the old one is late.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from typing import Protocol

from . import failpoints
from .batch import Batch, Desk, Raised, Result, leave
from .clock import Clock
from .codec import Codec
from .errors import Unsettled
from .operations import Begin, Commit, Enter, Key, Now, Program, Release, ask
from .protocol import Fenced, roll_back, transaction
from .reducing import Poisoned
from .values import Rules

log = logging.getLogger("deedbox")


class Owner(Protocol):
    """Who hears what a session came to, at once after it has."""

    def committed(self, batch: Batch, result: Result) -> None:
        """What was started is held; who is told of it is the owner's."""
        ...

    def lost(self, ended: Iterable[Key]) -> None:
        """These rows are held no more."""
        ...


class Session:
    """A `Desk`, from the first transaction to the last."""

    def __init__(
        self, codecs: dict[str, Codec], rules: Rules, clock: Clock, owner: Owner
    ) -> None:
        self.desk = Desk(codecs, rules)
        self.clock = clock
        self._owner = owner
        self._renewed = 0
        self._checked = 0

    def attempt(self, batch: Batch) -> Program[Exception | None]:
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
                yield from roll_back()
                log.error("the reducer failed on an answer:\n%s", poison.reason)
                aside = Raised(poison.key, poison.reason, poison.reason)
                batch.answers = [one for one in batch.answers if one.key != poison.key]
                batch.raised = [*batch.raised, aside]
            except Fenced:
                yield from roll_back()
                self._lose("another process declared it dead")
            except Unsettled as problem:
                log.error("%s", problem)
                self._lose("its last commit is unknown")
                return problem
            except Exception as problem:
                yield from roll_back()
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
        for key in result.ended:
            desk.held.pop(key, None)
        for held in result.started:
            desk.held[held.key] = held
        desk.marks = [held.key for held in result.started if held.type.unrepeatable]
        self._renewed = started
        if batch.check or not desk.held:
            self._checked = started
        self._owner.committed(batch, result)

    # -- the lease, which lasts from the last transaction, and only while something is held

    @property
    def renewal(self) -> int | None:
        """In how many milliseconds the lease is to be renewed."""
        if not self.desk.held:
            return None
        return max(self._lease_left() - self.desk.rules.lease * 2 // 3, 0)

    @property
    def lease(self) -> int | None:
        """For how many milliseconds the lease still lasts."""
        return max(self._lease_left(), 0) if self.desk.held else None

    @property
    def is_check_due(self) -> bool:
        """Whether it is time to ask if all that is held is still ours: as often as renewed."""
        age = self.clock.monotonic() - self._checked
        return bool(self.desk.held) and age >= self.desk.rules.lease // 3

    def _lease_left(self) -> int:
        return self._renewed + self.desk.rules.lease - self.clock.monotonic()

    def lapse(self) -> None:
        """No write was accepted in time: when the lease has run out, stop what runs."""
        if self.lease == 0:
            self._lose("its lease has run out")

    # -- its end

    def _lose(self, why: str) -> None:
        """Others may hold what we held; our answers to it are late."""
        desk = self.desk
        log.warning("session %d is over: %s", desk.epoch, why)
        ended = list(desk.held.values())
        desk.held, desk.marks, desk.epoch = {}, [], 0
        for held in ended:
            leave(desk.room, held)
        desk.backlog = set(desk.room)
        self._owner.lost(held.key for held in ended)

    def end(self) -> Program[int]:
        """Give everything back; how many commands that were."""
        count, desk = 0, self.desk
        if desk.epoch:
            try:
                yield from ask(Begin())
                now = yield from ask(Now())
                count = yield from ask(Release(desk.epoch, now))
                yield from ask(Commit())
            except Exception:
                yield from roll_back()
                log.exception("the session could not be ended; its lease will run out")
        self.desk = Desk(desk.codecs, desk.rules)
        return count
