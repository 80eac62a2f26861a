"""A spec's text and the places in it.

Offsets count code points of the normalised text: a leading byte order mark is
dropped and every line ending is one `\n`, so a file gives the same spans (and
the same output) whichever editor wrote it.  Lines and columns count from 1;
a column is one code point, as most editors show it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """From `start` up to, not including, `end`; `line` and `column` are those of `start`."""

    path: str
    start: int
    end: int
    line: int
    column: int


def after(span: Span) -> Span:
    """The place right behind, on the same line: where text can be inserted."""
    column = span.column + span.end - span.start
    return Span(span.path, span.end, span.end, span.line, column)


@dataclass(frozen=True, slots=True)
class Text:
    """One spec file: its posix path relative to the project, and what it says."""

    path: str
    content: str
    lines: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0]
        for offset, char in enumerate(self.content):
            if char == "\n":
                starts.append(offset + 1)
        object.__setattr__(self, "lines", tuple(starts))

    @classmethod
    def of(cls, path: str, raw: str) -> Text:
        """The text of a file as read: without its byte order mark, with `\\n` line ends."""
        unmarked = raw.removeprefix("\ufeff")
        return cls(path, unmarked.replace("\r\n", "\n").replace("\r", "\n"))

    def span(self, start: int, end: int) -> Span:
        line = bisect_right(self.lines, start)
        return Span(self.path, start, end, line, start - self.lines[line - 1] + 1)

    def line_text(self, line: int) -> str:
        """Line `line` (from 1) without its line end."""
        start = self.lines[line - 1]
        end = self.lines[line] - 1 if line < len(self.lines) else len(self.content)
        return self.content[start:end]
