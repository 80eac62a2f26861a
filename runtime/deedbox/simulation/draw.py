"""Values drawn from a seed: of any type that a generated struct declares.

The pools are small on purpose: two messages then often speak of the same holder, the
same amount, the same instant.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from random import Random
from typing import (
    Annotated,
    Any,
    Final,
    NewType,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta, Struct

from ..machine import Duration, Instant

TEXTS: Final = ("a", "b", "c", "ä", "")
NUMBERS: Final = (0, 1, 2, 3, 5, 8, 13, 100, 4000)
SPANS: Final = (0, 1, 50, 1_000, 5_000, 30_000, 120_000, 3_600_000, 86_400_000)
LENGTHS: Final = (0, 1, 1, 2, 3)

Draw = Callable[[Random, int], Any]
"""A value, drawn at an instant."""


def struct(kind: type[Struct], random: Random, now: int) -> Struct:
    """A message, an outcome, a record; `at` and `ticket` stay as they are declared."""
    return kind(**{name: draw(random, now) for name, draw in _fields(kind)})


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, Draw], ...]:
    hints = get_type_hints(kind, include_extras=True)
    required = kind.__struct_fields__[
        : len(kind.__struct_fields__) - len(kind.__struct_defaults__)
    ]
    return tuple((name, _draw(hints[name])) for name in required)


def _draw(hint: Any, low: int | None = None, high: int | None = None) -> Draw:
    if hint is Instant:
        return lambda random, now: max(
            now + random.choice((-1, 1)) * random.choice(SPANS), 0
        )
    if hint is Duration:
        return lambda random, _: _within(random.choice(SPANS), low, high)
    if isinstance(hint, NewType):
        return _draw(hint.__supertype__, low, high)
    if hint is None or hint is types.NoneType:
        return lambda _, __: None
    if hint is bool:
        return lambda random, _: random.random() < 0.5
    if hint is int:
        return lambda random, _: _within(random.choice(NUMBERS), low, high)
    if hint is str:
        return lambda random, _: random.choice(TEXTS)
    if isinstance(hint, type) and issubclass(hint, Struct):
        kind: type[Struct] = hint
        return lambda random, now: struct(kind, random, now)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        bounds = [meta for meta in inner[1:] if isinstance(meta, Meta)]
        lows = [_number(meta.ge) for meta in bounds if meta.ge is not None]
        highs = [_number(meta.le) for meta in bounds if meta.le is not None]
        return _draw(inner[0], max(lows, default=None), min(highs, default=None))
    if origin is tuple:
        item = _draw(inner[0])
        return lambda random, now: tuple(
            item(random, now) for _ in range(random.choice(LENGTHS))
        )
    if origin in (Union, types.UnionType):
        drawn = [_draw(one) for one in inner]
        return lambda random, now: random.choice(drawn)(random, now)
    raise TypeError(f"no values for {hint!r}")


def _number(value: float) -> int:
    return int(value)


def _within(value: int, low: int | None, high: int | None) -> int:
    if low is not None and value < low:
        value = low if high is None else low + value % (high - low + 1)
    if high is not None and value > high:
        value = high if low is None else low + value % (high - low + 1)
    return value
