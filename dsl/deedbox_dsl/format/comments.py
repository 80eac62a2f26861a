"""What the formatter keeps of a text beside its tree: comments, blank lines, line breaks.

The printer walks the tree in the order of the text, so comments are a queue: what
stands before a unit goes above it, what stands after it on its line stays there,
what stands inside it where no unit is goes above it.  None is dropped, because a
unit empties the queue up to its own end.

A tree that nobody wrote (a lowered machine) has no text: nothing is kept then, and
blank lines follow the sort of the items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..parse.lexemes import Lexeme
from ..source import Span, Text
from .pretty import Cat, Doc, Hard, Trail, cat

_DOC: Final = re.compile(r"[ \t]*///(?!/)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line or more of a body; `blank` asks for an empty line above."""

    doc: Doc
    blank: bool


@dataclass(slots=True)
class Written:
    """The text behind a tree, if there is one, and how many comments are printed."""

    text: Text | None
    comments: Sequence[Lexeme] = ()
    printed: int = field(default=0, init=False)

    def before(self, offset: int) -> list[Entry]:
        """The comments up to `offset`, each on a line of its own."""
        entries: list[Entry] = []
        while self.printed < len(self.comments):
            comment = self.comments[self.printed]
            if self.text is None or comment.start >= offset:
                break
            self.printed += 1
            line = self.text.span(comment.start, comment.end).line
            entries.append(Entry(comment.text.rstrip(), self._blank_above(line)))
        return entries

    def has_before(self, offset: int) -> bool:
        """Whether a comment that is not yet printed stands before `offset`."""
        if self.text is None or self.printed >= len(self.comments):
            return False
        return self.comments[self.printed].start < offset

    def after(self, offset: int) -> list[Doc]:
        """The comment that ends the line on which something ended at `offset`."""
        if self.text is None or self.printed >= len(self.comments):
            return []
        comment = self.comments[self.printed]
        between = self.text.content[offset : comment.start]
        if comment.start < offset or between.strip(" \t,"):
            return []
        self.printed += 1
        return [Trail(comment.text.rstrip())]

    def unit(
        self, span: Span, make: Callable[[], Doc], suffix: Doc = ""
    ) -> list[Entry]:
        """What `make` prints for the node at `span`, with the comments that belong to it."""
        above = self.before(span.start)
        doc = make()
        inside = self.before(span.end)
        trail = self.after(span.end)
        whole = cat(doc, suffix, *trail) if suffix or trail else doc
        return [*above, *inside, Entry(whole, self._blank_above(span.line))]

    def breaks(self, outer: Span, inner: Span) -> bool:
        """Whether the author began `inner` on a later line than `outer`."""
        if self.text is None:
            return False
        return "\n" in self.text.content[outer.start : inner.start]

    def _blank_above(self, line: int) -> bool:
        if self.text is None:
            return False
        above = line - 1
        while above > 0 and _DOC.match(self.text.line_text(above)):
            above -= 1
        return above > 0 and not self.text.line_text(above).strip(" \t")


def stacked(entries: Sequence[Entry]) -> Cat:
    """Entries below each other."""
    parts: list[Doc] = []
    for entry in entries:
        if parts:
            parts.append(Hard(entry.blank))
        parts.append(entry.doc)
    return cat(*parts)
