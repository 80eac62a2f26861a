"""Every node of a syntax tree, in the order of the text.

For questions that do not care where a name stands, such as "is this import used
anywhere".  Whoever cares about the place matches on the tree itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from .source import Span


def nodes(root: object) -> Iterator[object]:
    """`root` and every dataclass below it; spans are left out."""
    waiting: list[object] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(reversed(node))  # pyright: ignore[reportUnknownArgumentType] - items are objects
        elif dataclasses.is_dataclass(node) and not isinstance(node, Span):
            yield node
            names = _FIELDS.get(type(node))
            if names is None:
                names = tuple(f.name for f in reversed(dataclasses.fields(node)))
                _FIELDS[type(node)] = names
            waiting.extend(getattr(node, name) for name in names)


_FIELDS: dict[type, tuple[str, ...]] = {}
