"""The types of the language and their algebra.

Durations and instants are integers of milliseconds; an instant counts from the
Unix epoch, UTC.  Two declared types are equal when they are the same
declaration: name and module decide, never their shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


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
