"""A counterexample as a person reads it: who did what, and only what changed.

A run is a list of worlds and the labels between them; this turns each pair into a
line.  Points are shown as they lie to now, kept issues and keys by their deed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias, cast

from deedbox_dsl import core
from deedbox_dsl.types import Maybe
from msgspec import Struct

from .abstraction import World, normal, numbering
from .environment import PLAIN, Environment, Kind, Label
from .evaluate import phase
from .model import Model
from .points import live

PASSES = "time goes on"
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


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What the lines are told from; `worlds` has one more than `labels`."""

    environment: Environment
    worlds: tuple[World, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """`loop`: the lines that repeat for ever; with `stays`, it stops after the last one."""

    lines: tuple[Line, ...]
    faults: int
    loop: tuple[Line, ...] = ()
    stays: bool = False
    excused: tuple[tuple[str, str], ...] = ()
    run: Run | None = field(default=None, compare=False, repr=False)

    @property
    def lasting(self) -> bool:
        """Whether it goes on for ever, in a loop or where it stays."""
        return bool(self.loop) or self.stays

    def id(self, name: str) -> str:
        """What `deedbox trace` knows the run by that breaks `name`: the same in every process."""
        told = [name, *map(str, self.lines), "for ever", *map(str, self.loop)]
        return sha256("\n".join(told).encode()).hexdigest()[:8]


Names: TypeAlias = dict[int, int]
"""The number under which a trace speaks of a deed, by its number in the explored form."""


def lines(
    environment: Environment, worlds: Sequence[World], labels: Sequence[Label]
) -> tuple[Line, ...]:
    """One line for each label; `worlds` has one more."""
    found: list[Line] = []
    names: Names = {}
    spoken = 0
    for before, after, label in zip(worlds[:-1], worlds[1:], labels, strict=True):
        names_after: Names = {}
        for raw, explored in sorted(moved(environment, before, after, label).items()):
            name = names.get(raw)
            if name is None and after.deed(explored) is not None:
                spoken += 1
                name = spoken
            if name is not None:
                names_after[explored] = name
        told = changes(
            picture(environment.of(before).model, before, names),
            picture(environment.of(after).model, after, names_after),
        )
        words = in_words(environment.of(before).model, before, after, label)
        found.append(Line(label.who, words, told))
        names = names_after
    return tuple(found)


def moved(
    environment: Environment, before: World, after: World, label: Label
) -> dict[int, int]:
    """How the step renumbered the deeds: number before, number after."""
    if label.kind in PLAIN:
        return {deed.number: deed.number for deed in after.deeds}
    for raw, told in environment.raw_steps(before):
        model = environment.of(raw).model
        if told == label and normal(model, raw) == after:
            return numbering(model, raw)
    return {deed.number: deed.number for deed in after.deeds}


def in_words(model: Model, before: World, after: World, label: Label) -> str:
    if label.kind is Kind.TIME and before.state is not None and after.state is not None:
        now = live(model.points, after.state)
        came = [
            name
            for name, distance in live(model.points, before.state).items()
            if distance > 0 >= now[name]
        ]
        if came and label.text == PASSES:
            return f"{' and '.join(came)} comes"
    return label.text


def changes(before: dict[str, str], after: dict[str, str]) -> tuple[Change, ...]:
    """What differs; a field that comes with a new phase is worth a word only if it says something."""
    found: list[Change] = []
    for name, value in after.items():
        was = before.get(name, "")
        if was != value and (was or value not in ("none", "-", "false", "0")):
            found.append(Change(name, was if was != "-" else "", value))
    return tuple(found)


def picture(model: Model, world: World, names: Names) -> dict[str, str]:
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


def own_fields(model: Model, state: Struct, names: Names) -> dict[str, str]:
    given = {field.name for field in (*model.spec.key, *model.spec.given)}
    distances = live(model.points, state)
    fields: tuple[core.Field, ...] = model.fields[phase(state) or ""]
    found: dict[str, str] = {}
    for own in fields:
        if own.name not in given and own.name not in HIDDEN:
            told = told_value(model, state, own, distances.get(own.name), names)
            if told:
                found[own.name] = told
    return found


def told_value(
    model: Model, state: Struct, field: core.Field, distance: int | None, names: Names
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
        case _:
            return ""
