"""A counterexample as a person reads it: who did what, and only what changed.

A run is a list of worlds and the labels between them; this turns each pair into a
line.  Points are shown as they lie to now, kept issues and keys by their deed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from deedbox_dsl import core
from msgspec import Struct

from .abstraction import World
from .environment import Kind, Label
from .evaluate import phase
from .model import Model
from .points import live

HIDDEN = frozenset({"born", "issued", "ticket", "deed_number"})


@dataclass(frozen=True, slots=True)
class Change:
    """`before` is empty for what was not there, `after` for what is gone."""

    name: str
    before: str
    after: str

    def __str__(self) -> str:
        if not self.before:
            return f"{self.name}: {self.after}"
        return f"{self.name}: {self.before} -> {self.after or '-'}"


@dataclass(frozen=True, slots=True)
class Line:
    who: str
    step: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """`loop`: the lines that repeat for ever; with `stays`, it stops after the last one."""

    lines: tuple[Line, ...]
    faults: int
    loop: tuple[Line, ...] = ()
    stays: bool = False
    excused: tuple[tuple[str, str], ...] = ()


def lines(
    model: Model, worlds: Sequence[World], labels: Sequence[Label]
) -> tuple[Line, ...]:
    """One line for each label; `worlds` has one more."""
    return tuple(
        line(model, before, after, label)
        for before, after, label in zip(worlds[:-1], worlds[1:], labels, strict=True)
    )


def line(model: Model, before: World, after: World, label: Label) -> Line:
    step = label.text
    if label.kind is Kind.TIME and before.state is not None and after.state is not None:
        now = live(model.points, after.state)
        came = [
            name
            for name, distance in live(model.points, before.state).items()
            if distance > 0 >= now[name]
        ]
        step = f"{' and '.join(came)} comes" if came else "time goes on"
    return Line(label.who, step, changes(picture(model, before), picture(model, after)))


def changes(before: dict[str, str], after: dict[str, str]) -> tuple[Change, ...]:
    """What differs; a field that comes with a new phase is worth a word only if it says something."""
    found: list[Change] = []
    for name, value in after.items():
        was = before.get(name, "")
        if was != value and (was or value not in ("none", "-", "False", "0")):
            found.append(Change(name, was, value))
    return tuple(found)


def picture(model: Model, world: World) -> dict[str, str]:
    """Everything of a world that a trace may show, as text."""
    found: dict[str, str] = {}
    if world.state is not None:
        found["phase"] = phase(world.state) or ""
        found |= own_fields(model, world.state)
    deed = world.open_deed
    name = f" {command_of(model, deed.command)} #{deed.number}" if deed else ""
    found["row"] = f"{world.row.value}{name}" if name else "-"
    for known in world.deeds:
        fate = "undecided"
        if isinstance(known.fate, Struct):
            fate = model.outcomes[type(known.fate)][1]
        elif known.fate is not None:
            fate = known.fate
        if known.loose:
            fate += ", a hand-out still on its way"
        found[f"key {known.number}"] = fate
    for (command, outcome), many in zip(model.counted, world.counts, strict=False):
        found[f"count({command}.{outcome})"] = "more" if many == 2 else str(many)
    return found


def command_of(model: Model, command: Struct) -> str:
    return model.commands[type(command)].name


def own_fields(model: Model, state: Struct) -> dict[str, str]:
    given = {field.name for field in (*model.spec.key, *model.spec.given)}
    distances = live(model.points, state)
    fields: tuple[core.Field, ...] = model.fields[phase(state) or ""]
    found: dict[str, str] = {}
    for field in fields:
        name = field.name
        if name in given or name in HIDDEN:
            continue
        value = cast(object, getattr(state, name))
        if name in distances:
            distance = distances[name]
            found[name] = "ahead" if distance > 0 else "now" if not distance else "come"
        elif value is None:
            found[name] = "none"
        elif model.deed_of(value) is not None:
            found[name] = f"key {model.deed_of(value)}"
        elif isinstance(value, str | int) and tells(model, field, value):
            found[name] = str(value)
    return found


def tells(model: Model, field: core.Field, value: object) -> bool:
    """Whether a value is one of several; one that stands for all says nothing."""
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return field.name in model.domain.caps
    return not str(value).startswith("a ")
