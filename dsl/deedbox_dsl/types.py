"""The types of the language and their algebra.

Durations and instants are integers of milliseconds; an instant counts from the
Unix epoch, UTC.  Two declared types are equal when they are the same
declaration: name and module decide, never their shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never


class Base(Enum):
    TEXT = "text"
    INT = "int"
    BOOL = "bool"
    INSTANT = "instant"
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class Declared:
    """`type Cents = int in 0..100`: distinct from its base; bounds are inclusive."""

    name: str
    module: str
    base: Base
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class RecordType:
    name: str
    module: str
    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True, slots=True)
class ChoiceType:
    """A sum; each variant is its name and its fields."""

    name: str
    module: str
    variants: tuple[tuple[str, tuple[tuple[str, Type], ...]], ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Type


@dataclass(frozen=True, slots=True)
class Maybe:
    """`T?`; never nested."""

    item: Type


@dataclass(frozen=True, slots=True)
class NoneType:
    """The type of `none` before it meets a `T?`."""


@dataclass(frozen=True, slots=True)
class EmptyListType:
    """The type of `[]` before it meets a `list[T]`."""


@dataclass(frozen=True, slots=True)
class ErrorType:
    """What a name that does not resolve has; nothing that touches it is reported again."""


Type: TypeAlias = (
    Base
    | Declared
    | RecordType
    | ChoiceType
    | ListOf
    | Maybe
    | NoneType
    | EmptyListType
    | ErrorType
)

TEXT = Base.TEXT
INT = Base.INT
BOOL = Base.BOOL
INSTANT = Base.INSTANT
DURATION = Base.DURATION
ERROR = ErrorType()

LARGEST: int = 2**63 - 1
SMALLEST: int = -(2**63)


def show(kind: Type) -> str:
    """The type as a spec writes it."""
    match kind:
        case Base():
            return kind.value
        case Declared() | RecordType() | ChoiceType():
            return kind.name
        case ListOf(item):
            return f"list[{show(item)}]"
        case Maybe(item):
            return f"{show(item)}?"
        case NoneType():
            return "none"
        case EmptyListType():
            return "list"
        case ErrorType():
            return "?"
        case _:
            assert_never(kind)


def base_of(kind: Type) -> Base | None:
    """What a value of the type is made of; None for records, choices, lists, optionals."""
    match kind:
        case Base():
            return kind
        case Declared():
            return kind.base
        case _:
            return None


def mentions_error(kind: Type) -> bool:
    """Whether a name inside it did not resolve, so that nothing more is said of it."""
    match kind:
        case ErrorType():
            return True
        case ListOf(item) | Maybe(item):
            return mentions_error(item)
        case _:
            return False


_SUMS: dict[tuple[str, Base, Base], Base] = {
    ("+", INT, INT): INT,
    ("+", TEXT, TEXT): TEXT,
    ("+", INSTANT, DURATION): INSTANT,
    ("+", DURATION, INSTANT): INSTANT,
    ("+", DURATION, DURATION): DURATION,
    ("-", INT, INT): INT,
    ("-", INSTANT, INSTANT): DURATION,
    ("-", INSTANT, DURATION): INSTANT,
    ("-", DURATION, DURATION): DURATION,
    ("*", INT, INT): INT,
    ("*", DURATION, INT): DURATION,
    ("*", INT, DURATION): DURATION,
}


def arithmetic(operator: str, left: Type, right: Type) -> Base | None:
    """The type of `left operator right`, always a base type; None when the units forbid it."""
    one, other = base_of(left), base_of(right)
    if one is None or other is None:
        return None
    return _SUMS.get((operator, one, other))


def comparable(left: Type, right: Type, *, ordered: bool) -> bool:
    """Whether two values may meet under `==`, or under `<` when `ordered`.

    Numbers of one declared type also meet plain numbers of its base, because
    arithmetic gives those; two different declared types never meet.
    """
    one, other = base_of(left), base_of(right)
    if one is None or one is not other or (ordered and one is BOOL):
        return False
    if left == right:
        return True
    plain = isinstance(left, Base) or isinstance(right, Base)
    return plain and one not in (TEXT, BOOL)


def in_range(kind: Declared, low: int | None, high: int | None) -> bool:
    """Whether every value from `low` to `high` belongs to the type (None: no bound known)."""
    least, most = kind.low, kind.high
    return (least is None or (low is not None and low >= least)) and (
        most is None or (high is not None and high <= most)
    )
