"""The types that modules declare: aliases with their ranges, records, choices.

A type is made when it is first asked for; one that is asked for while it is being made
would contain itself.
"""

from __future__ import annotations

from typing import assert_never

from .. import syntax
from ..naming import check_fields, named_pascal, taken
from ..problems import Problem
from ..source import Span
from ..types import (
    ERROR,
    Base,
    ChoiceType,
    Declared,
    RecordType,
    Type,
    show,
)
from .work import Work, elsewhere, module_name
from .written import type_of


def declared_type(work: Work, path: str, name: str) -> Type:
    place = path, name
    if place in work.types:
        return work.types[place]
    declaration = work.declared[path][name]
    if place in work.open:
        text = f"`{name}` would contain itself, and no value of it could ever end"
        work.problems.append(Problem("DEED301", declaration.name.span, text))
        return ERROR
    assert isinstance(declaration, syntax.Alias | syntax.Record | syntax.Choice)
    work.open.add(place)
    found = _type_of_declaration(work, path, declaration)
    work.open.discard(place)
    work.types[place] = found
    return found


def _type_of_declaration(
    work: Work, path: str, declaration: syntax.Alias | syntax.Record | syntax.Choice
) -> Type:
    module = module_name(path, work.modules[path])
    match declaration:
        case syntax.Alias(name=name, type=written):
            return _alias(
                work,
                declaration,
                type_written(work, path, written, work.problems),
                module,
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
            assert_never(declaration)


def _alias(work: Work, alias: syntax.Alias, target: Type, module: str) -> Type:
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
    work: Work, path: str, written: tuple[syntax.Field, ...]
) -> tuple[tuple[str, Type], ...]:
    work.problems += check_fields(written)
    return tuple(
        (f.name.text, type_written(work, path, f.type, work.problems)) for f in written
    )


def type_written(
    work: Work, path: str, written: syntax.TypeExpr, problems: list[Problem]
) -> Type:
    def lookup(name: str) -> Type | None:
        source = path if name in work.declared[path] else work.origin[path].get(name)
        if source is None:
            return ERROR if name in work.lost.get(path, ()) else None
        if not source:
            return ERROR
        match work.declared[source][name]:
            case syntax.Alias() | syntax.Record() | syntax.Choice():
                return declared_type(work, source, name)
            case _:
                return None

    known = [*work.declared[path], *work.origin[path]]
    return type_of(written, lookup, known, elsewhere(work, path), problems)
