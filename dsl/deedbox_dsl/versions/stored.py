"""Whether what one version stored can be read by another: types as documents.

A document knows fields, numbers, texts and the tags of a choice; it knows nothing
of the names of types and modules.  `same` compares two types so.  `reads` asks for
less: whether every document of the one is a document of the other, as it is for a
wider range, for `T?` instead of `T`, and for a record that lost a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .. import core
from ..types import ChoiceType, Declared, ListOf, Maybe, RecordType, Type, base_of


def same(one: Type, other: Type) -> bool:
    """The two have the same documents."""
    return reads(one, other) and reads(other, one) and _parts(one) == _parts(other)


def reads(old: Type, new: Type) -> bool:
    """Every document of `old` is a document of `new`."""
    match old, new:
        case (Maybe(item=inner), Maybe(item=wanted)):
            return reads(inner, wanted)
        case (_, Maybe(item=wanted)):
            return reads(old, wanted)
        case (ListOf(item=inner), ListOf(item=wanted)):
            return reads(inner, wanted)
        case (RecordType(fields=given), RecordType(fields=wanted)):
            return _reads_fields(dict(given), wanted)
        case (ChoiceType(variants=given), ChoiceType(variants=wanted)):
            known = dict(wanted)
            return all(
                name in known and _reads_fields(dict(fields), known[name])
                for name, fields in given
            )
        case _:
            base = base_of(old)
            return base is not None and base is base_of(new) and _within(old, new)


def _reads_fields(
    given: Mapping[str, Type], wanted: Iterable[tuple[str, Type]]
) -> bool:
    return all(name in given and reads(given[name], kind) for name, kind in wanted)


def _within(old: Type, new: Type) -> bool:
    least, most = _ends(new)
    low, high = _ends(old)
    return (least is None or (low is not None and low >= least)) and (
        most is None or (high is not None and high <= most)
    )


def _ends(kind: Type) -> tuple[int | None, int | None]:
    return (kind.low, kind.high) if isinstance(kind, Declared) else (None, None)


def _parts(kind: Type) -> object:
    """The names of fields and variants inside: what `reads` forgives in one direction only."""
    match kind:
        case Maybe(item=item) | ListOf(item=item):
            return type(kind).__name__, _parts(item)
        case RecordType(fields=fields):
            return {name: _parts(inner) for name, inner in fields}
        case ChoiceType(variants=variants):
            return {
                name: {field: _parts(inner) for field, inner in fields}
                for name, fields in variants
            }
        case _:
            return None


def same_fields(one: Iterable[core.Field], other: Iterable[core.Field]) -> bool:
    """The same names with the same documents, in whatever order."""
    left, right = by_name(one), by_name(other)
    return left.keys() == right.keys() and all(
        same(left[name].type, right[name].type) for name in left
    )


def by_name(fields: Iterable[core.Field]) -> dict[str, core.Field]:
    return {each.name: each for each in fields}


def same_state(one: core.State, other: core.State) -> bool:
    """The same document, waiting for the same answer."""
    return (
        one.name == other.name
        and (one.final, one.awaits, one.open_deed)
        == (other.final, other.awaits, other.open_deed)
        and same_fields(one.fields, other.fields)
    )


def same_stored(one: core.Shape, other: core.Shape) -> bool:
    """Whether the two versions store the same states and owe the same commands."""
    states = {each.name: each for each in other.states}
    commands = {each.name: each for each in other.commands}
    return (
        same_fields(one.key, other.key)
        and same_fields(one.given, other.given)
        and [each.name for each in one.key] == [each.name for each in other.key]
        and states.keys() == {each.name for each in one.states}
        and all(same_state(each, states[each.name]) for each in one.states)
        and commands.keys() == {each.name for each in one.commands}
        and all(
            same_fields(each.params, commands[each.name].params)
            for each in one.commands
        )
    )
