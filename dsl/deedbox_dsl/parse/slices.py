"""A damaged text cut into the pieces that can be read apart.

The pieces are declarations, items of a kind, and clauses.  A piece begins at a word
that stands first on its line and is a head, or that stands no deeper than its
neighbours; a doc comment belongs to the piece after it.  Only braces, indentation
and head words are looked at, so a piece is found whatever is wrong inside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .braces import Layout

DECLARATIONS: Final = frozenset(
    ("type", "record", "choice", "policy", "machine", "retry", "scan", "saga")
)
_COMMON: Final = frozenset(
    (
        *("key", "given", "on", "command", "unrepeatable", "migrate", "check", "allow"),
        *("invariant", "never", "eventually", "sometimes", "across", "leads"),
    )
)
OWN_HEADS: Final[Mapping[str, frozenset[str]]] = {
    "machine": frozenset(("state", "final", "message", "start", "in")),
    "retry": frozenset(("message", "policy", "do", "spent", "wake")),
    "scan": frozenset(
        ("message", "page", "cursor", "fetch", "each", "continue", "idle", "wake")
    ),
    "saga": frozenset(("step", "done", "undone", "no")),
}
"""The words that begin an item of one kind."""
HEADS: Final[Mapping[str, frozenset[str]]] = {
    "module": DECLARATIONS | {"module", "use"},
    "inside": frozenset(("on", "at", "ignore")),
    **{kind: (_COMMON | own) - {"in"} for kind, own in OWN_HEADS.items()},
}
"""The words that begin a piece wherever they stand first; `in` also continues one."""


def cut(layout: Layout, low: int, high: int, within: str) -> list[tuple[int, int]]:
    """The pieces of `lexemes[low:high]`, each as its first index and the one after it.

    `within` is a key of `HEADS`: what the pieces are items of.
    """
    if low >= high:
        return []
    heads = HEADS[within]
    starts: list[int] = []
    margin = layout.columns[low]
    index = low
    before = ""
    while index < high:
        lexeme = layout.lexemes[index]
        is_head = lexeme.sort == "word" and lexeme.text in heads
        begins = (
            lexeme.first
            and (
                is_head
                or lexeme.sort == "doc"
                or (lexeme.sort == "word" and layout.columns[index] <= margin)
            )
        ) or (before == "block" and is_head)
        if not starts or (begins and before != "doc"):
            starts.append(index)
        block = layout.blocks.get(index)
        before = lexeme.sort if block is None else "block"
        index = index + 1 if block is None else max(block.resume, index + 1)
    return list(zip(starts, [*starts[1:], high], strict=True))
