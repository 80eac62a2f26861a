"""The explored form: a concrete instance without what nobody can tell apart.

Data by classes (`domain`), instants by the order of points (`points`), and identity by
role: tickets and deeds are renumbered in their order, one after the other, and what
nothing refers to any more is forgotten.  Pure, and idempotent: the explored form of an
explored form is itself, so real code runs on it, and real instances can be held
against the explored set (`explored_state`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, Literal, TypeAlias, cast

from deedbox.key import key_text
from deedbox_dsl import core
from deedbox_dsl.types import Base, Declared, ListOf, RecordType, Type
from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH
from ..expressions.types import bare, bounds, is_instant, is_int
from ..scans.listing import Pass
from ..time.points import ranked
from .model import Model

VOID: Final = "void"
BORN: Final = "born"
Fate: TypeAlias = Struct | Literal["void"] | None


class Row(StrEnum):
    """The outbox row of the awaited issue.

    `OUT`: handed out.  `SPENT`: handed out once and never again (`unrepeatable`).
    `LOST`: a dead process has it, and nobody takes it over (no row of the protocol).
    """

    NONE = "-"
    OWED = "owed"
    OUT = "handed out"
    SPENT = "handed out, never again"
    LOST = "claimed by a dead process"


class Deed(Struct, frozen=True, cache_hash=True):
    """What the far side knows of one key: undecided (None), its answer, or void.

    `loose`: a hand-out of it is still on its way, and nobody waits for it.
    `started`: it is `unrepeatable`, and was handed out.
    """

    number: int
    command: Struct
    fate: Fate = None
    loose: bool = False
    started: bool = False


class World(Struct, frozen=True, cache_hash=True):
    """One instance, its owed row, and what the far side knows of it.

    `counts` and `stale` follow `Model.counted`: deeds ended so, and deeds forgotten by
    everybody but a hand-out on its way; 2 is more.  `asked`: commands of which an issue
    is no longer awaited, so that a late answer may come.  `passing`: how far the pass
    of a scan has come.  `fresh`: of an older version, no time has passed since its last step.
    `unarmed`: no deadline of it will fire.  `loaded`: the state from which another worker
    is about to make a step.
    """

    state: Struct | None = None
    row: Row = Row.NONE
    deeds: tuple[Deed, ...] = ()
    counts: tuple[int, ...] = ()
    stale: tuple[int, ...] = ()
    asked: frozenset[str] = frozenset()
    passing: Pass | None = None
    fresh: bool = False
    unarmed: bool = False
    loaded: Struct | None = None

    def to(self, state: Struct | None, row: Row, deeds: tuple[Deed, ...]) -> World:
        """The same with these three; `replace` takes thrice as long, and most steps do it."""
        return World(
            state,
            row,
            deeds,
            self.counts,
            self.stale,
            self.asked,
            self.passing,
            self.fresh,
            self.unarmed,
            self.loaded,
        )

    def deed(self, number: int) -> Deed | None:
        for deed in self.deeds:
            if deed.number == number:
                return deed
        return None

    @property
    def open_deed(self) -> Deed | None:
        """The deed of the awaited issue."""
        if self.row is Row.NONE:
            return None
        return self.deed(cast(int, getattr(self.state, "deed_number", 0)))


def exchanged(deeds: tuple[Deed, ...], deed: Deed) -> tuple[Deed, ...]:
    return tuple(deed if one.number == deed.number else one for one in deeds)


# ---- data --------------------------------------------------------------------------


def plain_text(model: Model, type: Type, text: str) -> str:
    if model.deed_of(text) is not None or not model.domain.carried(type):
        return text
    return cast(str, model.domain.one(type))


def explored_value(model: Model, type: Type, value: object) -> object:
    """A value, or the one that stands for it."""
    if value is None:
        return None
    match bare(type):
        case Declared(base=Base.TEXT) | Base.TEXT:
            return plain_text(model, bare(type), cast(str, value))
        case Declared(base=Base.DURATION) | Base.DURATION:
            length = cast(int, value)
            return length if model.domain.ends else model.domain.span(type, length)[0]
        case Declared(base=Base.INSTANT) | Base.INSTANT:
            return EPOCH
        case RecordType(fields=fields):
            struct = cast(Struct, value)
            return with_fields(
                struct,
                **{
                    name: explored_value(model, inner, getattr(struct, name))
                    if model.domain.opened & {type}
                    else carried_value(model, inner, getattr(struct, name))
                    for name, inner in fields
                },
            )
        case ListOf(item):
            listed = cast("tuple[object, ...]", value)
            if type not in model.domain.opened:
                listed = listed[:1]
            return tuple(explored_value(model, item, one) for one in listed)
        case _:
            return value


def carried_value(model: Model, type: Type, value: object) -> object:
    """What a field of a record that nobody opens has."""
    plain = model.domain.one(type)
    return plain if isinstance(plain, str | int | bool) else value


def explored_data(
    model: Model, fields: tuple[core.Field, ...], struct: Struct
) -> dict[str, object]:
    """What of a struct's fields must change to be in explored form, instants left out."""
    changes: dict[str, object] = {}
    seen = model.seen_values
    kind = type(struct)
    for field in fields:
        before = cast(object, getattr(struct, field.name))
        place = (kind, field.name, before)
        if place not in seen:
            seen[place] = explored_field(model, field, before)
        after = seen[place]
        if after is not before and after != before:
            changes[field.name] = after
    return changes


def explored_field(model: Model, field: core.Field, value: object) -> object:
    if is_instant(field.type):
        return value
    if is_int(field.type) and isinstance(value, int):
        return counter(model, field, value)
    return explored_value(model, field.type, value)


def counter(model: Model, field: core.Field, value: int) -> int:
    if field.name not in model.domain.caps:
        return bounds(bare(field.type))[0] or 0
    cap = model.domain.caps[field.name]
    return value if cap is None else min(value, cap)


def explored_own(model: Model, state: Struct, *, exact: bool = False) -> Struct:
    """A state with its data in classes and its instants at ranks; numbers as they are.

    `exact`: instants stay where they are, those long ago at one place.
    """
    name_of_state = type(state).__name__
    fields = model.fields[name_of_state]
    changes = explored_data(model, fields, state)
    for name in (model.unread if exact else model.untold)[name_of_state]:
        if getattr(state, name) not in (None, EPOCH):
            changes[name] = EPOCH
    if changes:
        state = with_fields(state, **changes)
    if exact:
        return shifted(model, state, 0)
    return ranked(model.points, state)


def shifted(model: Model, state: Struct, by: int) -> Struct:
    """The state when `by` milliseconds have passed."""
    oldest = EPOCH - 2 * (model.domain.longest + 1)
    changes: dict[str, int] = {}
    for name in model.read:
        at = cast("int | None", getattr(state, name, None))
        if at is not None:
            changes[name] = max(at - by, oldest)
    return with_fields(state, **changes) if changes else state


def explored_message(model: Model, message: Struct) -> Struct:
    """What comes from outside, in the words in which the explorer sends and answers it."""
    changes: dict[str, object] = {"at": EPOCH}
    for field in model.brought[type(message)]:
        value = cast(object, getattr(message, field.name))
        if is_int(field.type) and value is not None:
            if model.domain.carried(bare(field.type)):
                changes[field.name] = model.domain.one(bare(field.type))
        else:
            changes[field.name] = explored_value(model, field.type, value)
    return with_fields(message, **changes)


def explored_command(model: Model, command: Struct) -> Struct:
    """A command with its data in classes, and without its ticket."""
    fields = model.commands[type(command)].params
    changes: dict[str, object] = {"ticket": 0}
    for field in fields:
        value = cast(object, getattr(command, field.name))
        if is_instant(field.type):
            changes[field.name] = None if value is None else EPOCH
        elif not is_int(field.type):
            changes[field.name] = explored_value(model, field.type, value)
    return with_fields(command, **changes)


# ---- identity ----------------------------------------------------------------------


def references(model: Model, struct: Struct) -> Iterator[int]:
    """The deeds whose keys a struct holds."""
    for name in struct.__struct_fields__:
        value = cast(object, getattr(struct, name))
        if isinstance(value, str) and value.startswith(model.prefix):
            number = model.deed_of(value)
            if number is not None:
                yield number


def renamed(model: Model, struct: Struct, numbers: Mapping[int, int]) -> Struct:
    """The struct with every ticket, deed number and key renumbered."""
    changes: dict[str, object] = {}
    for name in struct.__struct_fields__:
        value = cast(object, getattr(struct, name))
        if name in ("ticket", "deed_number") and isinstance(value, int) and value:
            changes[name] = numbers[value]
        elif isinstance(value, str) and value.startswith(model.prefix):
            deed = model.deed_of(value)
            if deed is not None:
                changes[name] = f"{model.prefix}{numbers[deed]}"
    return with_fields(struct, **changes) if changes else struct


def held(model: Model, state: Struct) -> set[int]:
    """The deeds of which a state holds the number or the key."""
    found = set(references(model, state))
    own = cast("int | None", getattr(state, "deed_number", None))
    return found if own is None else found | {own}


def issued_by(state: Struct) -> int:
    """The last number that a state has given to a ticket or a deed."""
    return cast(int, getattr(state, "issued"))  # noqa: B009  every state has it


def needed(model: Model, world: World) -> set[int]:
    """The deeds that can still be asked for, answered to this instance, or undone.

    So can an undo that is on its way to one of them; of several by one command, which
    would all do the same, the last.  And a deed that was never stored, whose key comes
    again.
    """
    if world.state is None:
        return set()
    own = getattr(world.state, "deed_number", None)
    found = held(model, world.state)
    if world.loaded is not None:
        found |= held(model, world.loaded)
    issued = issued_by(world.state)
    found |= {deed.number for deed in world.deeds if deed.number > issued}
    for deed in world.deeds:
        if deed.number == own:
            found |= set(references(model, deed.command))
    undos: dict[type[Struct], int] = {}
    for deed in world.deeds:
        on_its_way = deed.loose and deed.fate is None and deed.number not in found
        if on_its_way and not found.isdisjoint(references(model, deed.command)):
            undos[type(deed.command)] = deed.number
    return found | set(undos.values())


def numbering(model: Model, world: World) -> dict[int, int]:
    """The explored number of every ticket and deed that is still needed."""
    return numbered(model, world, needed(model, world))


def numbered(model: Model, world: World, kept: set[int]) -> dict[int, int]:
    if world.state is None:
        return {}
    used = set(kept)
    for state in (world.state, world.loaded):
        ticket = cast("int | None", getattr(state, "ticket", None))
        if ticket is not None:
            used.add(ticket)
    for deed in world.deeds:
        if deed.number in kept:
            used |= set(references(model, deed.command))
    return {number: n + 1 for n, number in enumerate(sorted(used))}


def normal(model: Model, world: World) -> World:
    """The world in explored form: unneeded deeds forgotten, all numbers in their order.

    Its state's data and instants are in explored form already.
    """
    if world.state is None:
        return world
    kept = needed(model, world)
    numbers = numbered(model, world, kept)
    loaded = world.loaded
    return with_fields(
        world,
        state=renumbered(model, world.state, numbers),
        loaded=None if loaded is None else renumbered(model, loaded, numbers),
        stale=forgotten(model, world, kept),
        deeds=tuple(
            with_fields(
                deed,
                number=numbers[deed.number],
                command=renamed(model, deed.command, numbers),
            )
            for deed in sorted(world.deeds, key=lambda deed: deed.number)
            if deed.number in kept
        ),
    )


def renumbered(model: Model, state: Struct, numbers: Mapping[int, int]) -> Struct:
    issued = issued_by(state)
    known = sum(number <= issued for number in numbers)
    return with_fields(renamed(model, state, numbers), issued=known)


def forgotten(model: Model, world: World, kept: set[int]) -> tuple[int, ...]:
    """`stale`, with the deeds that only a hand-out on its way still speaks of."""
    stale = list(world.stale)
    for deed in world.deeds:
        if deed.number not in kept and deed.loose and deed.fate is None:
            name = model.commands[type(deed.command)].name
            for n, (command, _) in enumerate(model.counted):
                if command == name:
                    stale[n] = min(stale[n] + 1, 2)
                    break
    return tuple(stale)


def explored_state(model: Model, state: Struct, now: int) -> Struct:
    """The explored form of a state of a real instance, at its logical time `now`.

    Compared texts which no literal names become the spare values of their type, in the
    order in which the state's fields hold them.
    """
    fields = model.fields[type(state).__name__]
    start = model.starts[0]
    key = key_text(*(getattr(state, name) for name in model.machine.key))
    own = f"{model.machine.name}/{key}/{cast(int, getattr(state, BORN))}/"
    spare: dict[tuple[Type, str], str] = {}
    changes: dict[str, object] = {"born": EPOCH}
    for field in fields:
        value = cast(object, getattr(state, field.name))
        if field.name in model.machine.key:
            changes[field.name] = getattr(start, field.name)
        elif value is not None and is_instant(field.type):
            changes[field.name] = cast(int, value) - now + EPOCH
        elif isinstance(value, str) and value.startswith(own):
            changes[field.name] = model.prefix + value[len(own) :]
        elif isinstance(value, str) and value not in model.domain.texts:
            type_ = bare(field.type)
            if not model.domain.carried(type_):
                held = sum(1 for known, _ in spare if known == type_)
                names = [
                    text
                    for text in model.domain.values(type_)
                    if text not in model.domain.texts
                ]
                spare.setdefault(
                    (type_, value), cast(str, names[min(held, len(names) - 1)])
                )
                changes[field.name] = spare[type_, value]
    shifted = explored_own(model, with_fields(state, **changes))
    world = normal(model, World(shifted))
    if world.state is None:
        raise AssertionError
    return world.state
