"""Older versions made ready to be explored beside the one that is verified.

Each that can be is an environment of its own, over data and instants that are told
apart alike; of one that cannot, the reason is kept, for the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from deedbox.codec import Codec
from deedbox_dsl import core
from msgspec import Struct

from ..data.domain import Domain
from ..environment.environment import Environment, environment
from ..environment.far_side import Undo
from ..environment.labels import Kind
from ..environment.prepared import prepared
from ..environment.promises import PROTOCOL, Promises
from ..environment.reaction import Reactions, reactions
from ..expressions.endless import Endless
from ..expressions.types import bare
from ..instance.model import Model
from ..subjects.kept import Kept
from .joined import joined
from .takeover import UPGRADES, MakesReads, Reads, called, read, version
from .upgrade import Ways, upgrade
from .ways import Way, ways


@dataclass(frozen=True, slots=True)
class Line:
    """`model`: of the version that is verified; `older`: those to explore, with theirs.

    `lost`: by version, why one is not explored.
    """

    model: Model
    older: tuple[tuple[int, Model], ...] = ()
    ways: Ways = field(default_factory=dict[tuple[int, int], dict[str, Way]])
    lost: tuple[tuple[int, str], ...] = ()


def line(spec: core.Machine, module: ModuleType, older: Sequence[Kept]) -> Line | str:
    """All versions over the same classes; a text says why this one is not explored."""
    lost = [(each.version, each.lost) for each in older if each.lost]
    there = [
        (replace(each.machine, properties=(), bounds=core.Bounds()), each.module)
        for each in older
        if each.machine is not None and each.module is not None
    ]
    found: Line | str = "a scan is explored by itself"
    if spec.kind != "scan" and all(machine.kind != "scan" for machine, _ in there):
        found = _together(spec, module, there) if there else found
    if isinstance(found, Line):
        return replace(found, lost=tuple(sorted(lost)))
    made = prepared(spec, module)
    if isinstance(made, str):
        return made
    lost += [(machine.version, found) for machine, _ in there]
    return Line(made, lost=tuple(sorted(lost)))


def _together(
    spec: core.Machine,
    module: ModuleType,
    there: Sequence[tuple[core.Machine, ModuleType]],
) -> Line | str:
    """All of them, or why not."""
    try:
        whole = joined(spec, [machine for machine, _ in there])
        made = prepared(spec, module, whole)
        if isinstance(made, str):
            return made
        models = [made]
        for machine, own in there:
            model = prepared(machine, own, whole)
            if isinstance(model, str):
                return f"version {machine.version}: {model}"
            models.append(model)
        for machine, _ in there:
            other = read_as_other(machine, spec, made.domain)
            if other:
                return other
        between = {
            (older.spec.version, later.spec.version): ways(older, later)
            for older in models
            for later in models
            if older.spec.version < later.spec.version
        }
    except Endless as found:
        return f"`{found.name}`: {found.why}"
    older = tuple((model.spec.version, model) for model in models[1:])
    return Line(made, older, between)


def read_as_other(older: core.Machine, spec: core.Machine, data: Domain) -> str:
    """A field that has another type now, whose values are told apart: they were not."""
    for migration in spec.migrations:
        if migration.older.version != older.version:
            continue
        shape = migration.older
        states = {state.name: state.fields for state in shape.states}
        pairs = [(older.given, shape.given)]
        pairs += [(state.fields, states[state.name]) for state in older.states]
        for own, rebased in pairs:
            becomes = {each.name: bare(each.type) for each in rebased}
            for each in own:
                kind = becomes[each.name]
                if bare(each.type) != kind and not data.carried(kind):
                    return (
                        f"`{each.name}` has another type now, and is told apart by it"
                    )
    return ""


def environs(
    line: Line,
    reacts: Reactions,
    faults: frozenset[Kind],
    undo: Undo = Undo.VOIDS,
    promises: Promises = PROTOCOL,
    reads: MakesReads = Codec,
) -> Environment:
    """The environment of the version that is verified, with the older ones in it."""
    own = environment(line.model, reacts, faults, undo, promises)
    if Kind.UPGRADE not in faults or not line.older:
        return own
    codecs = {
        number: reads(model.machine)
        for number, model in (*line.older, (line.model.spec.version, line.model))
    }
    number = line.model.spec.version
    versions = [version(number, own, codecs[number])]
    for number, model in line.older:
        later = [codec for known, codec in codecs.items() if known > number]
        owes = owed_to(number, model, later)
        there = environment(model, reactions(model, owes=owes), faults, undo)
        versions.append(version(number, there, codecs[number]))
    return replace(own, older=upgrade(versions, line.ways))


def owed_to(
    number: int, model: Model, later: Iterable[Reads]
) -> Callable[[Iterable[Struct]], tuple[str, ...]]:
    """Whether what a step owes, and nobody awaits, can be read by every later version."""
    readers, names = tuple(later), called(model.machine)

    def owes(commands: Iterable[Struct]) -> tuple[str, ...]:
        for command in commands:
            declared = model.commands.get(type(command))
            if declared is None or declared.outcomes:
                continue
            if any(
                read(reader, number, names[type(command)], command) is None
                for reader in readers
            ):
                return (UPGRADES,)
        return ()

    return owes
