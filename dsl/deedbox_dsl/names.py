"""Names across files: modules, imports, types, policies, and whom one may `tell`.

`resolve` reads the declarations of every module and gives each its `Scope`: what
a bare name means there.  It does not look inside machines.  A name that does not
resolve becomes the error type (or None for a policy) and is reported once, here;
nothing that touches it is reported again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TypeAlias

from . import core, syntax
from .naming import check_fields, named_pascal, named_snake, reserved, taken, unknown
from .policies import ladder
from .problems import Edit, Fix, Problem
from .reserved import BASE_TYPES, why_reserved
from .source import Span, after
from .types import (
    ERROR,
    TEXT,
    Base,
    ChoiceType,
    Declared,
    ListOf,
    Maybe,
    RecordType,
    Type,
    show,
)
from .walk import nodes

_Lookup: TypeAlias = Callable[[str], Type | None]


@dataclass(frozen=True, slots=True)
class Signature:
    """What `tell` and `begin` need to know of a machine."""

    module: str
    name: str
    key: tuple[core.Field, ...]
    given: tuple[core.Field, ...]
    messages: Mapping[str, tuple[core.Field, ...]]


@dataclass(frozen=True, slots=True)
class Scope:
    """What the bare names of one module mean; a policy that makes no ladder is None.

    `sources`: its own path, then those of the modules it imports, directly or not, sorted.
    """

    module: str
    path: str
    types: Mapping[str, Type]
    policies: Mapping[str, core.Ladder | None]
    machines: Mapping[str, Signature]
    imported: tuple[tuple[str, str], ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    scopes: Mapping[str, Scope]
    problems: tuple[Problem, ...]


@dataclass(slots=True)
class _Work:
    """What is known so far; every question is answered once and remembered."""

    modules: Mapping[str, syntax.Module]
    lost: Mapping[str, frozenset[str]]
    paths: dict[str, str] = field(default_factory=dict[str, str])
    declared: dict[str, dict[str, syntax.Declaration]] = field(
        default_factory=dict[str, dict[str, syntax.Declaration]]
    )
    origin: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    types: dict[tuple[str, str], Type] = field(
        default_factory=dict[tuple[str, str], Type]
    )
    open: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    ladders: dict[tuple[str, str], core.Ladder | None] = field(
        default_factory=dict[tuple[str, str], core.Ladder | None]
    )
    signatures: dict[tuple[str, str], Signature] = field(
        default_factory=dict[tuple[str, str], Signature]
    )
    problems: list[Problem] = field(default_factory=list[Problem])


def resolve(
    modules: Mapping[str, syntax.Module], lost: Mapping[str, frozenset[str]]
) -> Resolution:
    """The scope of every module, by path.

    `lost`: for each damaged module the names that it may declare where it could not
    be read; they mean nothing, and nothing is said of them.
    """
    work = _Work(modules, lost)
    for path in sorted(modules):
        _declare_module(work, path)
    for path in sorted(modules):
        _declare_names(work, path)
    for path in sorted(modules):
        _import_names(work, path)
    _refuse_cycles(work)
    scopes = {path: _scope(work, path) for path in sorted(modules)}
    _find_unused(work)
    return Resolution(scopes, tuple(work.problems))


def module_name(path: str, module: syntax.Module) -> str:
    return module.name or PurePosixPath(path).stem


# ---- declarations and imports --------------------------------------------------


def _declare_module(work: _Work, path: str) -> None:
    module = work.modules[path]
    name = module_name(path, module)
    if name in work.paths:
        other = work.modules[work.paths[name]].span
        work.problems.append(
            taken(
                name, module.span, other, f"the module name `{name}` is already taken"
            )
        )
    else:
        work.paths[name] = path


def _declare_names(work: _Work, path: str) -> None:
    table: dict[str, syntax.Declaration] = {}
    for declaration in work.modules[path].declarations:
        name = declaration.name
        if name.text in table:
            work.problems.append(
                taken(name.text, name.span, table[name.text].name.span)
            )
            continue
        table[name.text] = declaration
        if isinstance(declaration, syntax.Policy):
            work.problems += named_snake(name, "policy", why_reserved(name.text))
        elif name.text in BASE_TYPES:
            work.problems.append(reserved(name, "a type of the language"))
        else:
            work.problems += named_pascal(name, "declaration")
    work.declared[path] = table


def _import_names(work: _Work, path: str) -> None:
    unnamed = any(
        work.lost[other] and not work.modules[other].name for other in work.lost
    )
    origin: dict[str, str] = {}
    places: dict[str, Span] = {}
    for use in work.modules[path].uses:
        source = work.paths.get(use.module.text)
        if source is None and not unnamed:
            text = f"there is no module `{use.module.text}`"
            others = [name for name, at in work.paths.items() if at != path]
            work.problems.append(unknown("DEED204", use.module, text, others))
        for name in use.names:
            own = work.declared[path].get(name.text)
            if own is not None or name.text in places:
                before = own.name.span if own is not None else places[name.text]
                work.problems.append(taken(name.text, name.span, before))
                continue
            places[name.text] = name.span
            if source is None:
                origin[name.text] = ""
                continue
            known = work.declared[source]
            origin[name.text] = source if name.text in known else ""
            if name.text not in known and name.text not in work.lost.get(source, ()):
                text = f"the module `{use.module.text}` does not declare `{name.text}`"
                work.problems.append(unknown("DEED204", name, text, known))
    work.origin[path] = origin


def _imports(work: _Work, path: str) -> Iterator[tuple[str, Span]]:
    for use in work.modules[path].uses:
        source = work.paths.get(use.module.text)
        if source is not None:
            yield source, use.span


def _refuse_cycles(work: _Work) -> None:
    """Depth-first search; an import of a module that is still open closes a cycle."""
    done: set[str] = set()
    for root in sorted(work.modules):
        trail: list[str] = []
        stack: list[tuple[str, Iterator[tuple[str, Span]]]] = []
        if root not in done:
            trail.append(root)
            stack.append((root, _imports(work, root)))
        while stack:
            path, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                done.add(path)
                trail.pop()
                stack.pop()
                continue
            source, span = step
            if source in trail:
                names = [
                    module_name(p, work.modules[p])
                    for p in trail[trail.index(source) :]
                ]
                circle = " -> ".join(f"`{name}`" for name in [*names, names[0]])
                text = f"these modules import each other: {circle}"
                work.problems.append(Problem("DEED205", span, text))
            elif source not in done:
                trail.append(source)
                stack.append((source, _imports(work, source)))


def _sources(work: _Work, path: str) -> tuple[str, ...]:
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        for source, _ in _imports(work, waiting.pop()):
            if source not in seen and source != path:
                seen.add(source)
                waiting.append(source)
    return (path, *sorted(seen))


# ---- scopes --------------------------------------------------------------------


def _scope(work: _Work, path: str) -> Scope:
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
                types[name] = _declared_type(work, source, name)
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
        name, path, types, policies, machines, tuple(imported), _sources(work, path)
    )


def _ladder(work: _Work, path: str, name: str) -> core.Ladder | None:
    if (path, name) not in work.ladders:
        policy = work.declared[path][name]
        assert isinstance(policy, syntax.Policy)
        found, problems = ladder(policy, module_name(path, work.modules[path]))
        work.ladders[path, name] = found
        work.problems += problems
    return work.ladders[path, name]


def _signature(work: _Work, path: str, kind: syntax.Kind) -> Signature:
    if (path, kind.name.text) in work.signatures:
        return work.signatures[path, kind.name.text]

    def fields(written: Iterable[syntax.Field]) -> tuple[core.Field, ...]:
        return tuple(
            core.Field(f.name.text, _type(work, path, f.type, []), f.doc, f.span)
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


def _declared_type(work: _Work, path: str, name: str) -> Type:
    place = path, name
    if place in work.types:
        return work.types[place]
    declaration = work.declared[path][name]
    if place in work.open:
        text = f"`{name}` would contain itself, and no value of it could ever end"
        work.problems.append(Problem("DEED301", declaration.name.span, text))
        return ERROR
    work.open.add(place)
    found = _type_of_declaration(work, path, declaration)
    work.open.discard(place)
    work.types[place] = found
    return found


def _type_of_declaration(
    work: _Work, path: str, declaration: syntax.Declaration
) -> Type:
    module = module_name(path, work.modules[path])
    match declaration:
        case syntax.Alias(name=name, type=written):
            return _alias(
                work, declaration, _type(work, path, written, work.problems), module
            )
        case syntax.Record(name=name, fields=fields):
            return RecordType(name.text, module, _fields(work, path, fields))
        case syntax.Choice(name=name, variants=variants):
            seen: dict[str, Span] = {}
            for variant in variants:
                if variant.name.text in seen:
                    work.problems.append(
                        taken(
                            variant.name.text,
                            variant.name.span,
                            seen[variant.name.text],
                        )
                    )
                seen[variant.name.text] = variant.name.span
                work.problems += named_pascal(variant.name, "variant")
            return ChoiceType(
                name.text,
                module,
                tuple((v.name.text, _fields(work, path, v.fields)) for v in variants),
            )
        case _:
            return ERROR


def _alias(work: _Work, alias: syntax.Alias, target: Type, module: str) -> Type:
    if target == ERROR:
        return ERROR
    if not isinstance(target, Base):
        text = (
            f"`{alias.name.text}` must be made of text, int, bool, instant or duration"
        )
        work.problems.append(
            Problem("DEED301", alias.type.span, text, label=f"this is {show(target)}")
        )
        return ERROR
    bounds = [bound for bound in (alias.low, alias.high) if bound is not None]
    for bound in bounds:
        wanted = Base.INT if isinstance(bound, syntax.IntLit) else Base.DURATION
        if wanted is not target:
            text = f"a range of {show(target)} cannot have this bound"
            if target not in (Base.INT, Base.DURATION):
                text = f"{show(target)} has no range; only int and duration have"
            work.problems.append(Problem("DEED301", bound.span, text))
            return ERROR
    low, high = (_bound(alias.low), _bound(alias.high))
    if low is not None and high is not None and low > high:
        text = f"the range of `{alias.name.text}` is empty: it ends before it begins"
        work.problems.append(Problem("DEED301", alias.span, text))
        return ERROR
    return Declared(alias.name.text, module, target, low, high)


def _bound(bound: syntax.IntLit | syntax.DurationLit | None) -> int | None:
    match bound:
        case syntax.IntLit(value=value) | syntax.DurationLit(milliseconds=value):
            return value
        case None:
            return None


def _fields(
    work: _Work, path: str, written: tuple[syntax.Field, ...]
) -> tuple[tuple[str, Type], ...]:
    work.problems += check_fields(written)
    return tuple(
        (f.name.text, _type(work, path, f.type, work.problems)) for f in written
    )


def _type(
    work: _Work, path: str, written: syntax.TypeExpr, problems: list[Problem]
) -> Type:
    def lookup(name: str) -> Type | None:
        source = path if name in work.declared[path] else work.origin[path].get(name)
        if source is None:
            return ERROR if name in work.lost.get(path, ()) else None
        if not source:
            return ERROR
        match work.declared[source][name]:
            case syntax.Alias() | syntax.Record() | syntax.Choice():
                return _declared_type(work, source, name)
            case _:
                return None

    known = [*work.declared[path], *work.origin[path]]
    return _resolve_type(written, lookup, known, problems)


def resolve_type(
    written: syntax.TypeExpr, scope: Scope, problems: list[Problem]
) -> Type:
    """The type that a spec writes inside a machine."""
    return _resolve_type(written, scope.types.get, scope.types, problems)


def _resolve_type(
    written: syntax.TypeExpr,
    lookup: _Lookup,
    known: Iterable[str],
    problems: list[Problem],
) -> Type:
    if isinstance(written, syntax.OptionalType):
        item = _resolve_type(written.item, lookup, known, problems)
        return ERROR if item == ERROR else Maybe(item)
    name, arguments = written.name, written.arguments
    if name.text == "list":
        if len(arguments) != 1:
            text = "`list` takes the type of its items: `list[text]`"
            problems.append(Problem("DEED308", written.span, text))
            return ERROR
        item = _resolve_type(arguments[0], lookup, known, problems)
        return ERROR if item == ERROR else ListOf(item)
    found = Base(name.text) if name.text in BASE_TYPES else lookup(name.text)
    if found is None:
        text = f"there is no type `{name.text}`"
        problems.append(unknown("DEED201", name, text, [*known, *BASE_TYPES, "list"]))
        return ERROR
    if arguments:
        text = f"`{name.text}` takes no types in brackets"
        problems.append(Problem("DEED308", written.span, text))
        return ERROR
    return found


# ---- what nobody uses -------------------------------------------------------------


def _used(module: syntax.Module) -> frozenset[str]:
    names: set[str] = set()
    for node in nodes(module.declarations):
        match node:
            case syntax.TypeName(name=name):
                names.add(name.text)
            case syntax.Var(name=text):
                names.add(text)
            case syntax.RetryThen(policy=name) | syntax.RetryForever(policy=name):
                names.add(name.text)
            case syntax.Uses(policy=name):
                names.add(name.text)
            case syntax.Tell(machine=name) | syntax.Begin(machine=name):
                names.add(name.text)
            case _:
                pass
    return frozenset(names)


def _without(use: syntax.Use, name: syntax.Name) -> Span:
    """What to delete for the name: itself and its comma, or the whole import."""
    at = [each.span for each in use.names].index(name.span)
    if len(use.names) == 1:
        return use.span
    if at + 1 < len(use.names):
        return replace(name.span, end=use.names[at + 1].span.start)
    return replace(after(use.names[at - 1].span), end=name.span.end)


def _find_unused(work: _Work) -> None:
    used = {
        path: _used(module) | work.lost.get(path, frozenset())
        for path, module in work.modules.items()
    }
    wanted = {
        (source, name)
        for table in work.origin.values()
        for name, source in table.items()
    }
    for path, module in work.modules.items():
        for use in module.uses:
            for name in use.names:
                if work.origin[path].get(name.text) and name.text not in used[path]:
                    text = f"`{name.text}` is imported and never used"
                    fix = Fix(f"Delete `{name.text}`", (Edit(_without(use, name), ""),))
                    work.problems.append(
                        Problem("DEED206", name.span, text, fixes=(fix,))
                    )
        library = not any(
            isinstance(
                declaration, syntax.Machine | syntax.Retry | syntax.Scan | syntax.Saga
            )
            for declaration in module.declarations
        )
        for declaration in module.declarations:
            if not isinstance(declaration, syntax.Policy) or library:
                continue
            name = declaration.name
            if name.text not in used[path] and (path, name.text) not in wanted:
                text = f"the policy `{name.text}` is never used"
                work.problems.append(Problem("DEED506", name.span, text))
