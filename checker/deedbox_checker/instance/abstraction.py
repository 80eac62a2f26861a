"""The explored form: a concrete instance without what nobody can tell apart.

Data by classes (`domain`), instants by the order of points (`points`), and identity by
role (`identity`).  Pure, and idempotent: the explored form of an explored form is
itself, so real code runs on it, and real instances can be held against the explored set
(`explored_state`).
"""

from __future__ import annotations

from typing import Final, cast

from deedbox.key import key_text
from deedbox_dsl import core
from deedbox_dsl.types import Base, Declared, ListOf, RecordType, Type
from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH
from ..expressions.types import bare, bounds, is_instant, is_int
from ..time.ranks import ranked
from .identity import numbering, renumbered
from .model import Model
from .world import World

BORN: Final = "born"


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


def transplanted(model: Model, state: Struct, now: int) -> Struct:
    """A state as if its instance were the one that is explored.

    With its key, its birth and its deeds, and with times as they lie to `now`.
    """
    start = model.starts[0]
    key = key_text(*(getattr(state, name) for name in model.machine.key))
    prefix = f"{model.machine.name}/{key}/{cast(int, getattr(state, BORN))}/"
    changes: dict[str, object] = {BORN: EPOCH}
    for field in model.fields[type(state).__name__]:
        value = cast(object, getattr(state, field.name))
        if field.name in model.machine.key:
            changes[field.name] = getattr(start, field.name)
        elif value is not None and is_instant(field.type):
            changes[field.name] = cast(int, value) - now + EPOCH
        elif isinstance(value, str) and value.startswith(prefix):
            changes[field.name] = model.prefix + value.removeprefix(prefix)
    return with_fields(state, **changes)


def by_itself(model: Model, state: Struct) -> Struct:
    """The explored form of a state of the explored instance, whose environment nobody knows."""
    own = explored_own(model, state)
    return renumbered(model, own, numbering(model, World(own)))


def explored_state(model: Model, state: Struct, now: int) -> Struct:
    """The explored form of a state of a real instance, at its logical time `now`.

    Compared texts which no literal names become the spare values of their type, in the
    order in which the state's fields hold them.
    """
    state = transplanted(model, state, now)
    spared: dict[Type, dict[str, str]] = {}
    changes: dict[str, object] = {}
    for field in model.fields[type(state).__name__]:
        value, kind = cast(object, getattr(state, field.name)), bare(field.type)
        if (
            isinstance(value, str)
            and field.name not in model.machine.key
            and model.deed_of(value) is None
            and value not in model.domain.texts
            and not model.domain.carried(kind)
        ):
            known = spared.setdefault(kind, {})
            known.setdefault(value, spare_text(model, kind, len(known)))
            changes[field.name] = known[value]
    return by_itself(model, with_fields(state, **changes))


def spare_text(model: Model, kind: Type, number: int) -> str:
    """A value of a compared type that no literal names; where they run out, the last."""
    spare = [v for v in model.domain.values(kind) if v not in model.domain.texts]
    return cast(str, spare[min(number, len(spare) - 1)])
