"""What changes for others when one version of a machine takes the place of another.

STORE: rows of the old version, its states and what it owes, read by the new one.
WIRE: what senders send and handlers are given and answer, as documents.
SOURCE: what Python code names that uses the generated package.
A change is listed only where something that worked does not work by itself any more;
a change of STORE may be `migrated`, by the new version's own word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .. import core
from ..source import Span
from ..spelling import pascal
from ..types import ChoiceType, RecordType, show
from .shapes import types_of
from .stored import by_name, reads, same
from .unreadable import became, changed_state, changes, not_copied

Level: TypeAlias = Literal["STORE", "WIRE", "SOURCE"]


@dataclass(frozen=True, slots=True)
class Change:
    """`what` is a sentence without its stop; `place` is where the new, or else the old, says so."""

    level: Level
    what: str
    place: Span
    migrated: bool = False


def diff(
    old: core.Shape, new: core.Shape, migration: core.Migration | None
) -> tuple[Change, ...]:
    """`migration`: the one from `old` in the new spec, when there is a sound one."""
    return (
        *_store(old, new, migration),
        *_wire(old, new),
        *_source(old, new),
    )


def breaks_store(found: Iterable[Change]) -> bool:
    """Whether rows of the old version would be lost on the new one."""
    return any(each.level == "STORE" and not each.migrated for each in found)


# ---- STORE -----------------------------------------------------------------------------


def _store(
    old: core.Shape, new: core.Shape, migration: core.Migration | None
) -> Iterator[Change]:
    written = {each.old for each in migration.states} if migration else set[str]()
    brought = {each.command for each in migration.commands} if migration else set[str]()
    for what, place in changes("the key", old.key, new.key):
        yield Change("STORE", what, place)
    for what, place in changes("the given", old.given, new.given):
        yield Change("STORE", what, place, migration is not None)
    states = {each.name: each for each in new.states}
    for state in old.states:
        migrated = state.name in written
        later = states.get(state.name)
        if later is None:
            what = f"there is no state `{state.name}` any more"
            yield Change("STORE", what, state.span, migrated)
        else:
            for what, place in changed_state(state, later):
                yield Change("STORE", what, place, migrated)
    commands = {each.name: each for each in new.commands}
    for command in old.commands:
        now = commands.get(command.name)
        if now is None:
            what = f"`{command.name}` may still be owed and is not declared any more"
            migrated = migration is not None and bool(command.outcomes)
            yield Change("STORE", what, command.span, migrated)
            continue
        for each in not_copied(command.params, now.params):
            what = f"`{command.name}` may still be owed without `{each.name}`"
            yield Change("STORE", what, each.span, command.name in brought)


# ---- WIRE ------------------------------------------------------------------------------


def _wire(old: core.Shape, new: core.Shape) -> Iterator[Change]:
    yield from _sent("`Start`", (*old.key, *old.given), (*new.key, *new.given))
    messages = {each.name: each for each in new.messages}
    for message in old.messages:
        later = messages.get(message.name)
        if later is None:
            what = f"there is no message `{message.name}` any more"
            yield Change("WIRE", what, message.span)
        else:
            yield from _sent(f"`{message.name}`", message.fields, later.fields)
    commands = {each.name: each for each in old.commands}
    for command in new.commands:
        former = commands.get(command.name)
        if former is None:
            what = f"`{command.name}` needs a handler"
            yield Change("WIRE", what, command.span)
        else:
            yield from _handled(former, command)


def _sent(
    owner: str, old: Iterable[core.Field], new: Iterable[core.Field]
) -> Iterator[Change]:
    """Documents of the old shape, read as the new one."""
    before = by_name(old)
    for each in new:
        if each.name not in before:
            yield Change("WIRE", f"{owner} wants `{each.name}` now", each.span)
        elif not reads(before[each.name].type, each.type):
            was = became(before[each.name].type, each.type)
            yield Change("WIRE", f"`{each.name}` of {owner} {was}", each.span)


def _handled(old: core.Command, new: core.Command) -> Iterator[Change]:
    """What a handler is given, and what it may answer."""
    given = by_name(new.params)
    for each in old.params:
        if each.name not in given:
            what = f"handlers of `{old.name}` are not given `{each.name}` any more"
            yield Change("WIRE", what, each.span)
        elif not reads(given[each.name].type, each.type):
            was = became(each.type, given[each.name].type)
            what = f"`{each.name}`, which handlers of `{old.name}` are given, {was}"
            yield Change("WIRE", what, given[each.name].span)
    ends = {each.name: each for each in new.outcomes}
    for outcome in old.outcomes:
        name = f"`{old.name}.{outcome.name}`"
        if outcome.name not in ends:
            what = f"handlers cannot answer {name} any more"
            yield Change("WIRE", what, outcome.span)
        else:
            yield from _sent(name, outcome.fields, ends[outcome.name].fields)


# ---- SOURCE -----------------------------------------------------------------------------

_Made: TypeAlias = tuple[tuple[core.Field, ...], Span, bool]
"""The fields of a generated class, its place, and whether an application makes values of it."""


def _source(old: core.Shape, new: core.Shape) -> Iterator[Change]:
    classes = dict(_classes(new))
    for name, (fields, place, made) in _classes(old):
        if name not in classes:
            yield Change("SOURCE", f"there is no class `{name}` any more", place)
            continue
        now = by_name(classes[name][0])
        for each in fields:
            if each.name not in now:
                what = f"`{name}` has no `{each.name}` any more"
                yield Change("SOURCE", what, each.span)
            elif show(each.type) != show(now[each.name].type):
                was = became(each.type, now[each.name].type)
                what = f"`{each.name}` of `{name}` {was}"
                yield Change("SOURCE", what, now[each.name].span)
        before = by_name(fields)
        for each in classes[name][0]:
            if made and each.name not in before:
                what = f"`{name}` cannot be made without `{each.name}`"
                yield Change("SOURCE", what, each.span)
    yield from _types(old, new)


def _classes(shape: core.Shape) -> Iterator[tuple[str, _Made]]:
    common = (*shape.key, *shape.given)
    span = shape.states[0].span if shape.states else shape.key[0].span
    yield "Start", (common, span, True)
    for state in shape.states:
        yield state.name, ((*common, *state.fields), state.span, False)
    for message in shape.messages:
        yield message.name, (message.fields, message.span, True)
    for command in shape.commands:
        name = pascal(command.name)
        yield name, (command.params, command.span, False)
        for outcome in command.outcomes:
            made = (outcome.fields, outcome.span, True)
            yield name + pascal(outcome.name), made


def _types(old: core.Shape, new: core.Shape) -> Iterator[Change]:
    """Types by their names in `types.py`; a record or a choice by its parts too."""
    place = new.states[0].span if new.states else new.key[0].span
    later = {each.name: each for each in types_of(new)}
    for each in types_of(old):
        if each.name not in later:
            what = f"`{each.name}` is not a type of this machine any more"
            yield Change("SOURCE", what, place)
        elif isinstance(each, RecordType | ChoiceType) and not same(
            each, later[each.name]
        ):
            yield Change("SOURCE", f"`{each.name}` is made otherwise now", place)
