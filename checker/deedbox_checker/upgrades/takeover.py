"""One instance taken over by a process of a later version: the transaction, explored.

State and owed commands are read as they are stored, by the codec that will read them;
the row is kept, withdrawn or owed anew as the interpreter does it.  What the far side
has said is told in the words of the later version, and what the older process had in
hand is given back or goes on alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Protocol, TypeAlias, cast

import msgspec
from deedbox import Due, Instant
from deedbox.codec import Codec
from deedbox.documents import text
from deedbox.step import AnyMachine
from deedbox.upcast import Upcast
from msgspec import Struct
from msgspec.structs import replace

from ..data.domain import EPOCH
from ..environment.environment import Environment
from ..environment.interpreter import Effect
from ..environment.labels import Kind, Label
from ..environment.reaction import Reaction
from ..instance.abstraction import explored_command, explored_own
from ..instance.model import Model
from ..instance.outside import Answer
from ..instance.world import Deed, Row, World, exchanged
from ..properties.unasked import issue_bounds
from ..time.distances import realised
from .ways import Way

UPGRADES = "upgrades"
SAID = "every state and owed command of an older version becomes one of a newer"
"""A check that needs no spec author, and what it says when it holds."""


class Reads(Protocol):
    """How a process reads what is stored: a `Codec`."""

    def state(self, version: int, document: str, at: int) -> Upcast: ...
    def command(self, version: int, name: str, document: str) -> Struct: ...


MakesReads: TypeAlias = Callable[[AnyMachine], Reads]


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A version as it is explored; `reads`: how its processes read what older ones stored.

    `called`: what its commands are called in a store; `counters`: fields that count issues;
    `known` and `becomes`: commands and states of older versions, as they have been read.
    """

    number: int
    environment: Environment
    reads: Reads
    called: Mapping[type[Struct], str]
    counters: Mapping[str, int]
    known: dict[tuple[int, Struct], Struct | None] = field(
        default_factory=dict[tuple[int, Struct], Struct | None]
    )
    becomes: dict[tuple[int, Struct], tuple[tuple[Struct, Upcast | None], ...]] = field(
        default_factory=dict[
            tuple[int, Struct], tuple[tuple[Struct, Upcast | None], ...]
        ]
    )

    @property
    def model(self) -> Model:
        return self.environment.model


def version(number: int, environment: Environment, reads: Reads) -> Version:
    counters: dict[str, int] = {}
    for fields in issue_bounds(environment.model.spec).values():
        for name, most in fields:
            counters[name] = max(most, counters.get(name, 0))
    names = called(environment.model.machine)
    return Version(number, environment, reads, names, counters)


def taken_over(
    older: Version, later: Version, world: World, way: Way
) -> Iterator[tuple[World, tuple[str, ...]]]:
    """What may become of an instance, and what that breaks."""
    state = world.state
    assert state is not None
    place = (older.number, state)
    if place not in later.becomes:
        later.becomes[place] = tuple(upcasts(older, later, state, way))
    for was, found in later.becomes[place]:
        if found is None:
            yield world, (UPGRADES,)
        else:
            yield from _written(older, later, world, was, found)


def _written(
    older: Version, later: Version, world: World, state: Struct, found: Upcast
) -> Iterator[tuple[World, tuple[str, ...]]]:
    """The transaction in which an older row is written anew."""
    model, broken = later.model, tuple(_falls(older, later, state, found.state))
    after = found.state
    if msgspec.json.decode(msgspec.json.encode(after), type=type(after)) != after:
        broken += (UPGRADES,)
    kept = world.row is not Row.NONE and found.withdrawn is None
    deeds, asked, row = world.deeds, world.asked, world.row
    open_deed = world.open_deed
    if world.row is not Row.NONE and not kept:
        if Kind.LATE in later.environment.interpreter.faults:
            asked |= {older.environment.interpreter.awaited_command(world)}
        if row is Row.OUT and open_deed is not None and open_deed.fate is None:
            deeds = exchanged(deeds, replace(open_deed, loose=True))
        row = Row.NONE
    carried: list[list[tuple[Deed, tuple[str, str] | None]]] = []
    for deed in deeds:
        command = _command(older, later, deed.command)
        if command is not None:
            carried.append(list(_told_anew(older, later, deed, command)))
        elif kept and open_deed is not None and deed.number == open_deed.number:
            yield world, (UPGRADES,)
            return
    asked = frozenset(name for name in asked if name in model.answers)
    reaction = Reaction(explored_own(model, after), tuple(found.owed), broken=broken)
    label = Label(Kind.UPGRADE, "worker", "")
    effect = Effect(None, reaction, label, Due(Instant(EPOCH)))
    for chosen in product(*carried):
        counts = world.counts
        for _, pair in chosen:
            counts = tuple(
                min(many + 1, 2) if pair == known else many
                for many, known in zip(counts, model.counted, strict=True)
            )
        carried_over = tuple(deed for deed, _ in chosen)
        for left, its in _held(row, open_deed, carried_over, model):
            before = World(None, left, its, counts, world.stale, asked)
            yield later.environment.interpreter.committed(before, effect)


def upcasts(
    older: Version, later: Version, state: Struct, way: Way
) -> Iterator[tuple[Struct, Upcast | None]]:
    """What the stored state is in the later version; None: nothing, the row is parked."""
    steps = realised(older.model.points, state, way.look, Due(Instant(EPOCH)))
    for each in dict.fromkeys(steps):
        assert each.state is not None
        later.model.spread.drawn = dict(each.delays)
        try:
            found = later.reads.state(older.number, text(each.state), EPOCH)
        except Exception:
            found = None
        yield each.state, found


def _command(older: Version, later: Version, command: Struct) -> Struct | None:
    """A command as it is owed in the later version, in its explored form."""
    place = (older.number, command)
    if place not in later.known:
        found = read(later.reads, older.number, older.called[type(command)], command)
        later.known[place] = (
            None if found is None else explored_command(later.model, found)
        )
    return later.known[place]


def read(reads: Reads, version: int, name: str, command: Struct) -> Struct | None:
    """A command that a version owes, as another reads it; None: its row is parked."""
    try:
        return reads.command(version, name, text(command))
    except Exception:
        return None


def called(machine: AnyMachine) -> dict[type[Struct], str]:
    """What the rows of a machine's commands are called."""
    types = Codec(machine).command_types
    return {struct: each.name for struct, each in types.items()}


def _told_anew(
    older: Version, later: Version, deed: Deed, command: Struct
) -> Iterator[tuple[Deed, tuple[str, str] | None]]:
    """A deed with its answer in the words of the later version, and what that is counted as.

    An ending that the later version does not know is told as any that it knows: that
    is what the line `command c { … }` in a migration says of its handler.
    """
    fate = deed.fate
    if not isinstance(fate, Struct):
        yield replace(deed, command=command), None
        return
    name, outcome = older.model.outcomes[type(fate)]
    answers = later.model.answers[name]
    same = [each for each in answers if each.outcome == outcome]
    for answer in _closest(fate, same) if same else answers:
        pair = None if same else (name, answer.outcome)
        yield replace(deed, command=command, fate=answer.message), pair


def _closest(fate: Struct, answers: Sequence[Answer]) -> Sequence[Answer]:
    """Those which say the same, as far as both have a field for it; or all."""

    def agrees(answer: Answer) -> bool:
        return all(
            msgspec.to_builtins(getattr(fate, name))
            == msgspec.to_builtins(getattr(answer.message, name))
            for name in answer.message.__struct_fields__
            if name in fate.__struct_fields__
        )

    return [each for each in answers if agrees(each)] or answers


def _held(
    row: Row, open_deed: Deed | None, deeds: tuple[Deed, ...], model: Model
) -> Iterator[tuple[Row, tuple[Deed, ...]]]:
    """A row that was handed out: by the newer process, or by an older one.

    The answer that an older process has in hand is given back, and the row is handed out
    again; its hand-out is on its way all the same.
    """
    yield row, deeds
    for each in deeds:
        if row is Row.OUT and open_deed is not None and each.number == open_deed.number:
            left = Row.OWED
            if model.commands[type(each.command)].unrepeatable:
                left = Row.SPENT
            loose = replace(each, loose=each.loose or each.fate is None)
            yield left, exchanged(deeds, loose)


def _falls(
    older: Version, later: Version, before: Struct, after: Struct
) -> Iterator[str]:
    """A count of issues that starts anew: the policy is exceeded, whatever follows."""
    for name in older.counters.keys() & later.counters.keys():
        was, now = getattr(before, name, None), getattr(after, name, None)
        if was is not None and now is not None and cast(int, now) < cast(int, was):
            yield "issues_are_bounded"
            return
