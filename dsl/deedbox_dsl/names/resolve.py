"""The scope of every module: what each bare name means there.

It reads declarations and does not look inside machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .. import core, syntax
from ..policies import ladder
from ..types import (
    ERROR,
    TEXT,
    Type,
)
from .declared import declared_type, type_written
from .imports import (
    declare_module,
    declare_names,
    import_names,
    refuse_cycles,
    sources_of,
)
from .scope import Resolution, Scope, Signature
from .unused import find_unused
from .work import Work, elsewhere, module_name


def resolve(
    modules: Mapping[str, syntax.Module], lost: Mapping[str, frozenset[str]]
) -> Resolution:
    """The scope of every module, by path.

    `lost`: for each damaged module the names that it may declare where it could not
    be read; they mean nothing, and nothing is said of them.
    """
    work = Work(modules, lost)
    for path in sorted(modules):
        declare_module(work, path)
    for path in sorted(modules):
        declare_names(work, path)
    for path in sorted(modules):
        import_names(work, path)
    refuse_cycles(work)
    scopes = {path: _scope(work, path) for path in sorted(modules)}
    find_unused(work)
    return Resolution(scopes, tuple(work.problems))


# ---- scopes --------------------------------------------------------------------


def _scope(work: Work, path: str) -> Scope:
    types: dict[str, Type] = {}
    policies: dict[str, core.Ladder | None] = {}
    machines: dict[str, Signature] = {}
    imported: list[tuple[str, str]] = []
    own = [(name, path) for name in work.declared[path]]
    for name, source in [*own, *work.origin[path].items()]:
        declaration = work.declared[source][name] if source else None
        match declaration:
            case None:
                types[name] = ERROR
                policies[name] = None
            case syntax.Policy():
                policies[name] = _ladder(work, source, name)
            case syntax.Alias() | syntax.Record() | syntax.Choice():
                types[name] = declared_type(work, source, name)
                if source != path:
                    imported.append((name, source))
            case _:
                machines[name] = _signature(work, source, declaration)
    for name in work.lost.get(path, ()):
        if name not in work.declared[path] and name not in work.origin[path]:
            types[name] = ERROR
            policies[name] = None
    name = module_name(path, work.modules[path])
    return Scope(
        name,
        path,
        types,
        policies,
        machines,
        tuple(imported),
        sources_of(work, path),
        elsewhere(work, path),
    )


def _ladder(work: Work, path: str, name: str) -> core.Ladder | None:
    if (path, name) not in work.ladders:
        policy = work.declared[path][name]
        assert isinstance(policy, syntax.Policy)
        found, problems = ladder(policy, module_name(path, work.modules[path]))
        work.ladders[path, name] = found
        work.problems += problems
    return work.ladders[path, name]


def _signature(work: Work, path: str, kind: syntax.Kind) -> Signature:
    if (path, kind.name.text) in work.signatures:
        return work.signatures[path, kind.name.text]

    def fields(written: Iterable[syntax.Field]) -> tuple[core.Field, ...]:
        return tuple(
            core.Field(f.name.text, type_written(work, path, f.type, []), f.doc, f.span)
            for f in written
        )

    messages: dict[str, tuple[core.Field, ...]] = {}
    if isinstance(kind, syntax.Saga):
        messages["Cancel"] = (core.Field("reason", TEXT, None, kind.span),)
    keys: tuple[core.Field, ...] = ()
    given: tuple[core.Field, ...] = ()
    for item in kind.items:
        match item:
            case syntax.Key():
                keys = fields(item.fields)
            case syntax.Given():
                given = fields(item.fields)
            case syntax.Message():
                messages[item.name.text] = fields(item.fields)
            case _:
                pass
    module = module_name(path, work.modules[path])
    found = Signature(module, kind.name.text, keys, given, messages)
    work.signatures[path, kind.name.text] = found
    return found
