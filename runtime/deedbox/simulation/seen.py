"""What the laws have seen of a run so far: all of them read it, and say there what broke."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from ..codec import Codec
from ..operations import InstanceRow, Key, OutboxRow
from ..values import Rules
from .far_side import FarSide, key_of

Deed = tuple[Key, str]
"""An issue: the key of its row, and its idempotency key (a later life has others)."""


class Step(Struct, frozen=True):
    """A committed step of an instance; there is no state before the first.

    `answers`: the idempotency key to which its message is the answer.
    """

    machine: str
    id: str
    before: Struct | None
    message: Struct
    after: Struct
    owed: tuple[Struct, ...] = ()
    answers: str | None = None


class Decided(Struct, frozen=True):
    """The far side has acted, for the first time, on a key of this instance."""

    machine: str
    id: str
    key: str
    command: str
    answer: Struct | None


class Seen(Struct):
    """An instance as it was last committed."""

    row: InstanceRow
    state: Struct | None


class Record:
    """What is committed, what was called, and which laws did not hold."""

    def __init__(
        self,
        codecs: dict[str, Codec],
        rules: Rules,
        far_side: FarSide,
        boot: Callable[[], int],
    ) -> None:
        self._boot = boot
        self.codecs = codecs
        self.rules = rules
        self.far_side = far_side
        self.told = {
            target for codec in codecs.values() for target in codec.targets.values()
        }
        self.broken: list[str] = []
        self.seen: dict[tuple[str, str], Seen] = {}
        self.outbox: dict[Key, OutboxRow] = {}
        self.sessions: set[int] = set()
        self.held_by: dict[int, str] = {}
        """Which process entered which session."""
        self.leases: dict[int, int] = {}
        """Until when a session has shown, in a committed transaction, that it lives."""
        self.dead: set[str] = set()
        self.claimed: dict[Deed, set[int]] = {}
        self.calls: dict[Deed, int] = {}
        self.returned: set[Deed] = set()
        self.redriven: set[Deed] = set()
        """Parked once, let go by a person, and not called since."""
        self.removed: set[tuple[str, str]] = set()
        self.times: dict[tuple[str, str], int] = {}
        """The time of the last step under each name, whatever became of the instance."""
        self.sent: Counter[tuple[str, str, str]] = Counter()
        """How often each message was given to a process; a step uses one of them up."""
        self.notes: list[str] = []
        """What the last commit has changed, in words."""
        self.events: list[Step | Decided] = []
        """What happened to the instances, in the order of the commits."""

    def say(self, text: str) -> None:
        self.broken.append(text)

    def done(self, key: Key, command: Struct) -> None:
        """A handler returned."""
        self.returned.add((key, key_of(command)))

    def lives(self, epoch: int) -> bool:
        """Whether nobody else may end this session yet."""
        process = self.held_by.get(epoch)
        return process not in self.dead and self.leases.get(epoch, 0) > self._boot()
