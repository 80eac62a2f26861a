"""The kinds as machines: each module here says what one word means.

`lower` turns a `retry`, a `scan` or a `saga` into a `machine` of the same syntax
tree; nothing after it knows that there are kinds.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from .. import syntax
from ..names import Scope
from ..problems import Problem
from .retry import lower_retry
from .saga import lower_saga
from .scan import lower_scan

Word: TypeAlias = Literal["machine", "retry", "scan", "saga"]


def lower(
    kind: syntax.Kind, scope: Scope
) -> tuple[syntax.Machine | None, Word, tuple[Problem, ...]]:
    """The machine that `kind` means, the word it was written with, and what is wrong with it."""
    match kind:
        case syntax.Machine():
            return kind, "machine", ()
        case syntax.Saga():
            machine, problems = lower_saga(kind, scope)
            return machine, "saga", problems
        case syntax.Retry():
            machine, problems = lower_retry(kind, scope)
            return machine, "retry", problems
        case syntax.Scan():
            machine, problems = lower_scan(kind, scope)
            return machine, "scan", problems
        case _:
            assert_never(kind)
