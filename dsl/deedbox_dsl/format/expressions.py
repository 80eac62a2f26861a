"""Types and expressions as the formatter prints them.

Parentheses come from the grammar's own levels and from nothing else: an operand
that binds more loosely than its place allows is put in parentheses, so that what is
printed parses to the tree it came from.  A long chain breaks before each operator.
"""

from __future__ import annotations

from typing import Final, assert_never

from .. import syntax as s
from ..policies import duration_text
from .pretty import NOTHING, SPACE, Cat, Doc, cat, group, joined, nest

# The levels of the grammar, loosest first.
ANY, OR, AND, NOT, COMPARISON, SUM, PRODUCT, NEGATION, POSTFIX, ATOM = range(10)

_LEVELS: Final[dict[str, tuple[int, int, int]]] = {
    "implies": (ANY, OR, OR),
    "or": (OR, OR, AND),
    "and": (AND, AND, NOT),
    "==": (COMPARISON, SUM, SUM),
    "!=": (COMPARISON, SUM, SUM),
    "<": (COMPARISON, SUM, SUM),
    "<=": (COMPARISON, SUM, SUM),
    ">": (COMPARISON, SUM, SUM),
    ">=": (COMPARISON, SUM, SUM),
    "+": (SUM, SUM, PRODUCT),
    "-": (SUM, SUM, PRODUCT),
    "*": (PRODUCT, PRODUCT, NEGATION),
}


def type_text(type_: s.TypeExpr) -> str:
    match type_:
        case s.OptionalType():
            return f"{type_text(type_.item)}?"
        case s.TypeName():
            if not type_.arguments:
                return type_.name.text
            arguments = ", ".join(type_text(each) for each in type_.arguments)
            return f"{type_.name.text}[{arguments}]"
        case _:
            assert_never(type_)


def expression(expr: s.Expr, place: int = ANY) -> Doc:
    """`expr` where the grammar takes level `place` or tighter."""
    level, doc = _expression(expr)
    return doc if level >= place else cat("(", doc, ")")


def _expression(expr: s.Expr) -> tuple[int, Doc]:
    """The level of `expr`, and its text without parentheses around it."""
    match expr:
        case s.Var():
            return ATOM, expr.name
        case s.IntLit():
            return (ATOM if expr.value >= 0 else NEGATION), expr.written or str(
                expr.value
            )
        case s.DurationLit():
            return ATOM, expr.written or duration_text(expr.milliseconds)
        case s.TextLit():
            return ATOM, f'"{expr.value}"'
        case s.BoolLit():
            return ATOM, "true" if expr.value else "false"
        case s.NoneLit():
            return ATOM, "none"
        case s.Now():
            return ATOM, "now"
        case s.EmptyList():
            return ATOM, "[]"
        case s.Member():
            return POSTFIX, cat(expression(expr.target, POSTFIX), f".{expr.name.text}")
        case s.Call():
            arguments = [_argument(each) for each in expr.arguments]
            return POSTFIX, cat(expression(expr.target, POSTFIX), listed(arguments))
        case s.Unary():
            if expr.operator == "not":
                return NOT, cat("not ", expression(expr.operand, NOT))
            return NEGATION, cat("-", expression(expr.operand, NEGATION))
        case s.Binary():
            return _LEVELS[expr.operator][0], _chain(expr)
        case s.Is():
            names = " | ".join(name.text for name in expr.names)
            return COMPARISON, cat(expression(expr.subject, SUM), f" is {names}")
        case s.Conditional():
            return ANY, group(
                cat("if ", expression(expr.test, OR)),
                nest(SPACE, "then ", expression(expr.yes)),
                nest(SPACE, "else ", expression(expr.no)),
            )
        case _:
            assert_never(expr)


def _chain(expr: s.Binary) -> Doc:
    """A run of operators of one level, which breaks as a whole."""
    level, left_place, right_place = _LEVELS[expr.operator]
    parts: list[Doc] = []
    left: s.Expr = expr
    while (
        isinstance(left, s.Binary)
        and _LEVELS[left.operator][0] == level
        and (left is expr or left_place == level)
    ):
        parts.append(
            nest(SPACE, f"{left.operator} ", expression(left.right, right_place))
        )
        left = left.left
    return group(expression(left, left_place), *reversed(parts))


def _argument(argument: s.Expr | s.Binder) -> Doc:
    if isinstance(argument, s.Binder):
        return cat(f"{argument.name.text} in ", expression(argument.source))
    return expression(argument)


def listed(arguments: list[Doc]) -> Doc:
    """Arguments between parentheses."""
    if not arguments:
        return "()"
    inner: Cat = joined(arguments, cat(",", SPACE))
    return group("(", nest(NOTHING, inner), NOTHING, ")")
