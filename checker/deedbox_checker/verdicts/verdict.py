"""What was found of one thing that has to hold.

Nothing passes for want of a case: a premise that never happens is no proof.
"""

from __future__ import annotations

from dataclasses import dataclass

from deedbox_dsl import core

from ..traces.trace import Trace


@dataclass(frozen=True, slots=True)
class Verdict:
    """`broken` says why it does not hold, empty when it does; `stated` None: not asked for."""

    name: str
    says: str
    broken: str = ""
    trace: Trace | None = None
    stated: core.Property | None = None

    @property
    def holds(self) -> bool:
        return not self.broken


def says(stated: core.Property) -> str:
    if stated.within is None:
        return f"{stated.word} {stated.name}"
    return f"{stated.word} {stated.name} (within: wakes on time)"


def judged(stated: core.Property, trace: Trace | None, exercised: bool) -> Verdict:
    broken = (
        "BROKEN" if trace else "" if exercised else "VACUOUS: its premise never happens"
    )
    return Verdict(stated.name, says(stated), broken, trace, stated)
