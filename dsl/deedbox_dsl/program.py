"""The driver: from the texts of specs to typed machines and every problem found.

It calls the phases in order (parse, resolve, lower, check, flow, migrate) and decides only
what is worth saying: nothing of what a damaged declaration may mean, each problem
once, and no warning that an `allow` speaks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from . import core, syntax
from .allowed import without_allowed
from .check import check
from .collisions import collisions
from .flow import flow
from .kinds import lower
from .names import Scope, resolve
from .parse import read
from .problems import Problem, has_errors, in_order
from .renaming import with_renames
from .source import Text
from .told import declared
from .types import ChoiceType, Declared, RecordType
from .versions import migrate
from .versions.released import Released, released
from .versions.shapes import shape_of


@dataclass(frozen=True, slots=True)
class Program:
    """What specs compile to; `modules` has those without an error, `lowered` every machine.

    `shapes`: those of the machines whose own text is sound, whatever their migrations lack.
    """

    modules: tuple[core.Module, ...]
    lowered: Mapping[tuple[str, str], syntax.Machine]
    problems: tuple[Problem, ...]
    texts: Mapping[str, Text]
    shapes: Mapping[tuple[str, str], core.Shape]


MIGRATING: Final = frozenset({"DEED801", "DEED802"})
"""What may be wrong between two versions while each of them is sound."""

NO_SHAPES: Final[Mapping[str, str]] = MappingProxyType({})


def compile(
    sources: Mapping[str, str], shapes: Mapping[str, str] = NO_SHAPES
) -> Program:
    """Compile specs together; `sources` maps posix paths to what the files say.

    `shapes`: the recorded shapes of released versions, likewise.
    """
    texts = {path: Text.of(path, sources[path]) for path in sorted(sources)}
    readings = {path: read(text) for path, text in texts.items()}
    trees = {path: reading.sound for path, reading in readings.items()}
    lost = {path: reading.lost for path, reading in readings.items() if reading.lost}
    resolution = resolve(trees, lost)
    lowered: dict[tuple[str, str], syntax.Machine] = {}
    machines: dict[str, tuple[core.Machine, ...]] = {}
    recorded, unread = released(shapes)
    meaning: list[Problem] = [*resolution.problems, *unread]
    for path, module in trees.items():
        scope = resolution.scopes[path]
        machines[path] = tuple(_machines(module, scope, recorded, lowered, meaning))
    meaning += collisions(machines)
    problems = [each for reading in readings.values() for each in reading.problems]
    problems += _once(meaning)
    problems = with_renames(without_allowed(trees, problems), trees, texts)
    wrong = {p.span.path for p in problems if has_errors((p,))}
    modules = tuple(
        _module(
            trees[path],
            resolution.scopes[path],
            machines[path],
            resolution.scopes,
            recorded,
        )
        for path in trees
        if wrong.isdisjoint(resolution.scopes[path].sources)
    )
    texts |= {path: Text.of(path, shapes[path]) for path in sorted(shapes)}
    whole = machines.keys() - {
        p.span.path for p in problems if has_errors((p,)) and p.code not in MIGRATING
    }
    known = {
        (path, machine.name): shape_of(machine, resolution.scopes[path].module)
        for path in sorted(whole)
        for machine in machines[path]
    }
    return Program(modules, lowered, in_order(problems), texts, known)


def _machines(
    module: syntax.Module,
    scope: Scope,
    recorded: Released,
    lowered: dict[tuple[str, str], syntax.Machine],
    problems: list[Problem],
) -> Iterator[core.Machine]:
    for kind in module.declarations:
        if not isinstance(
            kind, syntax.Machine | syntax.Retry | syntax.Scan | syntax.Saga
        ):
            continue
        machine, word, wrong = lower(kind, scope)
        problems += wrong
        if machine is None:
            continue
        lowered[scope.path, kind.name.text] = machine
        typed, found = check(machine, word, scope)
        collided = [problem for problem in found if problem.code == "DEED208"]
        if collided:  # every block that names the one state would speak of the other
            problems += collided
            continue
        problems += found
        whole = not has_errors(found)
        problems += flow(typed, machine, whole=whole)
        if whole:
            older = recorded.get((scope.module, typed.name), {})
            migrations, found = migrate(typed, machine, scope, older.values())
            problems += found
            typed = replace(typed, migrations=migrations)
        yield typed


def _once(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Of the problems that one expression causes in several states, the first."""
    seen: set[tuple[str, object]] = set()
    for problem in problems:
        if (problem.code, problem.span) not in seen:
            seen.add((problem.code, problem.span))
            yield problem


def _module(
    module: syntax.Module,
    scope: Scope,
    machines: tuple[core.Machine, ...],
    scopes: Mapping[str, Scope],
    recorded: Released,
) -> core.Module:
    types: list[core.DeclaredType] = []
    ladders: list[core.Ladder] = []
    for declaration in module.declarations:
        name = declaration.name.text
        match declaration:
            case (
                syntax.Alias(doc=doc) | syntax.Record(doc=doc) | syntax.Choice(doc=doc)
            ):
                kind = _declared(scope, name)
                types.append(core.DeclaredType(kind, doc, declaration.name.span))
            case syntax.Policy():
                ladder = scope.policies[name]
                assert ladder is not None
                ladders.append(ladder)
            case _:
                pass
    return core.Module(
        name=scope.module,
        path=scope.path,
        types=tuple(types),
        imported=tuple(_imported(scope, machines, scopes)),
        ladders=tuple(ladders),
        machines=machines,
        sources=(*scope.sources, *_shapes(scope.module, machines, recorded)),
        span=module.span,
    )


def _imported(
    scope: Scope, machines: tuple[core.Machine, ...], scopes: Mapping[str, Scope]
) -> Iterator[tuple[core.TypeDeclaration, str]]:
    """What it imports by name, then what the messages that it tells others are made of."""
    paths = {each.module: path for path, each in scopes.items()}
    own = set(scope.types.values())
    for name, source in scope.imported:
        yield _declared(scopes[source], name), source
    told = [
        each.type for machine in machines for to in machine.told for each in to.fields
    ]
    for kind in dict.fromkeys(declared(told)):
        if kind not in own:
            yield kind, paths[kind.module]


def _shapes(
    module: str, machines: tuple[core.Machine, ...], recorded: Released
) -> Iterator[str]:
    """The paths of the shapes that these machines migrate from."""
    for machine in machines:
        for path, shape in recorded.get((module, machine.name), {}).items():
            if shape.version < machine.version:
                yield path


def _declared(scope: Scope, name: str) -> core.TypeDeclaration:
    kind = scope.types[name]
    assert isinstance(kind, Declared | RecordType | ChoiceType)
    return kind
