"""Types of the language as annotations of Python.

A distinct type is a `NewType`, so a computed value must be wrapped where it is
stored (`wrapper`); a ranged type is an alias of its base that a decoder checks.
Lists are tuples, so every generated value is immutable and hashable.
"""

from __future__ import annotations

from typing import assert_never

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

_BASES = {
    Base.TEXT: "str",
    Base.INT: "int",
    Base.BOOL: "bool",
    Base.INSTANT: "Instant",
    Base.DURATION: "Duration",
}


def annotation(type_: Type, *, outside: bool = False) -> str:
    """`outside`: the value comes from elsewhere, so a negative duration is refused."""
    match type_:
        case Base():
            return _unsigned(_BASES[type_], type_, outside=outside)
        case Declared():
            if is_ranged(type_):
                return type_.name
            return _unsigned(type_.name, type_.base, outside=outside)
        case RecordType() | ChoiceType():
            return type_.name
        case ListOf():
            return f"tuple[{annotation(type_.item, outside=outside)}, ...]"
        case Maybe():
            return f"{annotation(type_.item, outside=outside)} | None"
        case NoneType() | EmptyListType() | ErrorType():
            raise AssertionError(f"a field cannot have the type {type_}")
        case _:
            assert_never(type_)


def wrapper(type_: Type) -> str | None:
    """The `NewType` that a computed value needs, where the type has one."""
    match type_:
        case Base.INSTANT | Base.DURATION:
            return _BASES[type_]
        case Declared():
            return wrapper(type_.base) if is_ranged(type_) else type_.name
        case Maybe():
            return wrapper(type_.item)
        case _:
            return None


def base_of(type_: Type) -> Type:
    """What a declared type is made of; any other type itself."""
    return type_.base if isinstance(type_, Declared) else type_


def is_ranged(type_: Declared) -> bool:
    return type_.low is not None or type_.high is not None


def _unsigned(name: str, base: Base, *, outside: bool) -> str:
    if outside and base is Base.DURATION:
        return f"Annotated[{name}, Meta(ge=0)]"
    return name
