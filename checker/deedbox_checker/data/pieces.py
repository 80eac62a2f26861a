"""A range of whole numbers, cut where somebody looks."""

from __future__ import annotations

from collections.abc import Iterator


def pieces(
    low: int, high: int, constants: tuple[int, ...]
) -> Iterator[tuple[int, int]]:
    """The numbers from `low` to `high`, cut at the constants, each of which is alone."""
    at = low
    for constant in constants:
        if constant < at:
            continue
        if constant > high:
            break
        if at < constant:
            yield at, constant - 1
        yield constant, constant
        at = constant + 1
    if at <= high:
        yield at, high
