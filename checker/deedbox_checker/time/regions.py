"""All ways in which numbers may lie to one another, as far as somebody looks.

Numbers, now among them as the first and zero, are bounded by differences; each asked
difference is below, at, or above each of its constants.  Every combination that can be
has one solution here, by difference-bound matrices: a bound is tightened one at a time
and the shortest paths are kept (Dill, *Timing assumptions and verification of
finite-state concurrent systems*, 1989).  In whole numbers, so what is found is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from ..data.pieces import pieces

FAR: Final = 10**14
"""No number lies further from now."""

Bound: TypeAlias = tuple[int, int, int]
"""`(i, j, most)`: number `i` less number `j` is `most` at the most."""

Asked: TypeAlias = tuple[int, int, tuple[int, ...]]
"""`(i, j, constants)`: how `i` less `j` lies to each of the constants, which ascend."""

Matrix: TypeAlias = tuple[tuple[int, ...], ...]


@lru_cache(maxsize=100_000)
def regions(
    count: int, bounds: tuple[Bound, ...], asked: tuple[Asked, ...]
) -> tuple[tuple[int, ...], ...]:
    """One solution of each region; none when the bounds contradict each other."""
    free = tuple(
        tuple(0 if i == j else FAR if 0 in (i, j) else 2 * FAR for j in range(count))
        for i in range(count)
    )
    start: Matrix | None = free
    for i, j, most in bounds:
        if start is not None:
            start = tightened(start, i, j, most)
    if start is None:
        return ()
    return tuple(tuple(row[0] for row in found) for found in split(start, asked))


def split(matrix: Matrix, asked: tuple[Asked, ...]) -> Iterator[Matrix]:
    if not asked:
        yield matrix
        return
    (i, j, constants), *rest = asked
    left = tuple(rest)
    for low, high in pieces(-matrix[j][i], matrix[i][j], constants):
        part = tightened(matrix, i, j, high)
        if part is not None:
            part = tightened(part, j, i, -low)
        if part is not None:
            yield from split(part, left)


def tightened(matrix: Matrix, i: int, j: int, most: int) -> Matrix | None:
    """With one bound more, all that follows from it; None when nothing is left."""
    if most >= matrix[i][j]:
        return matrix
    if most + matrix[j][i] < 0:
        return None
    after = matrix[j]
    return tuple(
        tuple(
            min(known, row[i] + most + further)
            for known, further in zip(row, after, strict=True)
        )
        for row in matrix
    )
