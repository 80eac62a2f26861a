"""The numbers by which a process wakes, and the pause after a turn that got nowhere.

Known of each machine is its soonest wake; of all, the next owed row that waits, and the
end of a lease of another process.  They are lowered by what this process commits, and
learnt anew by a look.  What others commit is learnt by polling; nothing else is asked
for while nothing is due (R7).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .batch import Batch, Result
from .clock import Clock
from .operations import Outlook

POLL: Final = 50
"""Milliseconds between two questions whether another process has committed."""
FLOOR, CEILING = 5, 250
"""The shortest pause after a turn that got nowhere, and the longest (C17)."""


class Horizon:
    """`look`: all minima are to be learnt anew; `reap`: dead processes are looked for.

    `heard`: others have committed something.
    """

    def __init__(self, clock: Clock, *, peers: bool) -> None:
        self.clock = clock
        self.peers = peers
        self.look = False
        self.reap = False
        self.heard = False
        self.pause = 0
        self._outlook = Outlook({}, None, None)
        self._polled = 0
        self._not_before = 0

    @property
    def sleeps(self) -> bool:
        """Whether some deadline is known."""
        return bool(self._outlook.wakes)

    @property
    def ready(self) -> bool:
        """Whether what got nowhere may be tried again."""
        return self.clock.monotonic() >= self._not_before

    def forget(self) -> None:
        """Nothing is waited for any more."""
        self._outlook = Outlook({}, None, None)

    def learn(self, outlook: Outlook) -> None:
        """What there is, read without doing any of it."""
        self._outlook = outlook

    def poll(self) -> bool:
        """Whether it is time to ask what others did."""
        now = self.clock.monotonic()
        if not self.peers or now - self._polled < POLL:
            return False
        self._polled = now
        return True

    def due(self) -> list[str]:
        """The machines of which a wake has come; what else has come calls for a look."""
        now, known = self.clock.wall(), self._outlook
        if known.next_at is not None and known.next_at <= now:
            self.look = True
        if known.foreign_lease is not None and known.foreign_lease <= now:
            self.reap = True
        if not self.ready:
            return []
        return [name for name, wake in known.wakes.items() if wake <= now]

    def waits(self) -> Iterable[int]:
        """In how many milliseconds each of the known things comes."""
        now, known = self.clock.wall(), self._outlook
        for at in (*known.wakes.values(), known.next_at, known.foreign_lease):
            if at is not None:
                yield max(at - now, 0)
        if self.look or self.heard:
            yield 0
        if self.peers:
            yield POLL

    def note(self, batch: Batch, result: Result) -> None:
        """What a committed batch says of the time to come, and whether it got anywhere."""
        if result.outlook is not None:
            self._outlook = result.outlook
        else:
            wakes, next_at = dict(self._outlook.wakes), self._outlook.next_at
            for machine, wake in result.wakes.items():
                wakes[machine] = min(wake, wakes.get(machine, wake))
            if result.next_at is not None:
                next_at = min(result.next_at, next_at or result.next_at)
            self._outlook = Outlook(wakes, next_at, self._outlook.foreign_lease)
        if result.live or result.started or result.ended or not batch.due:
            if self.ready:
                self.pause = 0
        else:
            self.back_off(self.pause)

    def back_off(self, former: int) -> int:
        """Twice the former pause, before what got nowhere is tried again."""
        self.pause = min(max(former * 2, FLOOR), CEILING)
        self._not_before = self.clock.monotonic() + self.pause
        return self.pause
