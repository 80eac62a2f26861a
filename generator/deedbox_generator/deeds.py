"""The rules of deeds, which stand here and nowhere else.

An issue takes the next number of `issued` as its ticket; `do` makes that number the
deed's too, `repeat` keeps the deed's; a state gone to without asking anew keeps ticket
and deed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deedbox_dsl import core

from . import plan
from .owing import Owables, owed


@dataclass(frozen=True, slots=True)
class Shape:
    """What makes two ways the same."""

    target: str
    asked: tuple[tuple[str, bool], ...]
    """Each command, and whether it is repeated."""


@dataclass(frozen=True, slots=True)
class Use:
    """One clause that goes this way."""

    source: str
    body: core.Body


def shape(use: Use) -> Shape:
    target = use.body.exit.state if isinstance(use.body.exit, core.Goto) else use.source
    return Shape(
        target,
        tuple((each.name, each.repeated) for each in owed(use.body)),
    )


def words_of(shape_: Shape, known: Owables) -> str:
    if not shape_.asked:
        return f"`{shape_.target}`, and nothing new is asked for."
    asked = " and ".join(
        f"`{name}` again, under the key of its open deed"
        if repeated
        else known[name].words
        for name, repeated in shape_.asked
    )
    return f"`{shape_.target}`, and {asked}."


def head_of(
    machine: core.Machine, holder: str, born: str, hidden: Mapping[str, str]
) -> tuple[plan.Value, ...]:
    """What every state begins with, by position; then the hidden fields that some have."""
    common = [f"{holder}.{each.name}" for each in (*machine.key, *machine.given)]
    head = (*common, born, hidden["issued"])
    return (
        *(plan.Value("", each) for each in head),
        *(plan.Value(k, value) for k, value in hidden.items() if k != "issued"),
    )


def hidden_of(state: core.State, shape_: Shape, number: str) -> dict[str, str]:
    """`issued`, and `ticket` and `deed_number` where the state has them."""
    places = {command: at for at, (command, _) in enumerate(shape_.asked)}
    repeated = {command for command, again in shape_.asked if again}
    count = len(shape_.asked)
    values = {"issued": numbered(number, count - 1) if count else "state.issued"}
    if state.awaits is not None:
        at = places.get(state.awaits)
        values["ticket"] = "state.ticket" if at is None else numbered(number, at)
    if state.open_deed is not None:
        at = None if state.open_deed in repeated else places.get(state.open_deed)
        values["deed_number"] = (
            "state.deed_number" if at is None else numbered(number, at)
        )
    return values


def numbered(number: str, at: int) -> str:
    return f"{number} + {at}" if at else number
