"""The one small change after which a piece of a text can be read.

Where the parser stops, a few changes are tried that repair what people most often
leave out, put in, or take for another sign.  A change counts only when the piece
can be read with it, or when the parser then gets beyond the place; so what is
offered has been tried.  Which words and signs the language has is the grammar's
business; this module knows the slips.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..suggest import nearest
from .lexemes import Lexeme
from .tables import Start, Stop, tree_of

LONGEST_PIECE: Final = 20_000
BEYOND: Final = 2
"""How many words and signs further the parser must get for a change to count."""

_EXCHANGED: Final = {
    ("=", "COLON"): ":",
    ("=", "COMPARE"): "==",
    ("==", "EQUAL"): "=",
    ("->", "FATARROW"): "=>",
    ("=>", "ARROW"): "->",
    (",", "VBAR"): "|",
    (":", "EQUAL"): "=",
    (".", "DOTDOT"): "..",
    ("(", "LBRACE"): "{",
    ("to", "DOTDOT"): "..",
    ("->", "TO"): "to",
    ("=>", "TO"): "to",
}
"""The sign that stands there, the terminal that is wanted, and how that is written."""

_LEFT_OUT: Final = (
    ("COMMA", ","),
    ("COLON", ":"),
    ("FATARROW", "=>"),
    ("ARROW", "->"),
    ("VBAR", "|"),
    ("EQUAL", "="),
    ("RPAR", ")"),
    ("RSQB", "]"),
    ("VERSION", "version 1"),
)
"""The terminal that may be left out, and how it is written."""

_TOO_MANY: Final = frozenset((",", "|", ")", "]", ":", "=", "=>", "->", ".", "?"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text, where it begins there, and what it should be read as."""

    content: str
    base: int
    start: Start


@dataclass(frozen=True, slots=True)
class Repair:
    """Replace the text from `low` to `high` (offsets of the whole text) by `text`.

    `sort` says what the change takes the mistake for.
    """

    sort: str
    low: int
    high: int
    text: str
    written: str


def repair(
    piece: Piece,
    before: Lexeme | None,
    here: Lexeme,
    after: Sequence[Lexeme],
    stop: Stop,
) -> Repair | None:
    """The first change that helps where the parser stopped at `here`."""
    if len(piece.content) > LONGEST_PIECE or stop.position is None:
        return None
    for change in _changes(before, here, stop):
        low, high = change.low - piece.base, change.high - piece.base
        changed = piece.content[:low] + change.text + piece.content[high:]
        found = tree_of(changed, piece.start)
        if not isinstance(found, Stop):
            return change
        enough = after[BEYOND - 1].start if len(after) >= BEYOND else None
        grown = len(change.text) - (high - low)
        if found.position is None or (
            enough is not None and found.position - grown + piece.base > enough
        ):
            return change
    return None


def _changes(before: Lexeme | None, here: Lexeme, stop: Stop) -> Iterator[Repair]:
    expected = stop.expected
    if here.sort == "word":
        words = (each.lower() for each in expected if each.isalpha())
        meant = nearest(here.text, words)
        if meant is not None:
            yield Repair("exchange", here.start, here.end, meant, meant)
    asks = before is not None and before.text in ("phase", "old", "new")
    if asks and here.text in ("=", "in"):
        yield Repair("exchange", here.start, here.end, "is", "is")
    if before is not None and before.text[:1].isupper() and here.text == ",":
        yield Repair("exchange", here.start, here.end, " |", "|")
    for (sign, terminal), meant in _EXCHANGED.items():
        if here.text == sign and terminal in expected:
            yield Repair("exchange", here.start, here.end, meant, meant)
    if before is not None:
        for terminal, written in _LEFT_OUT:
            if terminal in expected:
                tight = written in (",", ":", ")", "]")
                at = before.end if tight else here.start
                text = written if tight else f"{written} "
                yield Repair("insert", at, at, text, written)
    if here.text in _TOO_MANY:
        yield Repair("delete", here.start, here.end, "", here.text)
