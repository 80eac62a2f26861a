"""Why a run is not written as a test."""

from __future__ import annotations


class Unmapped(Exception):
    """The run cannot be replayed on the real interpreter, and this says why."""
