"""The types of an older version that no later one has, and where its module puts them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, assert_never, cast

from deedbox_dsl import core
from deedbox_dsl.source import Span
from deedbox_dsl.types import ChoiceType, Declared, ListOf, Maybe, RecordType, Type
from deedbox_dsl.versions.shapes import fields_of

Named: TypeAlias = Declared | RecordType | ChoiceType


N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class Home:
    """Where a type that the package does not declare any more is declared, and called what."""

    module: str
    name: str


Homes: TypeAlias = Mapping[Type, Home]


def mentioned_in(shape: core.Shape, available: frozenset[Named]) -> tuple[Named, ...]:
    """The types that the version's module names or declares; parts before the whole."""
    found: dict[Named, None] = {}

    def visit(kind: Type) -> None:
        match kind:
            case ListOf(item=item) | Maybe(item=item):
                visit(item)
            case Declared() | RecordType() | ChoiceType():
                if kind not in available:
                    for inner in parts(kind):
                        visit(inner)
                found[kind] = None
            case _:
                pass

    for each in fields_of(shape):
        visit(each.type)
    return tuple(found)


def homes_of(
    shape: core.Shape,
    mentioned: Iterable[Named],
    known: Homes,
    available: frozenset[Named],
    module: str,
) -> dict[Type, Home]:
    """Homes for the types that no later version has.

    One that is called like a type which the module imports gets the version behind it.
    """
    imported = {each.name for each in mentioned if each in available}
    imported |= {known[each].name for each in mentioned if each in known}
    return {
        each: Home(
            module,
            f"{each.name}V{shape.version}" if each.name in imported else each.name,
        )
        for each in mentioned
        if each not in available and each not in known
    }


def parts(kind: Named) -> Iterable[Type]:
    """The types of the fields of a record, or of all variants of a choice."""
    match kind:
        case Declared():
            return ()
        case RecordType(fields=fields):
            return [inner for _, inner in fields]
        case ChoiceType(variants=variants):
            return [inner for _, fields in variants for _, inner in fields]
        case _:
            assert_never(kind)


def retyped(node: N, names: Mapping[Type, Type]) -> N:
    """The tree with its types called otherwise; everything else of it is as it was."""
    if isinstance(node, tuple):
        items = cast("tuple[object, ...]", node)
        return cast("N", tuple(retyped(each, names) for each in items))
    if not dataclasses.is_dataclass(node) or isinstance(node, type | Span):
        return node
    inner = names.get(cast("Type", node), node) if _is_named(node) else node
    changed = {
        each.name: retyped(getattr(inner, each.name), names)
        for each in dataclasses.fields(node)
    }
    return cast("N", dataclasses.replace(cast("Named", inner), **changed))


def _is_named(node: object) -> bool:
    return isinstance(node, Declared | RecordType | ChoiceType)
