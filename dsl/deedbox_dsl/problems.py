"""A problem with a spec, as a value: collected by every phase, raised by none.

`problems.toml` holds what is always true of a code (severity, title, why, fix, the
smallest spec that triggers it, the smallest that does not); a `Problem` holds what
is true of this one place.  Codes are never reused and never renumbered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .source import Span

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Label:
    """A place that explains the problem, and the words written under it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` (empty: insert) by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair that a tool may offer: its title and its exact edits."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """`message` names the user's thing in backticks; `hints` are lines of advice or text to paste."""

    code: str
    span: Span
    message: str
    label: str = ""
    others: tuple[Label, ...] = ()
    hints: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
