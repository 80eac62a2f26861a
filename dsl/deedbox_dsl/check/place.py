"""Where an expression stands, and what that place wants of it.

A `Place` is one row of the table of scopes: which bare names, which bound
message, which words of the properties.  `coerce` fits a typed expression to the
type its place wants; only literals, `none`, `[]` and numbers whose range is
proved change their type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from .. import core
from ..names import Scope
from ..problems import Problem
from ..source import Span
from ..types import (
    ERROR,
    Base,
    Declared,
    EmptyListType,
    ListOf,
    Maybe,
    NoneType,
    Type,
    in_range,
    mentions_error,
    show,
)
from .facts import Facts, Subject
from .learning import interval, learn

Fields: TypeAlias = Mapping[str, Type]


@dataclass(frozen=True, slots=True)
class Binding:
    """`as out`: the name, what it is (for messages), and its fields.

    Not `bound`: the clause has no `as`, and `name` is only what it could be called;
    `span` is the trigger, after which `as` would stand.
    """

    name: str
    owner: str
    fields: Fields
    span: Span
    bound: bool = True

    def calls(self, name: str) -> bool:
        """Whether the spec calls it so."""
        return self.bound and self.name == name


@dataclass(frozen=True, slots=True)
class Place:
    """`partial`: names that are known in some of the states here only, and why not in all.

    `states`: own fields of each state, where a property may read them after `is`.
    `ghosts`: the outcomes of each command, where `count(c.o)` may stand.
    `punned`: the expression is a field's name that stands for its value as well.
    """

    scope: Scope
    problems: list[Problem]
    names: Mapping[str, core.Expr]
    partial: Mapping[str, str] = field(default_factory=dict[str, str])
    binding: Binding | None = None
    deed: bool = False
    now: bool = True
    subjects: frozenset[Subject] = frozenset()
    phases: frozenset[str] = frozenset()
    states: Mapping[str, Fields] = field(default_factory=dict[str, Fields])
    ghosts: Mapping[str, frozenset[str]] | None = None
    punned: bool = False

    def report(self, code: str, span: Span, message: str, **more: str) -> core.Constant:
        """Note a problem; the expression that has it gets the error type."""
        hint = more.get("hint", "")
        self.problems.append(
            Problem(
                code,
                span,
                message,
                label=more.get("label", ""),
                hints=(hint,) if hint else (),
            )
        )
        return core.Constant(None, ERROR, span)


def may_be_none(value: core.Expr, need: str, place: Place) -> core.Expr:
    """The problem of a value that may be none where one is needed."""
    name = _called(value, place)
    return place.report(
        "DEED305",
        value.span,
        f"this may be none, and {need}",
        hint=f"Show first that it is not: `when {name} != none`, or "
        f"`if {name} != none then … else …`.",
    )


def _called(value: core.Expr, place: Place) -> str:
    """A value as its spec names it; `x` where it is no plain name."""
    match value:
        case core.Read(name=name):
            return name
        case core.Bound(name=name) if place.binding is not None:
            return f"{place.binding.name}.{name}"
        case core.Member(target=target, name=name):
            return f"{_called(target, place)}.{name}"
        case core.Known(target=target):
            return _called(target, place)
        case _:
            return "x"


def is_error(expr: core.Expr) -> bool:
    return mentions_error(expr.type)


def plain(expr: core.Expr) -> core.Expr:
    """The expression without the knowledge that it is not none."""
    return expr.target if isinstance(expr, core.Known) else expr


def coerce(
    value: core.Expr, wanted: Type, place: Place, facts: Facts, why: str
) -> core.Expr:
    """`value` as a `wanted`; `why` ends the sentence "expected T …"."""
    if mentions_error(wanted) or is_error(value):
        return value
    if value.type == wanted:
        return value
    if isinstance(value, core.Conditional):
        when, unless = learn(facts, value.test, True), learn(facts, value.test, False)
        return replace(
            value,
            yes=coerce(value.yes, wanted, place, when, why),
            no=coerce(value.no, wanted, place, unless, why),
            type=wanted,
        )
    match wanted, value.type:
        case Maybe(), NoneType():
            return core.Constant(None, wanted, value.span)
        case Maybe(item=item), _ if not isinstance(value.type, Maybe):
            return coerce(value, item, place, facts, why)
        case ListOf(), EmptyListType():
            return core.EmptyList(wanted, value.span)
        case _:
            pass
    if isinstance(value.type, Maybe | NoneType):
        optional = isinstance(value.type, Maybe) and value.type.item == wanted
        if optional or isinstance(value.type, NoneType):
            return may_be_none(value, f"{show(wanted)} is expected {why}", place)
    if isinstance(wanted, Declared) and _fits_by_proof(value, wanted):
        found = interval(value, facts)
        if in_range(wanted, found.low, found.high):
            return _as_declared(value, wanted)
        return _outside(value, wanted, found.low, found.high, place, why)
    return place.report(
        "DEED301",
        value.span,
        f"expected {show(wanted)} {why}, found {show(value.type)}",
        label=f"this is {show(value.type)}",
        hint=_as_its_own(wanted, value.type),
    )


def _as_its_own(wanted: Type, found: Type) -> str:
    """A value of a declared type where a plain one is expected: what takes it is to say so."""
    if isinstance(found, Declared) and found.base is wanted:
        return f"Declare what takes it as `{found.name}`, too."
    return ""


def _fits_by_proof(value: core.Expr, wanted: Declared) -> bool:
    """A literal, a result of arithmetic, or a number whose range can be proved."""
    if value.type is not wanted.base:
        return False
    if isinstance(value, core.Constant):
        return True
    if wanted.base in (Base.TEXT, Base.BOOL):
        return False
    ranged = wanted.low is not None or wanted.high is not None
    computed = not isinstance(value, core.Read | core.Bound | core.Side | core.Member)
    return ranged or computed


def _as_declared(value: core.Expr, wanted: Type) -> core.Expr:
    return replace(value, type=wanted) if isinstance(value, core.Constant) else value


def _outside(
    value: core.Expr,
    wanted: Declared,
    low: int | None,
    high: int | None,
    place: Place,
    why: str,
) -> core.Expr:
    known = "nothing bounds it here"
    if low is not None or high is not None:
        known = f"from {_number(low, 'anything')} to {_number(high, 'anything')}"
    limits = f"{_number(wanted.low, '…')}..{_number(wanted.high, '…')}"
    return place.report(
        "DEED307",
        value.span,
        f"this may be outside the range {limits} of `{wanted.name}`, expected {why}",
        label=known,
        hint="Bound it by a guard, or by `min(…)` and `max(…)`.",
    )


def _number(value: int | None, otherwise: str) -> str:
    return otherwise if value is None else f"{value:_}"
