"""The steps of a run as rows: what changes stands beside them, or below them.

Beside where all rows have room for it, else below all of them, so that the eye finds
everything of one sort in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len

from ..traces.trace import Change
from .columns import GAP, WIDTH, packed, padded, plain, wrapped
from .retold import Told

INDENT: Final = 6
"""Where what changes begins, below a step."""
WHO: Final = 9
LONGEST: Final = 46
"""No column of steps is wider; a step that is stands out of it."""
ISSUE: Final = re.compile(r"\w+ #(?:\d+|\?) ")


@dataclass(frozen=True, slots=True)
class Layout:
    """Widths of columns; of `decided` 0: no step was decided by a clause."""

    number: int
    step: int
    decided: int
    beside: bool

    @classmethod
    def of(cls, told: Sequence[Told]) -> Layout:
        longest = max((cell_len(plain(each.line.step)) for each in told), default=0)
        lines = [len(str(each.decided)) for each in told if each.decided]
        layout = cls(
            number=max(len(str(len(told))), 2),
            step=max(longest, len("step")),
            decided=max(*lines, len("line")) if lines else 0,
            beside=True,
        )
        if all(cell_len(row) <= WIDTH for each in told for row in layout.rows(each)):
            return layout
        return replace(layout, step=min(layout.step, LONGEST), beside=False)

    def heading(self) -> str:
        row = self._row("#", "who", "step", "line")
        return f"{row}  changes" if self.beside else row.rstrip()

    def rows(self, told: Told) -> Iterator[str]:
        """One row, and those below it."""
        changes = tuple(map(change, told.line.changes))
        line, step = told.line, plain(told.line.step)
        decided = str(told.decided) if told.decided else ""
        row = self._row(str(told.number), line.who, step, decided)
        if self.beside:
            yield f"{row}  {GAP.join(changes)}".rstrip()
            return
        row = row.rstrip()
        if cell_len(row) <= WIDTH:
            yield row
        else:
            yield from self._wrapped(told, f"{step}  {decided}".rstrip())
        yield from packed(changes, INDENT)

    def _wrapped(self, told: Told, words: str) -> Iterator[str]:
        lead = self._row(str(told.number), told.line.who, "", "").rstrip()
        before = 2 + self.number + 2 + WHO + 2
        first, *others = wrapped(words, before, before + 2)
        yield padded(lead, before) + first[before:]
        yield from others

    def _row(self, number: str, who: str, step: str, decided: str) -> str:
        row = f"  {number:>{self.number}}  {who:<{WHO}}  {padded(step, self.step)}"
        return f"{row}  {decided:>{self.decided}}" if self.decided else row


def change(told: Change) -> str:
    """What differs; of a row of one issue only what became of it."""
    issue = ISSUE.match(told.before)
    if issue is not None and told.after.startswith(issue[0]):
        told = replace(told, after=told.after[issue.end() :])
    return plain(str(told))
