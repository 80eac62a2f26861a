"""One piece of a text: its parse tree, or what is wrong with it.

Depth is bounded here (DEED106), before `tree` recurses over what a user wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from ..problems import Problem
from ..source import Text
from .lexemes import DEPTH, Lexeme, Scan, too_deep
from .repairs import Piece
from .tables import Start, Stop, tree_of
from .unexpected import unexpected

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


_ENDS: Final[dict[Start, str]] = {
    "start": "the end of the file",
    "decl": "the next declaration",
    "machine_item": "the next item",
    "retry_item": "the next item",
    "scan_item": "the next item",
    "saga_item": "the next item",
    "clause": "the next clause",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """A piece that cannot be read; it is put into words only when it is reported."""

    lexemes: Sequence[Lexeme]
    stop: Stop
    piece: Piece


Fault: TypeAlias = Problem | Failure


FAULTS: Final = (Problem, Failure)


def worded(text: Text, fault: Fault) -> Problem:
    if isinstance(fault, Problem):
        return fault
    return unexpected(
        text,
        fault.lexemes,
        fault.stop,
        fault.piece,
        ends_with=_ENDS[fault.piece.start],
    )


def read_piece(
    text: Text, scanned: Scan, base: int, piece: str, start: Start, high: int = -1
) -> Node | Fault:
    """The tree of a piece of `text` that begins at offset `base`, or what is wrong."""
    node = tree_of(piece, start)
    if isinstance(node, Stop):
        lexemes = scanned.lexemes if high < 0 else scanned.lexemes[:high]
        return Failure(lexemes, node, Piece(piece, base, start))
    deep = _deepest(node)
    if deep is not None:
        at = base + deep.meta.start_pos
        return too_deep(text, at, at + 1)
    return node


_NESTING: Final = frozenset(
    (
        *("implies", "conditional", "either", "both", "negation", "compare", "is_a"),
        *("plus", "minus", "times", "negate", "member", "call", "binder"),
        *("base_type", "optional_type", "act_retry_then"),
    )
)


def _deepest(root: Node) -> Node | None:
    """A node that stands more than `DEPTH` deep in an expression, type or action."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        depth = depth + 1 if node.data in _NESTING else 0
        if depth > DEPTH:
            return node
        stack.extend(
            (child, depth) for child in node.children if not isinstance(child, str)
        )
    return None
