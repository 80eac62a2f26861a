"""What a test claims: the expression, what it calls, and the run that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from ..expressions.evaluate import phase
from ..instance.model import Model
from ..instance.world import World
from ..traces.trace import Run
from ..verdicts.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Claim:
    """`holds`: an expression that is true when nothing is broken.

    `functions`: what it calls.  `types`: they speak of choices.  `spins`: the last step is
    a deadline that has no end.  `watched`: a replay sees it broken, or it is not kept.
    """

    holds: str
    functions: tuple[str, ...] = ()
    types: bool = False
    spins: bool = False
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A broken property with its run; `module`: the name of the generated module."""

    verdict: Verdict
    run: Run
    model: Model
    module: str
    begins: World

    @property
    def last(self) -> World:
        return self.run.worlds[-1]

    @property
    def machine(self) -> str:
        return f"{self.module}.machine"


FOLLOWED: Final = Claim("False")
"""That the machine goes this way to its end is what is wrong."""
UNCHANGED: Final = Claim("run.end.state == run.before.state")


def of_state(case: Case, name: str, state: Struct | None, holds: str) -> str:
    """A function that says something of one state, and nothing of any other."""
    return "\n".join(
        [
            f"def {name}(seen: Seen[{case.module}.State]) -> bool:",
            "    state = seen.state",
            f"    return not isinstance(state, {case.module}.{phase(state)}) or (",
            f"        {holds}",
            "    )",
        ]
    )
