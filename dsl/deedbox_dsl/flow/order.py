"""What a typed machine does as a whole: the order of its checks, and nothing else.

Whether every event is decided and every command awaited can be said of a machine
with problems too; what is reached, and which deadlines run dry, only of a whole
one with every event decided: a misspelt state, or a clause that is missing, would
leave half of the machine unreached.
"""

from __future__ import annotations

from .. import core, syntax
from ..problems import Problem, has_errors
from .coverage import coverage
from .flights import flights
from .reach import reach
from .timing import timing


def flow(
    machine: core.Machine, written: syntax.Machine, *, whole: bool
) -> list[Problem]:
    """Every problem of how the machine runs; `written` is where it stands in the spec."""
    problems = coverage(machine, written)
    decided = not has_errors(problems)
    if whole:
        problems += flights(machine)
    if whole and decided:
        problems += reach(machine)
        problems += timing(machine, written)
    return problems
