"""Named points at which a test may have this process killed; off in production.

`DEEDBOX_FAILPOINT=after_save:3` sends SIGKILL to the process at the third hit of
`after_save`.  The interpreter's own points, in the order of a step:

    before_save           a step is reduced, nothing of it is written
    wake_before_save      the same, for a deadline that came due
    after_save            the step is committed, no handler has started, nobody is answered
    answer_before_save    a handler's answer is in hand, its transaction has not begun
    waiting               nothing is to be done before a deadline that is stored

A handler may `hit` points of its own.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

_wanted, _, _number = os.environ.get("DEEDBOX_FAILPOINT", "").partition(":")
_hits: Counter[str] = Counter()


def hit(name: str) -> None:
    """Die here, if the environment says so."""
    if name == _wanted:
        _hits[name] += 1
        if _hits[name] == int(_number or 1):
            os.kill(os.getpid(), signal.SIGKILL)
