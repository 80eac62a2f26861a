"""What a run came to: what was seen after each of its steps, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

S = TypeVar("S", bound=Struct)


class Seen(Struct, Generic[S], frozen=True):
    """An instance after a step.

    `at` is the time of its last step, `now` the time of the test, `owed` the commands
    that are awaited, `counts` how many deeds the far side has ended in an outcome.
    """

    state: S
    at: int
    now: int
    wake_at: int | None
    owed: tuple[str, ...]
    counts: Mapping[str, int]

    def count(self, outcome: type[Struct]) -> int:
        """How many deeds the far side has ended in this outcome."""
        return self.counts.get(outcome.__name__, 0)


class Ran(Struct, Generic[S], frozen=True):
    """`parted`: why the machine did not go the whole way, empty when it did.

    `raised`: the last step was its reducer's death, in the words of the interpreter.
    `broke`: promises that no state tells of: `deterministic`, `survives_storage`,
    `keys_are_own`, `same_arguments`.
    """

    seen: tuple[Seen[S], ...]
    parted: str = ""
    raised: str = ""
    broke: frozenset[str] = frozenset()

    @property
    def end(self) -> Seen[S]:
        return self.seen[-1]

    @property
    def before(self) -> Seen[S]:
        """What was seen before the last step."""
        return self.seen[-2]

    def goes_round(self, loop: int, begins: Test[S]) -> bool:
        """Whether its last two rounds of `loop` steps each came to where they began."""
        ends = (self.seen[-1 - n * loop] for n in range(3))
        return all(begins(end) for end in ends)

    def owed_for(self, premise: Test[S], goal: Test[S]) -> int:
        """For how long `premise` has stood without `goal`, in milliseconds; -1: it does not."""
        since: int | None = None
        for seen in self.seen:
            if goal(seen):
                since = None
            elif since is None and premise(seen):
                since = seen.now
        return -1 if since is None else self.end.now - since


Test: TypeAlias = Callable[[Seen[S]], bool]
