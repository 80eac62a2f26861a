"""The distinct moves of a table, cut into blocks that other checkers can read.

Labels are dropped, and with them moves that only a label tells apart; so are moves that
change nothing.  Neither makes a state.  Spin's parser and rumur's are quadratic or
worse in the length of one array or one function, so a table is given to them in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..engine.tables import Tables

ROWS: Final = 256
ENTRIES: Final = 2_000
"""A block has at most so many rows, and ends with the row that brings it to so many moves."""


@dataclass(frozen=True, slots=True)
class Block:
    """The moves of the rows from `first` on."""

    number: int
    first: int
    targets: tuple[tuple[int, ...], ...]

    @property
    def end(self) -> int:
        return self.first + len(self.targets)

    @property
    def most(self) -> int:
        """The most moves that one of its rows has."""
        return max(map(len, self.targets))


def moves(tables: Tables, row: int) -> tuple[int, ...]:
    """The rows to which one instance may go from here."""
    found = {tables.targets[edge] for edge in tables.steps(row)}
    return tuple(sorted(found - {row}))


def blocks(tables: Tables) -> Iterator[Block]:
    """All rows, in their order."""
    number = first = 0
    held: list[tuple[int, ...]] = []
    for row in range(tables.locals * tables.shared):
        held.append(moves(tables, row))
        if len(held) == ROWS or sum(map(len, held)) >= ENTRIES:
            yield Block(number, first, tuple(held))
            number, first, held = number + 1, row + 1, []
    if held:
        yield Block(number, first, tuple(held))


def pieces(numbers: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    """A long list in parts, each with the index at which it begins."""
    for first in range(0, len(numbers), ENTRIES):
        yield first, numbers[first : first + ENTRIES]
