"""Text in 80 columns, as wide as a terminal shows it.

A character may take two columns or none.  A word is never broken, so that what is long
can be copied; what a terminal would obey is written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len

WIDTH: Final = 80
GAP: Final = "   "


def plain(text: str) -> str:
    """Without what moves the cursor, ends a line or turns the direction of writing."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in text
    )


def padded(text: str, width: int) -> str:
    return text + " " * max(width - cell_len(text), 0)


def wrapped(text: str, first: int, rest: int) -> Iterator[str]:
    """The text in lines, the first indented by `first`, the others by `rest`."""
    line, room = " " * first, True
    for word in text.split(" "):
        if room:
            line, room = line + word, False
        elif cell_len(line) + 1 + cell_len(word) <= WIDTH:
            line += f" {word}"
        else:
            yield line.rstrip()
            line = " " * rest + word
    yield line.rstrip()


def packed(items: Iterable[str], indent: int) -> Iterator[str]:
    """As many items on a line as there is room for; one that has none is wrapped."""
    line = ""
    for item in items:
        if line and cell_len(line) + cell_len(GAP + item) <= WIDTH:
            line += GAP + item
            continue
        if line:
            yield line
        *above, line = wrapped(item, indent, indent + 2)
        yield from above
    if line:
        yield line
