"""Every node of a syntax tree or of the core, in the order of the text.

For questions that do not care where a name stands, such as "is this import used
anywhere".  Whoever cares about the place matches on the tree itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator
from functools import cache
from typing import cast

from .source import Span
from .types import Declared

TYPES = Declared.__module__


def nodes(root: object) -> Iterator[object]:
    """`root` and every dataclass below it; spans and types are left out."""
    waiting: list[object] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(reversed(node))  # pyright: ignore[reportUnknownArgumentType] - items are objects
        elif names := _fields(cast("Hashable", type(node))):
            yield node
            waiting.extend(getattr(node, name) for name in names)


@cache
def _fields(kind: Hashable) -> tuple[str, ...]:
    """The fields of a node, the last first; none for what is no node."""
    if not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
        return ()
    if kind is Span or kind.__module__ == TYPES:
        return ()
    return tuple(f.name for f in reversed(dataclasses.fields(kind)))
