"""What blocks ask for: commands, and messages to other machines, under keys of their own.

Both stand in the generated module as structs that begin with an idempotency key and a
ticket, so whoever makes one need not know which it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from deedbox_dsl import core
from deedbox_dsl.spelling import snake, told
from deedbox_dsl.types import Base

from .annotations import base_of
from .naming import command_class


@dataclass(frozen=True, slots=True)
class Owable:
    """What a block may ask for: a command, or a message that it tells another machine.

    `key` are the first of `params`: that of the other machine's instance, which stands
    in the struct as one text.
    """

    struct: str
    key: tuple[core.Field, ...]
    params: tuple[core.Field, ...]
    part: str
    words: str


Owables: TypeAlias = Mapping[str, Owable]


def owables(machine: core.Machine) -> dict[str, Owable]:
    """By the names that `owed` gives to what is asked for."""
    found = {
        each.name: Owable(
            command_class(each.name),
            (),
            each.params,
            each.name,
            f"a new deed of `{each.name}`",
        )
        for each in machine.commands
    }
    for each in machine.told:
        struct = told(each.machine, each.message)
        begins = each.message is None
        found[struct] = Owable(
            struct,
            () if begins else each.key,
            each.fields if begins else (*each.key, *each.fields),
            snake(struct),
            f"a new `{each.machine}`"
            if begins
            else f"`{each.message}` for `{each.machine}`",
        )
    return found


@dataclass(frozen=True, slots=True)
class Owed:
    """One thing that a block asks for; `arguments` in the order of the `params`."""

    name: str
    repeated: bool
    arguments: tuple[core.Expr, ...]


def sets(body: core.Body) -> tuple[core.Set, ...]:
    return () if isinstance(body.exit, core.Reject) else body.exit.fields


def owed(body: core.Body) -> tuple[Owed, ...]:
    """What a block asks for, in the order in which it says so."""
    return tuple(map(_owed, body.issues))


def _owed(issue: core.Issue) -> Owed:
    match issue:
        case core.Do():
            return Owed(issue.command, False, issue.arguments)
        case core.Repeat():
            return Owed(issue.command, True, issue.arguments)
        case core.Tell():
            values = (*issue.key, *(each.value for each in issue.fields))
            return Owed(told(issue.machine, issue.message), False, values)
        case core.Begin():
            values = (*issue.key, *(each.value for each in issue.fields))
            return Owed(told(issue.machine, None), False, values)
        case _:
            assert_never(issue)


# ---- keys ------------------------------------------------------------------------


def key_prefix(machine: core.Machine, holder: str) -> str:
    """The machine and the instance's canonical id, inside an f-string."""
    fields = [f"{holder}.{each.name}" for each in machine.key]
    return f"{machine.name}/{{{key_id(machine.key, fields)}}}"


def key_id(key_: tuple[core.Field, ...], values: Sequence[str]) -> str:
    """The canonical text of a key: the text itself for one text field."""
    if len(key_) == 1 and base_of(key_[0].type) is Base.TEXT:
        return values[0]
    return f"key_text({', '.join(values)})" if values else ""


def addressed(owable: Owable, arguments: list[str]) -> list[str]:
    """The arguments, with the key of another machine's instance as its canonical text."""
    count = len(owable.key)
    return [*filter(None, [key_id(owable.key, arguments[:count])]), *arguments[count:]]
