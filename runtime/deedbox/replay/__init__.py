"""One run of one instance, step by step, on the real interpreter.

A run is what others do: messages, the far side's decisions, answers, deadlines, crashes.
What the machine makes of it is the interpreter's, its store's and its handlers' business.
A run that the machine does not follow ends where they part, and says so.
"""

from __future__ import annotations

from .actions import (
    Action,
    Answers,
    Arrives,
    Asks,
    Begin,
    Comes,
    Crash,
    Decides,
    Does,
    Early,
    Fires,
    HandedOut,
    Late,
    Passes,
    Raises,
    Stored,
    Tell,
    Waits,
    message,
)
from .carried import Where, replay
from .ran import Ran, Seen

__all__ = [
    "Action",
    "Answers",
    "Arrives",
    "Asks",
    "Begin",
    "Comes",
    "Crash",
    "Decides",
    "Does",
    "Early",
    "Fires",
    "HandedOut",
    "Late",
    "Passes",
    "Raises",
    "Ran",
    "Seen",
    "Stored",
    "Tell",
    "Waits",
    "Where",
    "message",
    "replay",
]
