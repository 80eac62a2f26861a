"""What comes to an instance from outside: every message and answer, by classes of data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, cast

import msgspec
from deedbox.step import AnyMachine
from deedbox_dsl import core
from msgspec import Struct
from msgspec.structs import fields as struct_fields

from ..data.domain import EPOCH, MOST, Domain
from ..expressions.endless import Endless

TOO_MANY: Final = (
    "its fields have more than {:,} combinations that are told apart, most of them"
    " of `{}`: compare fewer of them, or declare types of their own for those that"
    " never meet"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome that the far side may give, unstamped and without a ticket."""

    command: str
    outcome: str
    message: Struct


def instances(
    struct: type[Struct], fields: Iterable[core.Field], data: Domain
) -> Iterator[Struct]:
    """Every message of a type, its `at` now."""
    types = {each.name: each.type for each in struct_fields(struct)}
    listed = list(fields)
    pools = [data.values(one.type) for one in listed]
    if prod(map(len, pools)) > MOST:
        widest = max(zip(map(len, pools), (one.name for one in listed), strict=True))
        raise Endless(struct.__name__, TOO_MANY.format(MOST, widest[1]))
    for chosen in product(*pools):
        values = {
            one.name: msgspec.convert(plain, types[one.name])
            for one, plain in zip(listed, chosen, strict=True)
        }
        yield struct(**values, at=EPOCH)


def brought_by(
    spec: core.Machine, machine: AnyMachine
) -> dict[type[Struct], tuple[core.Field, ...]]:
    """By message and outcome, what comes with it."""
    found: dict[type[Struct], tuple[core.Field, ...]] = {
        cast("type[Struct]", machine.start_type): (*spec.key, *spec.given)
    }
    messages = {message.name: message.fields for message in spec.messages}
    for struct in cast("tuple[type[Struct], ...]", machine.messages):
        found[struct] = messages[struct.__name__]
    named = {command.name: command for command in spec.commands}
    for command in machine.commands:
        outcomes = named[command.name].outcomes
        for outcome, struct in zip(outcomes, command.outcomes, strict=True):
            found[struct] = outcome.fields
    return found
