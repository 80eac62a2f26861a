"""Types, fields and expressions of the parse tree, as syntax.

It recurses as deep as an expression is nested, which `piece.py` has bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

from .. import syntax as s
from .tree_nodes import (
    Place,
    child,
    child_if_any,
    children,
    doc_of,
    duration_literal,
    integer_of,
    name_of,
    string_of,
    tokens,
    trees,
)

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

T = TypeVar("T")


def _type(node: Node, at: Place) -> s.TypeExpr:
    if node.data == "optional_type":
        return s.OptionalType(_type_name(trees(node)[0], at), at.of(node))
    return _type_name(node, at)


def _type_name(node: Node, at: Place) -> s.TypeName:
    arguments = tuple(_type(each, at) for each in trees(node))
    return s.TypeName(name_of(node, at), arguments, at.of(node))


def own_type_of(node: Node, at: Place) -> s.TypeExpr:
    return next(
        _type(each, at)
        for each in trees(node)
        if each.data in ("base_type", "optional_type")
    )


def field_of(node: Node, at: Place) -> s.Field:
    *_, last = trees(node)
    given = last.data not in ("base_type", "optional_type")
    value = expr_of(last, at) if given else None
    return s.Field(
        name_of(node, at), own_type_of(node, at), value, doc_of(node), at.of(node)
    )


def own_fields_of(node: Node, at: Place) -> tuple[s.Field, ...]:
    return tuple(field_of(each, at) for each in children(node, "field"))


def fields_of(node: Node, at: Place) -> tuple[s.Field, ...]:
    fields = child_if_any(node, "fields")
    return () if fields is None else own_fields_of(fields, at)


def params_of(node: Node, at: Place) -> tuple[s.Field, ...]:
    return own_fields_of(child(node, "params"), at)


_BINARY: Final[dict[str, s.Operator]] = {
    "implies": "implies",
    "either": "or",
    "both": "and",
    "plus": "+",
    "minus": "-",
    "times": "*",
}


def expr_of(node: Node, at: Place) -> s.Expr:
    span = at.of(node)
    operands = trees(node)
    match node.data:
        case "variable":
            return s.Var(str(tokens(node)[0]), span)
        case "integer":
            token = tokens(node)[0]
            return s.IntLit(integer_of(token), span, str(token))
        case "duration":
            return duration_literal(tokens(node)[0], at)
        case "text":
            return s.TextLit(string_of(node), span)
        case "true" | "false":
            return s.BoolLit(node.data == "true", span)
        case "none":
            return s.NoneLit(span)
        case "now":
            return s.Now(span)
        case "empty_list":
            return s.EmptyList(span)
        case "member":
            return s.Member(expr_of(operands[0], at), name_of(node, at), span)
        case "call":
            target, *arguments = operands
            each = tuple(_argument(a, at) for a in arguments)
            return s.Call(expr_of(target, at), each, span)
        case "negate":
            return s.Unary("-", expr_of(operands[0], at), span)
        case "negation":
            return s.Unary("not", expr_of(operands[0], at), span)
        case "compare":
            operator = cast("s.Operator", str(tokens(node)[0]))
            left, right = operands
            return s.Binary(operator, expr_of(left, at), expr_of(right, at), span)
        case "is_a":
            names = tuple(s.Name(str(t), at.at(t)) for t in tokens(node))
            return s.Is(expr_of(operands[0], at), names, span)
        case "conditional":
            test, yes, no = (expr_of(each, at) for each in operands)
            return s.Conditional(test, yes, no, span)
        case binary:
            left, right = operands
            return s.Binary(
                _BINARY[binary], expr_of(left, at), expr_of(right, at), span
            )


def _argument(node: Node, at: Place) -> s.Expr | s.Binder:
    if node.data == "binder":
        return s.Binder(name_of(node, at), expr_of(trees(node)[0], at), at.of(node))
    return expr_of(node, at)
