"""Clauses to paste for an event that nobody has decided, and where they would stand.

A clause leads to a state whose fields the event and the state at hand can fill: by
name first, else by the only field of that type.  Where no state can be filled so,
the author knows more than we do, and the block is left open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from .. import core, syntax
from ..problems import Edit, Fix
from ..source import after
from ..types import Maybe

OPEN: Final = "…"


def clause(
    trigger: str,
    fields: Sequence[core.Field],
    bind: str,
    state: core.State,
    machine: core.Machine,
) -> str:
    """`on Retire as m { goto Retired { reason: m.reason } }`."""
    way = _way_out(fields, bind, state, machine)
    named = f" as {bind}" if fields else ""
    return f"on {trigger}{named} {{ {way or OPEN} }}"


def _way_out(
    fields: Sequence[core.Field], bind: str, state: core.State, machine: core.Machine
) -> str | None:
    """The one state that the event could lead to, carrying what the event says."""
    ways: list[str] = []
    for target in machine.states:
        if target.name == state.name or target.awaits is not None:
            continue
        values = [_value(own, fields, bind, state, machine) for own in target.fields]
        said = ", ".join(value for value in values if value is not None)
        if None not in values and (f"{bind}." in said or not fields):
            ways.append(
                f"goto {target.name} {{ {said} }}" if said else f"goto {target.name}"
            )
    return ways[0] if len(ways) == 1 else None


def _value(
    own: core.Field,
    fields: Sequence[core.Field],
    bind: str,
    state: core.State,
    machine: core.Machine,
) -> str | None:
    like = [each for each in fields if _fits(each, own)]
    if any(each.name == own.name for each in like):
        return f"{own.name}: {bind}.{own.name}"
    here = (*machine.key, *machine.given, *state.fields)
    if any(each.name == own.name and each.type == own.type for each in here):
        return own.name
    if len(like) == 1:
        return f"{own.name}: {bind}.{like[0].name}"
    return f"{own.name}: none" if isinstance(own.type, Maybe) else None


def _fits(given: core.Field, wanted: core.Field) -> bool:
    return given.type == wanted.type or Maybe(given.type) == wanted.type


# ---- where ----------------------------------------------------------------------------


def fixes(
    state: core.State,
    written: syntax.Machine,
    offered: Iterable[tuple[str, Sequence[str]]],
) -> tuple[Fix, ...]:
    """The offered clauses as edits, each with its title; those left open are none."""
    last = next(
        (
            item.clauses[-1]
            for item in reversed(written.items)
            if isinstance(item, syntax.Inside)
            and [name.text for name in item.states] == [state.name]
            and item.clauses
        ),
        None,
    )
    if last is None:
        return ()
    block = next(
        item
        for item in written.items
        if isinstance(item, syntax.Inside) and last in item.clauses
    )
    below = last.span.line != block.span.line
    lead = "\n" + " " * (last.span.column - 1) if below else " "
    place = after(last.span)
    return tuple(
        Fix(title, (Edit(place, "".join(lead + each for each in clauses)),))
        for title, clauses in offered
        if not any(OPEN in each for each in clauses)
    )
