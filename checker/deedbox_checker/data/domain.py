"""Finite data: which values of a type the explorer tells apart.

Decided by the names of types.  A type is compared when a value of it occurs under a
comparison (other than with `none`), or is opened: a member of a record, a variant of
a choice, a function over a list.  Everything else is only carried, and has one value.
An int field that is compared with constants only, and from which nothing is taken away,
is a counter, capped one above the largest of them; one that nothing looks at has one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from string import ascii_uppercase
from typing import TypeAlias

from deedbox_dsl.types import (
    Base,
    ChoiceType,
    Declared,
    EmptyListType,
    ErrorType,
    ListOf,
    Maybe,
    NoneType,
    RecordType,
    Type,
)

from ..expressions.types import bare, bounds
from .items import MOST as MOST_ITEMS
from .pieces import pieces

EPOCH = 1_000_000_000_000_000
"""The explorer's `now`: far enough from the ends for every sum."""

UNIT = 10_000_000_000
"""How far instants lie from one another of which only the order counts."""

LONGEST = 10**15
"""No length of time is longer."""

MOST = 10_000
"""Of no message there are more values."""

Plain: TypeAlias = "bool | int | str | list[Plain] | dict[str, Plain] | None"


@dataclass(frozen=True, slots=True)
class Domain:
    """What of a machine's data can be told apart.

    `caps`: for each int field of a state the largest value it takes, None when it is
    not a counter; a field that is not in it is looked at by nothing.  `dense`: types of
    numbers that are held against others than constants.  `cuts`: the
    constants that lengths of time are compared with; `signed`: types of lengths that
    the machine computes, and that may be below zero.  `ends`: of a length the two ends
    of its range come from outside, as if no other did.
    """

    compared: frozenset[Type]
    opened: frozenset[Type]
    texts: tuple[str, ...]
    ints: tuple[int, ...]
    longest: int
    spare: dict[Type, int]
    caps: dict[str, int | None]
    dense: frozenset[Type]
    cuts: dict[Type, tuple[int, ...]]
    signed: frozenset[Type]
    ends: bool = False

    def values(self, type: Type) -> tuple[Plain, ...]:
        """Every value that may come from outside."""
        return tuple(islice(self._values(type), MOST + 1))

    def one(self, type: Type) -> Plain:
        """The value that stands for all of a type that is only carried."""
        return next(self._values(type))

    def carried(self, type: Type) -> bool:
        return type not in self.compared and type not in self.opened

    def _values(self, type: Type) -> Iterator[Plain]:
        match type:
            case Maybe(item):
                yield None
                yield from self._values(item)
            case Declared(base=base):
                yield from self._plain(type, base)
            case Base():
                yield from self._plain(type, type)
            case RecordType(fields=fields):
                yield from self._records(type, fields)
            case ChoiceType(variants=variants):
                for name, fields in variants:
                    for record in self._records(type, fields):
                        yield {"type": name, **record}
                    if type not in self.opened:
                        return
            case ListOf(item):
                values = self.values(item)
                if type not in self.opened:
                    yield list(values[:1])
                    return
                for length in range(1 + MOST_ITEMS):
                    for chosen in product(values, repeat=length):
                        yield list(chosen)
            case NoneType():
                yield None
            case EmptyListType():
                yield []
            case ErrorType():
                raise AssertionError("a machine with problems is not explored")

    def _plain(self, type: Type, base: Base) -> Iterator[Plain]:
        match base:
            case Base.TEXT:
                yield from self._texts(type)
            case Base.INT:
                yield from self._ints(type)
            case Base.BOOL:
                yield False
                yield True
            case Base.INSTANT:
                yield EPOCH
            case Base.DURATION:
                low, high = bounds(type)
                if self.ends:
                    yield low or 0
                    yield self.longest + 1 if high is None else high
                else:
                    yield from (
                        least
                        for least, _ in self.spans(type)
                        if low is not None or least >= 0
                    )

    def cuts_of(self, type: Type) -> tuple[int, ...]:
        """The constants at which a length of a type becomes another to the machine."""
        return self.cuts.get(bare(type), ())

    def spans(self, type: Type) -> Iterator[tuple[int, int]]:
        """The lengths of a type that nothing tells apart, from the first to the last."""
        low, high = bounds(bare(type))
        least = -LONGEST if bare(type) in self.signed else 0
        yield from pieces(
            least if low is None else low,
            LONGEST if high is None else high,
            self.cuts_of(type),
        )

    def span(self, type: Type, length: int) -> tuple[int, int]:
        """The lengths that cannot be told apart from this one."""
        for low, high in self.spans(type):
            if low <= length <= high:
                return low, high
        return length, length

    def _texts(self, type: Type) -> Iterator[str]:
        name = type.name if isinstance(type, Declared) else "text"
        if type not in self.compared:
            yield f"a {name}"
            return
        yield from self.texts
        for spare in range(1 + self.spare.get(type, 0)):
            yield f"{name} {lettered(spare)}"

    def _ints(self, type: Type) -> Iterator[int]:
        low, high = bounds(type)
        if type not in self.compared:
            yield low or 0
            return
        if type in self.dense and low is not None and high is not None:
            yield from range(low, high + 1)
            return
        near = {n + by for n in self.ints for by in (-1, 0, 1)}
        near |= {n for n in (low, high) if n is not None}
        yield from sorted(
            n
            for n in near or {0}
            if (low is None or n >= low) and (high is None or n <= high)
        )

    def _records(
        self, type: Type, fields: tuple[tuple[str, Type], ...]
    ) -> Iterator[dict[str, Plain]]:
        names = [name for name, _ in fields]
        for chosen in product(*(self.values(inner) for _, inner in fields)):
            yield dict(zip(names, chosen, strict=True))
            if type not in self.opened:
                return


def lettered(number: int) -> str:
    """A, B, … Z, AA, AB, … as columns of a sheet are called."""
    before, last = divmod(number, len(ascii_uppercase))
    return (lettered(before - 1) if before else "") + ascii_uppercase[last]
