"""The interpreter of durable machines: what a generated module and its application import."""

from .key import key_text
from .machine import (
    UNSTAMPED,
    CommandType,
    Due,
    Duration,
    Instant,
    Machine,
    Refused,
    SqliteTable,
    Transition,
)
from .spread import spread

__all__ = [
    "UNSTAMPED",
    "CommandType",
    "Due",
    "Duration",
    "Instant",
    "Machine",
    "Refused",
    "SqliteTable",
    "Transition",
    "key_text",
    "spread",
]
