"""The nearest name to a misspelt one, for "did you mean".

The distance is Damerau-Levenshtein in its restricted form (optimal string
alignment): a swap of two neighbours is one slip of the fingers, not two.  Of two
equally near, the one that begins alike is meant.
"""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be, or None."""
    limit = max(1, len(name) // 3)
    best: tuple[int, int, str] | None = None
    for candidate in sorted(set(known)):
        if abs(len(candidate) - len(name)) > limit or candidate == name:
            continue
        found = distance(name.lower(), candidate.lower())
        if found > limit or found >= len(candidate):
            continue
        ranked = (found, -_alike(name.lower(), candidate.lower()), candidate)
        best = ranked if best is None else min(best, ranked)
    return None if best is None else best[2]


def distance(left: str, right: str) -> int:
    """How many slips (insert, delete, replace, swap) turn `left` into `right`."""
    above: list[int] = []
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, start=1):
        above, before, row = row, above, [i]
        for j, other in enumerate(right, start=1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (one != other))
            if i > 1 and j > 1 and one == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _alike(left: str, right: str) -> int:
    """How many letters two words share at their beginning."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), len(left))
