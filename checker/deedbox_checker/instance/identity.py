"""Identity by role: tickets and deeds renumbered in their order, one after the other.

What nothing refers to any more is forgotten, so that an instance that goes round has
finitely many forms.  A deed is needed as long as it can still be asked for, answered to
this instance, or undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace as with_fields

from .model import Model
from .world import World


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
