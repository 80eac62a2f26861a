"""How a node of the parse tree is read: by the names of its children, never by their index.

A span begins at a declaration's keyword, not at its doc comment: that is where
a reader looks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from .. import syntax as s
from ..source import Span, Text

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

T = TypeVar("T")


UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


_SKIP: Final = re.compile(r"(?:[ \t\n]|//[^\n]*)*")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a parsed piece of text stands: its file, and the offset of its start."""

    text: Text
    base: int

    def of(self, node: Node) -> Span:
        """The span of a node, from its keyword on."""
        start = node.meta.start_pos
        doc = child_if_any(node, "doc")
        if doc is not None:
            after = _SKIP.match(self.text.content, self.base + doc.meta.end_pos)
            start = start if after is None else after.end() - self.base
        return self.text.span(self.base + start, self.base + node.meta.end_pos)

    def at(self, token: Token) -> Span:
        start = self.base + (token.start_pos or 0)
        return self.text.span(start, start + len(token))


def milliseconds(written: str) -> int:
    """What a duration as written comes to: `2m` is 120000."""
    digits = written.rstrip("dhms")
    return int(digits.replace("_", "")) * UNITS[written[len(digits) :]]


def integer_of(token: str) -> int:
    return int(token.replace("_", ""))


def duration_literal(token: Token, at: Place) -> s.DurationLit:
    return s.DurationLit(milliseconds(token), str(token), at.at(token))


def duration_of(node: Node, at: Place) -> s.DurationLit | None:
    duration = child_if_any(node, "duration")
    return None if duration is None else duration_literal(tokens(duration)[0], at)


def string_of(node: Node) -> str:
    return next(str(token)[1:-1] for token in tokens(node) if token.type == "STRING")


def number_of(node: Node) -> int:
    return next(integer_of(token) for token in tokens(node) if token.type == "INT")


def is_unrepeatable(node: Node) -> bool:
    return any(token.type == "UNREPEATABLE" for token in tokens(node))


def name_of(node: Node, at: Place) -> s.Name:
    token = next(token for token in tokens(node) if token.type == "NAME")
    return s.Name(str(token), at.at(token))


def names_of(node: Node, at: Place) -> tuple[s.Name, ...]:
    return tuple(s.Name(str(token), at.at(token)) for token in tokens(node))


def dotted_of(node: Node) -> str:
    return ".".join(tokens(node))


def doc_of(node: Node) -> str | None:
    doc = child_if_any(node, "doc")
    if doc is None:
        return None
    lines = (token[3:].removeprefix(" ").rstrip() for token in tokens(doc))
    return "\n".join(lines)


def certain(value: T | None) -> T:
    """What the grammar makes certain."""
    assert value is not None
    return value


def trees(node: Node) -> list[Node]:
    return [child for child in node.children if not isinstance(child, str)]


def tokens(node: Node) -> list[Token]:
    return [child for child in node.children if isinstance(child, str)]


def children(node: Node, rule: str) -> list[Node]:
    return [child for child in trees(node) if child.data == rule]


def children_but(node: Node, rule: str) -> list[Node]:
    return [child for child in trees(node) if child.data != rule]


def child_if_any(node: Node, rule: str) -> Node | None:
    return next(iter(children(node, rule)), None)


def child(node: Node, rule: str) -> Node:
    return children(node, rule)[0]
