"""What the interpreter promises, and the explorer explores: the protocol.

Without one of them it is a wrong interpreter, which the explorer has to find: that is
what shows that the faults are explored and not assumed away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Promises:
    """`stores_first`: nothing is handed out before the commit that owes it (R1).

    `keeps_rows`: what is owed survives a crash.
    `withdraws`: an issue that is no longer awaited is no longer owed.
    `reaps`: what a dead process had claimed is claimed by another.
    `keeps_keys`: a row keeps its key, however often it is handed out.
    `marks_started`: what is `unrepeatable` and was handed out is not handed out again.
    `heeds_tickets`: only the answer to the awaited issue is taken.
    `stores_wakes`: a wake is part of what is stored, so a crash loses none.
    `rearms`: the wake after a deadline has fired is that of the new state.
    `checks_rev`: a commit replaces the state that it was made from, or is refused.
    `keeps_lives`: a start whose key is taken goes to the instance that has it.
    `clamps`: the time of a step is never before what is stored (R9).
    """

    stores_first: bool = True
    keeps_rows: bool = True
    withdraws: bool = True
    reaps: bool = True
    keeps_keys: bool = True
    marks_started: bool = True
    heeds_tickets: bool = True
    stores_wakes: bool = True
    rearms: bool = True
    checks_rev: bool = True
    keeps_lives: bool = True
    clamps: bool = True


PROTOCOL: Final = Promises()
