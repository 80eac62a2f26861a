"""The type that a spec writes: `list[Line]`, `text?`, `OrderId`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from .. import syntax
from ..naming import unknown
from ..problems import Problem
from ..reserved import BASE_TYPES
from ..types import (
    ERROR,
    Base,
    ListOf,
    Maybe,
    Type,
)
from .scope import Scope, to_import

_A_TEXT: Final = "It is a `text`; a declared type keeps it apart: `type {} = text`."
_ABSENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("map", "dict", "mapping", "hashmap"),
        "There are no maps: write a `record` for the pair, and a `list` of it.",
    ),
    "set": "There are no sets: write `list[text]`.",
    **dict.fromkeys(
        ("optional", "option", "maybe", "nullable"),
        "What may be missing is written with `?`: `text?`.",
    ),
    **dict.fromkeys(
        ("bytes", "binary", "blob"),
        "There are no bytes: keep them elsewhere, and their name as a `text` here.",
    ),
    **{name.lower(): _A_TEXT.format(name) for name in ("Uuid", "Url", "Email", "Json")},
}
"""What there is no type for, and what is written instead."""

_Lookup: TypeAlias = Callable[[str], Type | None]


def resolve_type(
    written: syntax.TypeExpr, scope: Scope, problems: list[Problem]
) -> Type:
    """The type that a spec writes inside a machine."""
    return type_of(written, scope.types.get, scope.types, scope.elsewhere, problems)


def type_of(
    written: syntax.TypeExpr,
    lookup: _Lookup,
    known: Iterable[str],
    elsewhere: Mapping[str, str],
    problems: list[Problem],
) -> Type:
    if isinstance(written, syntax.OptionalType):
        item = type_of(written.item, lookup, known, elsewhere, problems)
        return ERROR if item == ERROR else Maybe(item)
    name, arguments = written.name, written.arguments
    if name.text == "list":
        if len(arguments) != 1:
            text = "`list` takes the type of its items: `list[text]`"
            problems.append(Problem("DEED308", written.span, text))
            return ERROR
        item = type_of(arguments[0], lookup, known, elsewhere, problems)
        return ERROR if item == ERROR else ListOf(item)
    found = Base(name.text) if name.text in BASE_TYPES else lookup(name.text)
    if found is None:
        text = f"there is no type `{name.text}`"
        every = [*known, *BASE_TYPES, "list"]
        instead = to_import(name.text, elsewhere) or _ABSENT.get(name.text.lower(), "")
        problems.append(unknown("DEED201", name, text, every, instead=instead))
        return ERROR
    if arguments:
        text = f"`{name.text}` takes no types in brackets"
        problems.append(Problem("DEED308", written.span, text))
        return ERROR
    return found
