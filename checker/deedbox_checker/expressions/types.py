"""What a type is underneath its name and its `none`."""

from __future__ import annotations

from deedbox_dsl.types import Base, Declared, Maybe, Type


def bare(type: Type) -> Type:
    """The type of a value that is there."""
    return type.item if isinstance(type, Maybe) else type


def bounds(type: Type) -> tuple[int | None, int | None]:
    """The least and the largest value that a declaration allows."""
    return (type.low, type.high) if isinstance(type, Declared) else (None, None)


def base_of(type: Type) -> Base | None:
    """What a value is stored as; None: a record, a choice, or a list."""
    match bare(type):
        case Declared(base=base) | (Base() as base):
            return base
        case _:
            return None


def is_int(type: Type) -> bool:
    return base_of(type) is Base.INT


def is_instant(type: Type) -> bool:
    return base_of(type) is Base.INSTANT


def is_length(type: Type) -> bool:
    return base_of(type) is Base.DURATION
