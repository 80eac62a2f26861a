"""What a type is underneath its name and its `none`."""

from __future__ import annotations

from deedbox_dsl.types import Base, Declared, Maybe, Type


def bounds(type: Type) -> tuple[int | None, int | None]:
    return (type.low, type.high) if isinstance(type, Declared) else (None, None)


def bare(type: Type) -> Type:
    return type.item if isinstance(type, Maybe) else type


def is_int(type: Type) -> bool:
    match bare(type):
        case Declared(base=Base.INT) | Base.INT:
            return True
        case _:
            return False


def is_instant(type: Type) -> bool:
    match bare(type):
        case Declared(base=Base.INSTANT) | Base.INSTANT:
            return True
        case _:
            return False


def is_length(type: Type) -> bool:
    match bare(type):
        case Declared(base=Base.DURATION) | Base.DURATION:
            return True
        case _:
            return False
