"""The finals of a saga: their fields follow from `done` and `undone`.

A field named alone has the type of the value of that name; a field set to an
expression has the type of the expression.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import core, syntax
from ..check.expressions import infer
from ..check.facts import NOTHING
from ..check.place import Place, is_error
from ..names import Scope, resolve_type
from ..problems import Problem
from ..types import EmptyListType, ListOf, Maybe, NoneType, Type, show
from . import trees


def final(
    name: syntax.Name,
    init: syntax.Init | None,
    types: Mapping[str, syntax.TypeExpr],
    scope: Scope,
    problems: list[Problem],
) -> syntax.State:
    """A final state whose fields have the types of their values."""
    fields: list[syntax.Field] = []
    for item in init.items if init is not None else ():
        match item:
            case syntax.Pun(name=own) if own.text in types:
                fields.append(trees.field(own.text, types[own.text], own.span))
            case syntax.Set(name=own, value=syntax.Var(name=source)) if source in types:
                fields.append(trees.field(own.text, types[source], own.span))
            case syntax.Set(name=own, value=value):
                kind = _type_of(value, types, scope, problems)
                if kind is not None:
                    fields.append(trees.field(own.text, kind, own.span))
            case _:
                pass
    return syntax.State(name, tuple(fields), None, final=True, doc=None, span=name.span)


def _type_of(
    value: syntax.Expr,
    types: Mapping[str, syntax.TypeExpr],
    scope: Scope,
    problems: list[Problem],
) -> syntax.TypeExpr | None:
    names: dict[str, core.Expr] = {
        name: core.Read("state", name, resolve_type(kind, scope, []), kind.span)
        for name, kind in types.items()
    }
    found = infer(value, Place(scope, problems, names), NOTHING)
    if is_error(found):
        return None
    if isinstance(found.type, NoneType | EmptyListType):
        text = f"the type of this field cannot be told from `{show(found.type)}`"
        problems.append(Problem("DEED301", value.span, text))
        return None
    return _written(found.type, value)


def _written(kind: Type, at: syntax.Expr) -> syntax.TypeExpr:
    match kind:
        case Maybe(item=item):
            return trees.optional(_written(item, at))
        case ListOf(item=item):
            inner = _written(item, at)
            return syntax.TypeName(trees.name("list", at.span), (inner,), at.span)
        case _:
            return trees.type_name(show(kind), at.span)
