"""A released shape in the types of the version that comes after it.

The older version's types are gone from the spec; its stored values are not.
Wherever a value of an older field can be read as the field of that name in the
state it becomes, the older field takes that type, and may then be copied.  What is
left keeps its own type, unless the later version declares one of that name with
the same documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from .. import core
from ..types import ChoiceType, Declared, ListOf, Maybe, RecordType, Type
from .shapes import types_of
from .stored import by_name, reads, same


def rebase(
    older: core.Shape, target: core.Shape, becomes: Mapping[str, str]
) -> core.Shape:
    """`becomes`: the state of `target` that each older state becomes, as far as it is known."""
    known: dict[str, Type] = {each.name: each for each in types_of(target)}
    states = {each.name: each for each in target.states}
    commands = {each.name: each for each in target.commands}

    def fields(
        own: tuple[core.Field, ...], wanted: Iterable[core.Field]
    ) -> tuple[core.Field, ...]:
        later = by_name(wanted)
        return tuple(
            replace(each, type=_adopted(each.type, later.get(each.name), known))
            for each in own
        )

    def state(own: core.State) -> core.State:
        later = states.get(becomes.get(own.name, own.name))
        return replace(own, fields=fields(own.fields, later.fields if later else ()))

    def command(own: core.Command) -> core.Command:
        later = commands.get(own.name)
        return replace(own, params=fields(own.params, later.params if later else ()))

    return replace(
        older,
        key=fields(older.key, target.key),
        given=fields(older.given, target.given),
        states=tuple(state(each) for each in older.states),
        commands=tuple(command(each) for each in older.commands),
    )


def _adopted(own: Type, later: core.Field | None, known: Mapping[str, Type]) -> Type:
    if later is not None and reads(own, later.type):
        return later.type
    return _named(own, known)


def _named(own: Type, known: Mapping[str, Type]) -> Type:
    match own:
        case Maybe(item=item):
            return Maybe(_named(item, known))
        case ListOf(item=item):
            return ListOf(_named(item, known))
        case Declared(name=name) | RecordType(name=name) | ChoiceType(name=name):
            later = known.get(name)
            return later if later is not None and same(own, later) else own
        case _:
            return own
