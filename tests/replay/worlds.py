"""Random values of generated structs, from their own annotations."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

T = TypeVar("T", bound=msgspec.Struct)
LARGEST = 2**53
"""Of a number without bounds: far from where 64 bits end."""


def structs(kind: type[T]) -> st.SearchStrategy[T]:
    """Any instance of `kind` that would decode."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    fields = {field.name: _values(field.type) for field in info.fields}
    return st.builds(kind, **fields)


def any_of(kinds: tuple[type[T], ...]) -> st.SearchStrategy[T]:
    return st.one_of([structs(kind) for kind in kinds])


def _values(info: inspect.Type) -> st.SearchStrategy[Any]:
    match info:
        case inspect.IntType():
            low = -LARGEST if info.ge is None else info.ge
            return st.integers(low, LARGEST if info.le is None else info.le)
        case inspect.StrType():
            return st.text(max_size=8)
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.UnionType():
            return st.one_of([_values(each) for each in info.types])
        case inspect.VarTupleType():
            return st.lists(_values(info.item_type), max_size=3).map(tuple)
        case inspect.StructType():
            return structs(info.cls)
        case _:
            raise AssertionError(f"no generated field has the type {info}")
