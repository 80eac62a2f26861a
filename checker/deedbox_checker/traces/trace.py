"""A counterexample as a person reads it: who did what, and only what changed.

A run is a list of worlds and the labels between them; this turns each pair into a
line.  Points are shown as they lie to now, kept issues and keys by their deed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

from deedbox import Due
from msgspec import Struct

from ..environment.environment import Environment
from ..environment.labels import PLAIN, Kind, Label
from ..environment.reaction import Reaction
from ..instance.identity import normal, numbering
from ..instance.model import Model
from ..instance.world import World
from ..time.ranks import live
from .pictures import changes, picture, point

PASSES = "time goes on"


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


@dataclass(slots=True)
class Naming:
    """`names`: the number under which a run speaks of a deed, by its explored number now.

    Deeds are numbered as they come up; `spoken` is the last number that was given.
    """

    names: Mapping[int, int] = field(default_factory=dict[int, int])
    spoken: int = 0

    def go_on(self, numbers: Mapping[int, int], after: World) -> None:
        """A step later; `numbers`: of a deed before it was renumbered, and after."""
        names: dict[int, int] = {}
        for before, explored in sorted(numbers.items()):
            name = self.names.get(before)
            if name is None and after.deed(explored) is not None:
                self.spoken += 1
                name = self.spoken
            if name is not None:
                names[explored] = name
        self.names = names


def lines(
    environment: Environment, worlds: Sequence[World], labels: Sequence[Label]
) -> tuple[Line, ...]:
    """One line for each label; `worlds` has one more."""
    found: list[Line] = []
    reactions = known_reactions(environment, worlds)
    naming = Naming()
    for before, after, label in zip(worlds[:-1], worlds[1:], labels, strict=True):
        raw = raw_world(environment, before, after, label)
        model = environment.of(before).model
        was = picture(model, before, naming.names)
        naming.go_on(renumbering(environment, raw, after), after)
        told = changes(was, picture(environment.of(after).model, after, naming.names))
        told += aside(model, reactions.get(before.state, ()), raw, label)
        words = in_words(model, before, after, label)
        found.append(Line(label.who, words, tuple(Change(*each) for each in told)))
    return tuple(found)


def raw_world(
    environment: Environment, before: World, after: World, label: Label
) -> World | None:
    """What the step made before it was renumbered; None: nothing was."""
    if label.kind not in PLAIN:
        for raw, told in environment.raw_steps(before):
            model = environment.of(raw).model
            if told == label and normal(model, raw) == after:
                return raw
    return None


def renumbering(
    environment: Environment, raw: World | None, after: World
) -> dict[int, int]:
    """The deeds of a step: number before, number after."""
    if raw is None:
        return {deed.number: deed.number for deed in after.deeds}
    return numbering(environment.of(raw).model, raw)


def moved(
    environment: Environment, before: World, after: World, label: Label
) -> dict[int, int]:
    """How the step renumbered the deeds: number before, number after."""
    raw = raw_world(environment, before, after, label)
    return renumbering(environment, raw, after)


# ---- what the worlds do not tell ---------------------------------------------------

Reacted: TypeAlias = tuple[Struct, Reaction]
"""A message, and what came of it."""


def known_reactions(
    environment: Environment, worlds: Sequence[World]
) -> dict[Struct | None, list[Reacted]]:
    """By state, what the reducer was seen to make of messages."""
    found: dict[Struct | None, list[Reacted]] = {world.state: [] for world in worlds}
    for (state, message), reactions in environment.reactions.known.items():
        if state in found:
            found[state] += [(message, reaction) for reaction in reactions]
    return found


def aside(
    model: Model, reactions: Sequence[Reacted], raw: World | None, label: Label
) -> list[tuple[str, str, str]]:
    """What the reducer sends besides what it awaits, or how it fails."""
    for message, reaction in reactions:
        if not is_of(model, message, label):
            continue
        if reaction.raised and "no_exception" in label.broken:
            return [("raises", "", reaction.raised)]
        if raw is not None and reaction.state == raw.state and reaction.commands:
            declared = [model.commands[type(each)] for each in reaction.commands]
            sent = [command.name for command in declared if not command.outcomes]
            return [("sends", "", ", ".join(sent))] if sent else []
    return []


def is_of(model: Model, message: Struct, label: Label) -> bool:
    """Whether the label may be of this message."""
    match label.kind:
        case Kind.START | Kind.MESSAGE:
            return label.text.startswith(type(message).__name__)
        case Kind.DUE | Kind.EARLY:
            return isinstance(message, Due)
        case Kind.TAKE | Kind.LATE:
            return not isinstance(message, Due) and label.subject == model.trigger(
                message
            )
        case _:
            return False


def in_words(model: Model, before: World, after: World, label: Label) -> str:
    if label.kind is Kind.TIME and before.state is not None and after.state is not None:
        now = live(model.points, after.state)
        came = [
            name
            for name, distance in live(model.points, before.state).items()
            if distance > 0 >= now[name]
        ]
        if came and label.text == PASSES:
            told = " and ".join(point(model, name) for name in came)
            return f"{told} comes"
    return label.text
