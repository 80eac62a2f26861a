"""A world as text: what a trace shows of it, and what differs between two of them.

Points are shown as they lie to now, deeds by the numbers under which a trace speaks of
them, records of a scan by their cursor.  What stands for all values says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from deedbox_dsl import core
from deedbox_dsl.types import Maybe
from msgspec import Struct

from ..data.keys import key_fields
from ..expressions.evaluate import phase
from ..instance.model import Model
from ..instance.world import World
from ..time.ranks import live

HIDDEN: Final = frozenset({"born", "issued", "ticket", "deed_number"})
SIZES: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"))


def changes(
    before: dict[str, str], after: dict[str, str]
) -> list[tuple[str, str, str]]:
    """What differs; a field that comes with a new phase is worth a word only if it says something."""
    found: list[tuple[str, str, str]] = []
    for name, value in after.items():
        was = before.get(name, "")
        if was != value and (was or value not in ("none", "-", "false", "0")):
            found.append((name, was if was != "-" else "", value))
    return found


def picture(model: Model, world: World, names: Mapping[int, int]) -> dict[str, str]:
    """Everything of a world that a trace may show, as text."""
    found: dict[str, str] = {}
    if world.state is not None:
        found["phase"] = phase(world.state) or ""
        found |= own_fields(model, world.state, names)
    deed = world.open_deed
    name = ""
    if deed is not None:
        name = f"{command_of(model, deed.command)} #{names.get(deed.number, '?')} "
    found["row"] = f"{name}{world.row.value}" if name else "-"
    if world.unarmed:
        found["wake"] = "lost"
    if world.loaded is not None:
        found["another worker"] = f"at {phase(world.loaded)}"
    for known in world.deeds:
        fate = "undecided"
        if isinstance(known.fate, Struct):
            fate = model.outcomes[type(known.fate)][1]
        elif known.fate is not None:
            fate = known.fate
        if known.loose:
            fate += ", a hand-out on its way"
        found[f"key {names.get(known.number, '?')}"] = fate
    for (command, outcome), many in zip(model.counted, world.counts, strict=False):
        found[f"count({command}.{outcome})"] = "more" if many == 2 else str(many)
    return found


def command_of(model: Model, command: Struct) -> str:
    return model.commands[type(command)].name


def own_fields(model: Model, state: Struct, names: Mapping[int, int]) -> dict[str, str]:
    given = {field.name for field in (*model.spec.key, *model.spec.given)}
    distances = live(model.points, state)
    fields: tuple[core.Field, ...] = model.fields[phase(state) or ""]
    keys = key_fields(model.spec)
    found: dict[str, str] = {}
    for own in fields:
        if own.name not in given and own.name not in HIDDEN:
            told = told_value(model, state, own, distances.get(own.name), names)
            if not told and own.name in keys:
                told = "no key of a deed"
            if told:
                found[point(model, own.name)] = told
    return found


def point(model: Model, name: str) -> str:
    """An instant by the moment at which something asks for it: itself, or a while after."""
    offset = model.points.offsets.get(name, 0)
    sign = "+" if offset > 0 else "-"
    return f"{name} {sign} {duration(abs(offset))}" if offset else name


def duration(span: int) -> str:
    """A length of time as the language writes it."""
    for size, unit in SIZES:
        if not span % size:
            return f"{span // size}{unit}"
    return f"{span}ms"


def told_value(
    model: Model,
    state: Struct,
    field: core.Field,
    distance: int | None,
    names: Mapping[int, int],
) -> str:
    """A field as text; empty when its value stands for all and so says nothing."""
    value = cast(object, getattr(state, field.name))
    deed = model.deed_of(value)
    match value:
        case _ if distance is not None:
            return "ahead" if distance > 0 else "now" if not distance else "come"
        case None:
            return "none"
        case _ if deed is not None:
            return f"key {names.get(deed, '?')}"
        case bool():
            return str(value).lower()
        case int():
            return str(value) if field.name in model.domain.caps else ""
        case str():
            if not value.startswith("a "):
                return value
            return "given" if isinstance(field.type, Maybe) else ""
        case Struct() if model.listing is not None:
            return record(model, value)
        case tuple() if model.listing is not None:
            listed = cast("tuple[object, ...]", value)
            return ", ".join(record(model, one) for one in listed) or "none"
        case _:
            return ""


def record(model: Model, value: object) -> str:
    """A record of a list, by its cursor."""
    listing = model.listing
    return "" if listing is None else str(getattr(value, listing.scanning.by, ""))
