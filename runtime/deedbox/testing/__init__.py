"""What tests of machines, handlers and stores use: a clock that is driven, laws, a death.

`FakeClock` stands still until it is advanced, and wakes whoever waits for it.
`Laws` reads a whole store and says which invariant of the protocol does not hold; a
`Watched` store asks it after every transaction.  `crash` ends a worker as SIGKILL ends
a process.  `run`, `hold` and `differences` are of the simulation: whole runs from a
seed, and stores held against the one in memory.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .death import crash
from .driven import EPOCH, FakeClock, FakeTimer, elapse, settle, void
from .faults import Fault, Faults, Watched, tampered
from .laws import Laws, Picture, fold, picture

if TYPE_CHECKING:
    from ..simulation import (
        AnyAnswer,
        Character,
        InMemory,
        OnSqlite,
        Plan,
        Run,
        differences,
        hold,
        plan_of,
        run,
        simulate,
        smallest,
    )

__all__ = [
    "EPOCH",
    "AnyAnswer",
    "Character",
    "FakeClock",
    "FakeTimer",
    "Fault",
    "Faults",
    "InMemory",
    "Laws",
    "OnSqlite",
    "Picture",
    "Plan",
    "Run",
    "Watched",
    "crash",
    "differences",
    "elapse",
    "fold",
    "hold",
    "picture",
    "plan_of",
    "run",
    "settle",
    "simulate",
    "smallest",
    "tampered",
    "void",
]

_HERE = frozenset(globals())


def __getattr__(name: str) -> object:
    """Simulated runs are loaded with their first use."""
    if name not in __all__ or name in _HERE:
        raise AttributeError(f"module 'deedbox.testing' has no attribute {name!r}")
    value: object = getattr(import_module("..simulation", __name__), name)
    globals()[name] = value
    return value
