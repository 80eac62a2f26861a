"""What a run leaves behind: what broke, and all that happened, in order."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from ..operations import AnyOperation
from .plan import Plan
from .seen import Decided, Step


class Happened(Struct, frozen=True):
    """A line of a run: when, where, what."""

    at: int
    who: str
    what: str | AnyOperation

    def __str__(self) -> str:
        return f"{self.at:>10} {self.who:<10} {self.what}"


class Run(Struct):
    """What became of a plan: the laws that did not hold, and how it went.

    `events` are the steps of all instances and what the far side did, in their order.
    """

    plan: Plan
    broken: list[str]
    trace: list[Happened]
    events: list[Step | Decided]
    phases: dict[tuple[str, str], str]
    operations: int
    calls: int

    @property
    def story(self) -> str:
        """The run for a reader: what was sent, done, saved and broken, line by line."""
        told = [str(line) for line in self.trace if isinstance(line.what, str)]
        return "\n".join(
            [
                f"seed {self.plan.seed}",
                *told,
                *(f"BROKEN {text}" for text in self.broken),
            ]
        )

    @property
    def hash(self) -> str:
        """Of everything that happened, each operation of the store included."""
        lines = "\n".join(map(str, self.trace))
        return hashlib.sha256(lines.encode()).hexdigest()
