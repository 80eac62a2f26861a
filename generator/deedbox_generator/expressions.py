"""Expressions of the core as expressions of Python.

The text needs no parentheses from its caller beyond what `render` puts in, and
computes nothing but what the spec says: no clock, no randomness, no float.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from deedbox_dsl import core
from deedbox_dsl.spelling import pascal
from deedbox_dsl.types import Base, ChoiceType, NoneType, Type
from deedbox_dsl.walk import nodes

from .annotations import base_of, wrapper
from .quoting import literal

# How tightly Python binds, loosest first.
_IF, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _NEGATIVE, _ATOM = range(9)

_BINDING: Mapping[core.Operator, int] = {
    "or": _OR,
    "and": _AND,
    "==": _COMPARE,
    "!=": _COMPARE,
    "<": _COMPARE,
    "<=": _COMPARE,
    ">": _COMPARE,
    ">=": _COMPARE,
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
}


@dataclass(frozen=True, slots=True)
class Place:
    """What names mean where an expression stands.

    `holder` has the key and the given; `deed` and `seed` are the texts of the open
    deed's key and of what decides the jitter, which the waits of `seeded` policies
    take; `locals` maps a `let` or an item to its Python name.
    """

    holder: str
    now: str
    deed: str
    seed: str
    waits: Mapping[str, str]
    seeded: frozenset[str]
    attempts: Mapping[str, str]
    locals: Mapping[str, str]


def render(expr: core.Expr, place: Place) -> str:
    return _text(expr, place, _IF)


def typed(expr: core.Expr, slot: Type, place: Place, *, tight: int = _IF) -> str:
    """The expression where a value of `slot` is wanted, wrapped when Python cannot see that."""
    match expr:
        case core.Conditional():
            yes = typed(expr.yes, slot, place, tight=_OR)
            no = typed(expr.no, slot, place)
            text = f"{yes} if {_text(expr.test, place, _OR)} else {no}"
            return f"({text})" if tight > _IF else text
        case core.Known():
            return typed(expr.target, slot, place, tight=tight)
        case core.Call(function="min" | "max" | "earliest" | "latest"):
            parts = ", ".join(typed(each, slot, place) for each in expr.arguments)
            return f"{_CALLS[expr.function]}({parts})"
        case _:
            name = None if _is_exact(expr) else wrapper(slot)
            if name is None:
                return _text(expr, place, tight)
            return f"{name}({render(expr, place)})"


def items_of(expr: core.Expr) -> tuple[str, ...]:
    """The names of items that the expression binds."""
    return tuple(each.item for each in nodes(expr) if isinstance(each, core.Over))


def number(value: int) -> str:
    return f"{value:_}"


_CALLS: Mapping[core.Function, str] = {
    "earliest": "min",
    "latest": "max",
    "min": "min",
    "max": "max",
    "len": "len",
}


def _is_exact(expr: core.Expr) -> bool:
    """Python's checkers see the declared type by themselves."""
    match expr:
        case core.Constant():
            return expr.value is None
        case core.Negative() | core.Binary() | core.Over():
            return isinstance(expr, core.Over) and expr.function == "filter"
        case _:
            return True


def _text(expr: core.Expr, place: Place, tight: int) -> str:
    binding, text = _bound_text(expr, place)
    return f"({text})" if binding < tight else text


def _bound_text(expr: core.Expr, place: Place) -> tuple[int, str]:
    """The text, and how tightly its outermost operation binds."""
    match expr:
        case core.Constant():
            return _constant(expr)
        case core.EmptyList():
            return _ATOM, "()"
        case core.Now():
            return _ATOM, place.now
        case core.Read():
            return _ATOM, _read(expr, place)
        case core.Bound():
            return _ATOM, f"msg.{expr.name}"
        case core.Member():
            return _ATOM, f"{_text(expr.target, place, _ATOM)}.{expr.name}"
        case core.Deed():
            return _ATOM, place.deed
        case core.Not():
            return _NOT, f"not {_text(expr.operand, place, _NOT)}"
        case core.Negative():
            return _NEGATIVE, f"-{_text(expr.operand, place, _NEGATIVE)}"
        case core.Binary():
            return _binary(expr, place)
        case core.Conditional():
            yes, no = _text(expr.yes, place, _OR), _text(expr.no, place, _IF)
            return _IF, f"{yes} if {_text(expr.test, place, _OR)} else {no}"
        case core.PhaseIs():
            return _ATOM, f"isinstance(state, {' | '.join(expr.states)})"
        case core.VariantIs():
            names = (variant_name(expr.target.type, each) for each in expr.variants)
            target = render(expr.target, place)
            return _ATOM, f"isinstance({target}, {' | '.join(names)})"
        case core.Known():
            return _bound_text(expr.target, place)
        case core.Call():
            return _ATOM, _call(expr, place)
        case core.Over():
            return _ATOM, _over(expr, place)
        case core.Wait():
            seed = f", {place.seed}" if expr.policy in place.seeded else ""
            issue = render(expr.issue, place)
            return _ATOM, f"{place.waits[expr.policy]}({issue}{seed})"
        case core.Attempts():
            return _ATOM, place.attempts[expr.policy]
        case core.Side() | core.Ended():
            raise AssertionError("only a property speaks of old, new and count")
        case _:
            assert_never(expr)


def _constant(expr: core.Constant) -> tuple[int, str]:
    match expr.value:
        case None | bool():
            return _ATOM, str(expr.value)
        case int():
            return (_ATOM if expr.value >= 0 else _NEGATIVE), number(expr.value)
        case str():
            return _ATOM, literal(expr.value)
        case _:
            assert_never(expr.value)


def _read(expr: core.Read, place: Place) -> str:
    match expr.scope:
        case "key" | "given":
            return f"{place.holder}.{expr.name}"
        case "state":
            return f"state.{expr.name}"
        case "let" | "item":
            return place.locals[expr.name]
        case _:
            assert_never(expr.scope)


def _binary(expr: core.Binary, place: Place) -> tuple[int, str]:
    if expr.operator == "implies":
        left, right = _text(expr.left, place, _NOT), _text(expr.right, place, _OR)
        return _OR, f"not {left} or {right}"
    if isinstance(expr.right.type, NoneType) or _is_none(expr.right):
        word = "is" if expr.operator == "==" else "is not"
        return _COMPARE, f"{_text(expr.left, place, _SUM)} {word} None"
    binding = _BINDING[expr.operator]
    # Comparisons do not chain in the language; the others group to the left.
    left = _text(expr.left, place, binding + (binding == _COMPARE))
    right = _text(expr.right, place, binding + (binding not in (_OR, _AND)))
    return binding, f"{left} {expr.operator} {right}"


def _is_none(expr: core.Expr) -> bool:
    return isinstance(expr, core.Constant) and expr.value is None


def _call(expr: core.Call, place: Place) -> str:
    match expr.function:
        case "min" | "max" | "earliest" | "latest" | "len":
            parts = ", ".join(render(each, place) for each in expr.arguments)
            return f"{_CALLS[expr.function]}({parts})"
        case "head":
            return f"{_text(expr.arguments[0], place, _ATOM)}[0]"
        case "last":
            return f"{_text(expr.arguments[0], place, _ATOM)}[-1]"
        case "take":
            items, count = expr.arguments
            return f"{_text(items, place, _ATOM)}[:{_count(count, place)}]"
        case "drop":
            items, count = expr.arguments
            return f"{_text(items, place, _ATOM)}[{_count(count, place)}:]"
        case "text":
            return _as_text(expr.arguments[0], place)
        case _:
            assert_never(expr.function)


def _count(expr: core.Expr, place: Place) -> str:
    """A number of items; below none is none."""
    if isinstance(expr, core.Constant) and isinstance(expr.value, int):
        return number(max(expr.value, 0))
    return f" max({render(expr, place)}, 0)"


def _as_text(expr: core.Expr, place: Place) -> str:
    """A number in decimal; a text is one already."""
    if base_of(expr.type) is Base.TEXT:
        return _text(expr, place, _ATOM)
    return f"str({render(expr, place)})"


def _over(expr: core.Over, place: Place) -> str:
    item = place.locals[expr.item]
    source, body = _text(expr.source, place, _OR), _text(expr.body, place, _OR)
    match expr.function:
        case "any" | "all" | "sum":
            return f"{expr.function}({body} for {item} in {source})"
        case "count":
            return f"sum(1 for {item} in {source} if {body})"
        case "filter":
            return f"tuple({item} for {item} in {source} if {body})"
        case _:
            assert_never(expr.function)


def variant_name(type_: Type, variant: str) -> str:
    """The class of one variant of a choice."""
    match type_:
        case ChoiceType():
            return type_.name + pascal(variant)
        case _:
            raise AssertionError(f"{type_} has no variants")
