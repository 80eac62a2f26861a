"""What operators make of typed operands.

Each function takes operands that are no errors, and gives the typed node or the
problem that they do not go together.  Types and units are `types.py`'s algebra.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from .. import core
from ..problems import Label, Problem
from ..source import Span
from ..types import (
    BOOL,
    DURATION,
    ERROR,
    INSTANT,
    INT,
    TEXT,
    EmptyListType,
    ListOf,
    Maybe,
    NoneType,
    Type,
    base_of,
    comparable,
    show,
)
from ..types import arithmetic as kind_of
from .place import Place, may_be_none, plain


def negative(operand: core.Expr, place: Place, span: Span) -> core.Expr:
    base = base_of(operand.type)
    if base not in (INT, DURATION):
        return place.report("DEED302", span, f"{show(operand.type)} has no negative")
    if isinstance(operand, core.Constant) and isinstance(operand.value, int):
        return core.Constant(-operand.value, operand.type, span)
    return core.Negative(operand, base, span)


def arithmetic(
    operator: Literal["+", "-", "*"],
    left: core.Expr,
    right: core.Expr,
    place: Place,
    span: Span,
) -> core.Expr:
    for side in (left, right):
        if isinstance(side.type, Maybe | NoneType):
            return may_be_none(side, f"`{operator}` needs a value", place)
    found = kind_of(operator, left.type, right.type)
    if found is not None:
        return core.Binary(operator, left, right, found, span)
    return _ill_matched(
        f"{show(left.type)} {operator} {show(right.type)} has no meaning",
        left,
        right,
        _unit_hint(operator, left.type, right.type),
        place,
        span,
    )


def _unit_hint(operator: str, left: Type, right: Type) -> str:
    bases = {base_of(left), base_of(right)}
    if bases == {INSTANT} and operator == "+":
        return "Two instants have a difference, a duration; they have no sum."
    if INT in bases and (DURATION in bases or INSTANT in bases):
        return "A number becomes a time by its unit: `5s`, or `n * 1s`."
    if TEXT in bases and INT in bases:
        return "`text(…)` writes a number as text."
    return ""


def comparison(
    operator: Literal["==", "!=", "<", "<=", ">", ">="],
    left: core.Expr,
    right: core.Expr,
    place: Place,
    span: Span,
) -> core.Expr:
    ordered = operator not in ("==", "!=")
    if not ordered and isinstance(left.type, NoneType):
        left, right = right, left
    if not ordered and isinstance(right.type, NoneType):
        subject = plain(left)
        if isinstance(subject.type, Maybe):
            return core.Binary(operator, subject, right, BOOL, span)
        text = f"{show(left.type)} is never none, so there is nothing to ask"
        return place.report("DEED302", span, text)
    if ordered:
        for side in (left, right):
            if isinstance(side.type, Maybe | NoneType):
                return may_be_none(side, f"`{operator}` needs a value", place)
    one, other = _without_maybe(left.type), _without_maybe(right.type)
    left, right = _like(left, other), _like(right, one)
    one, other = _without_maybe(left.type), _without_maybe(right.type)
    if comparable(one, other, ordered=ordered):
        return core.Binary(operator, left, right, BOOL, span)
    text = (
        f"{show(left.type)} cannot be compared with {show(right.type)} by `{operator}`"
    )
    return _ill_matched(text, left, right, _compared_hint(one, other), place, span)


def _ill_matched(
    text: str,
    left: core.Expr,
    right: core.Expr,
    hint: str,
    place: Place,
    span: Span,
) -> core.Expr:
    """Two operands that do not go together, each labelled with what it is."""
    sides = tuple(
        Label(side.span, f"this is {show(side.type)}") for side in (left, right)
    )
    place.problems.append(
        Problem("DEED302", span, text, others=sides, hints=(hint,) if hint else ())
    )
    return core.Constant(None, ERROR, span)


def _compared_hint(left: Type, right: Type) -> str:
    bases = {base_of(left), base_of(right)}
    if bases == {TEXT, INT}:
        return "`text(…)` writes a number as text."
    if INT in bases and DURATION in bases:
        return "A number becomes a duration by its unit: `5s`, or `n * 1s`."
    if bases == {INSTANT, DURATION}:
        return "A duration is how long, an instant is when: compare with `now + 5s`."
    if len(bases) == 1 and left != right:
        return (
            "Each declared type is a type of its own, so that they are never mixed up."
        )
    return ""


def _without_maybe(kind: Type) -> Type:
    return kind.item if isinstance(kind, Maybe) else kind


def _like(value: core.Expr, other: Type) -> core.Expr:
    """A literal takes the declared type that it is compared with."""
    if isinstance(value, core.Constant) and base_of(other) is value.type:
        return replace(value, type=other)
    return value


def joined(yes: core.Expr, no: core.Expr) -> Type | None:
    """The one type of two ways; literals and `none` give way."""
    one, other = yes.type, no.type
    if one == other:
        return one
    for kind, value in ((one, no), (other, yes)):
        match kind, value.type:
            case Maybe(), NoneType():
                return kind
            case Maybe(item=item), found if found == item:
                return kind
            case ListOf(), EmptyListType():
                return kind
            case _, NoneType():
                return Maybe(kind)
            case _ if isinstance(value, core.Constant) and base_of(kind) is value.type:
                return kind
            case _:
                pass
    return None
