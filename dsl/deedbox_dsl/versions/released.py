"""The recorded shapes of released versions, by the machine that each belongs to.

A shape belongs to a machine by module and name, as written inside it; the name of
its file is for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from .. import core
from ..problems import Problem
from ..source import Span, Text
from .written_shapes import read

Released: TypeAlias = Mapping[tuple[str, str], Mapping[str, core.Shape]]
"""Module and machine to its shapes, by path."""


def released(shapes: Mapping[str, str]) -> tuple[Released, list[Problem]]:
    """What the texts of `shapes` record, and why some of them record nothing."""
    found: dict[tuple[str, str], dict[str, core.Shape]] = {}
    problems: list[Problem] = []
    for path in sorted(shapes):
        shape = read(path, Text.of(path, shapes[path]).content)
        if isinstance(shape, str):
            problems.append(_unread(path, f"this is no recorded shape: {shape}"))
            continue
        own = found.setdefault((shape.module, shape.machine), {})
        for other, before in own.items():
            if before.version == shape.version:
                text = f"version {shape.version} of `{shape.machine}` is recorded in {other} too"
                problems.append(_unread(path, text))
                break
        else:
            own[path] = shape
    return found, problems


def _unread(path: str, text: str) -> Problem:
    hint = (
        "`deedbox release` writes these files; take it back from the version control."
    )
    return Problem("DEED801", Span(path, 0, 0, 1, 1), text, hints=(hint,))
