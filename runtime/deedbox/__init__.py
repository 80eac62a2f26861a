"""The interpreter of deedbox machines: what an application and generated code import.

`open` gives a box: start, send, ask, from any thread.  `Worker` runs the handlers
of what a box owes.  Generated modules take the words that they share with the
interpreter from here.  Importing this loads msgspec and nothing of a store, a
thread or an event loop; those come with their first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .key import key_text
from .machine import (
    UNSTAMPED,
    Command,
    CommandType,
    Due,
    Duration,
    Instant,
    Machine,
    Older,
    Refused,
    RefusedKind,
    SagaRoles,
    ScanRoles,
    SqliteTable,
    StepRoles,
    Told,
    Transition,
)
from .spread import spread

if TYPE_CHECKING:
    from .box import Box
    from .errors import (
        DeedboxError,
        DocumentTooLarge,
        InstanceParked,
        MessageIdReused,
        MisplacedCall,
        MissingHandlers,
        MissingMachines,
        NewerVersion,
        ReducerFailed,
        Rejected,
        SendError,
        StoreClosed,
        StoreError,
        StoreFailed,
        StoreRefused,
        UnknownInstance,
        UnknownMachine,
        Unsettled,
        WrongType,
    )
    from .opening import open
    from .step import Step, step
    from .transaction import Transaction
    from .values import Instance, Journaled, Listed, Migrated, Owed, Receipt, Rules
    from .worker import Worker

__all__ = [
    "UNSTAMPED",
    "Box",
    "Command",
    "CommandType",
    "DeedboxError",
    "DocumentTooLarge",
    "Due",
    "Duration",
    "Instance",
    "InstanceParked",
    "Instant",
    "Journaled",
    "Listed",
    "Machine",
    "MessageIdReused",
    "Migrated",
    "MisplacedCall",
    "MissingHandlers",
    "MissingMachines",
    "NewerVersion",
    "Older",
    "Owed",
    "Receipt",
    "ReducerFailed",
    "Refused",
    "RefusedKind",
    "Rejected",
    "Rules",
    "SagaRoles",
    "ScanRoles",
    "SendError",
    "SqliteTable",
    "Step",
    "StepRoles",
    "StoreClosed",
    "StoreError",
    "StoreFailed",
    "StoreRefused",
    "Told",
    "Transaction",
    "Transition",
    "UnknownInstance",
    "UnknownMachine",
    "Unsettled",
    "Worker",
    "WrongType",
    "key_text",
    "open",
    "spread",
    "step",
]

_ELSEWHERE = {
    "box": ("Box",),
    "errors": (
        "DeedboxError",
        "DocumentTooLarge",
        "InstanceParked",
        "MessageIdReused",
        "MisplacedCall",
        "MissingHandlers",
        "MissingMachines",
        "NewerVersion",
        "ReducerFailed",
        "Rejected",
        "SendError",
        "StoreClosed",
        "StoreError",
        "StoreFailed",
        "StoreRefused",
        "UnknownInstance",
        "UnknownMachine",
        "Unsettled",
        "WrongType",
    ),
    "opening": ("open",),
    "step": ("Step", "step"),
    "transaction": ("Transaction",),
    "values": (
        "Instance",
        "Journaled",
        "Listed",
        "Migrated",
        "Owed",
        "Receipt",
        "Rules",
    ),
    "worker": ("Worker",),
}
_HOME = {name: module for module, names in _ELSEWHERE.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'deedbox' has no attribute {name!r}")
    value: object = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
