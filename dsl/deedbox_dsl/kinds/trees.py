"""Small words for building the syntax tree of a lowered machine.

Every node carries the span of the spec line that caused it.  A `Maker` makes an
expression at a span: what a kind's bare name stands for differs from state to
state (`out.ref`, `ref`, `none`), and where it is used decides the caret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

from .. import syntax
from ..source import Span
from ..walk import nodes

Maker: TypeAlias = Callable[[Span], syntax.Expr]
Meanings: TypeAlias = Mapping[str, Maker]
Values: TypeAlias = Mapping[str, syntax.Expr]


def name(text: str, span: Span) -> syntax.Name:
    return syntax.Name(text, span)


def var(text: str, span: Span) -> syntax.Var:
    return syntax.Var(text, span)


def text(value: str, span: Span) -> syntax.TextLit:
    return syntax.TextLit(value, span)


def number(value: int, span: Span) -> syntax.IntLit:
    return syntax.IntLit(value, span)


def member(target: str, field: str, span: Span) -> syntax.Expr:
    return syntax.Member(var(target, span), name(field, span), span)


def call(function: str, *arguments: syntax.Expr, span: Span) -> syntax.Expr:
    return syntax.Call(var(function, span), arguments, span)


def binary(
    operator: syntax.Operator, left: syntax.Expr, right: syntax.Expr, span: Span
) -> syntax.Expr:
    return syntax.Binary(operator, left, right, span)


def all_of(tests: Iterable[syntax.Expr | None], span: Span) -> syntax.Expr | None:
    """The tests joined by `and`; None is "always"."""
    found: syntax.Expr | None = None
    for test in tests:
        if test is not None:
            found = test if found is None else binary("and", found, test, span)
    return found


_OPPOSITE: Mapping[str, syntax.Operator] = {
    ">=": "<",
    ">": "<=",
    "<": ">=",
    "<=": ">",
    "==": "!=",
    "!=": "==",
}


def negated(test: syntax.Expr) -> syntax.Expr:
    """The opposite of a comparison, or of one or the other of two."""
    match test:
        case syntax.Binary(operator="or", left=left, right=right, span=span):
            return binary("and", negated(left), negated(right), span)
        case syntax.Binary(operator=operator, left=left, right=right, span=span):
            return binary(_OPPOSITE[operator], left, right, span)
        case _:
            raise AssertionError(test)


def not_none(field: str, span: Span) -> syntax.Expr:
    return binary("!=", var(field, span), syntax.NoneLit(span), span)


def later(wait: syntax.Expr, span: Span) -> syntax.Expr:
    """`now + wait`."""
    return binary("+", syntax.Now(span), wait, span)


def plus_one(field: str, span: Span) -> syntax.Expr:
    return binary("+", var(field, span), number(1, span), span)


def next_attempt(span: Span) -> syntax.Expr:
    return plus_one("attempt", span)


def itself(field: str) -> Maker:
    """The field of the state at hand."""
    return lambda span: var(field, span)


def of(bound: str, field: str) -> Maker:
    """`out.field`."""
    return lambda span: member(bound, field, span)


def one(span: Span) -> syntax.Expr:
    return number(1, span)


def nothing(span: Span) -> syntax.Expr:
    return syntax.NoneLit(span)


# ---- types and fields ----------------------------------------------------------


def type_name(text: str, span: Span) -> syntax.TypeName:
    return syntax.TypeName(name(text, span), (), span)


def optional(kind: syntax.TypeExpr) -> syntax.TypeExpr:
    if isinstance(kind, syntax.OptionalType):
        return kind
    return syntax.OptionalType(kind, kind.span)


def field(text: str, kind: syntax.TypeExpr | str, span: Span) -> syntax.Field:
    written = type_name(kind, span) if isinstance(kind, str) else kind
    return syntax.Field(name(text, span), written, None, None, span)


# ---- blocks -----------------------------------------------------------------------


def goto(
    state: str,
    fields: Sequence[syntax.Field],
    values: Values,
    span: Span,
    carried: Iterable[str] = (),
) -> syntax.Goto:
    """`goto state { … }` in the order of its fields.

    `carried` are fields of the state at hand that keep their value: two or more of
    them are written `..`, one is written by its name.
    """
    kept = [f.name.text for f in fields if f.name.text not in values]
    allowed = set(carried)
    assert allowed >= set(kept), (state, set(kept) - allowed)
    items: list[syntax.InitItem] = [syntax.CarryOver(span)] if len(kept) > 1 else []
    for part in fields:
        own = part.name.text
        value = values.get(own)
        if value is None:
            if len(kept) == 1:
                items.append(syntax.Pun(name(own, span), span))
        else:
            items.append(assign(own, value, span))
    return syntax.Goto(name(state, span), init(items, span), span)


def assign(field: str, value: syntax.Expr, span: Span) -> syntax.Set | syntax.Pun:
    """`field: value`, or `field` alone when the value has that name."""
    if isinstance(value, syntax.Var) and value.name == field:
        return syntax.Pun(name(field, value.span), span)
    return syntax.Set(name(field, span), value, span)


def init(items: Sequence[syntax.InitItem], span: Span) -> syntax.Init | None:
    return syntax.Init(tuple(items), span) if items else None


def on(
    trigger: syntax.Trigger,
    bound: str,
    guard: syntax.Expr | None,
    block: syntax.Block,
    span: Span,
) -> syntax.On:
    """`on … as bound when guard { … }`; without `as` where nothing reads it."""
    used = any(
        isinstance(node, syntax.Var) and node.name == bound
        for node in nodes((guard, block))
    )
    return syntax.On(trigger, name(bound, span) if used else None, guard, block, span)


# ---- bare names ---------------------------------------------------------------------


def substitute(expr: syntax.Expr, meanings: Meanings) -> syntax.Expr:
    """The expression with every bare name replaced by what it stands for here."""
    match expr:
        case syntax.Var(name=own, span=span):
            return meanings[own](span) if own in meanings else expr
        case syntax.Member(target=target):
            return replace(expr, target=substitute(target, meanings))
        case syntax.Call(arguments=arguments):
            return replace(expr, arguments=_arguments(arguments, meanings))
        case syntax.Unary(operand=operand):
            return replace(expr, operand=substitute(operand, meanings))
        case syntax.Binary(left=left, right=right):
            return replace(
                expr, left=substitute(left, meanings), right=substitute(right, meanings)
            )
        case syntax.Is(subject=subject):
            return replace(expr, subject=substitute(subject, meanings))
        case syntax.Conditional(test=test, yes=yes, no=no):
            return replace(
                expr,
                test=substitute(test, meanings),
                yes=substitute(yes, meanings),
                no=substitute(no, meanings),
            )
        case (
            syntax.IntLit()
            | syntax.DurationLit()
            | syntax.TextLit()
            | syntax.BoolLit()
            | syntax.NoneLit()
            | syntax.Now()
            | syntax.EmptyList()
        ):
            return expr
        case _:
            assert_never(expr)


def _arguments(
    arguments: tuple[syntax.Expr | syntax.Binder, ...], meanings: Meanings
) -> tuple[syntax.Expr | syntax.Binder, ...]:
    done: list[syntax.Expr | syntax.Binder] = []
    for argument in arguments:
        if isinstance(argument, syntax.Binder):
            done.append(replace(argument, source=substitute(argument.source, meanings)))
            bound = argument.name.text
            meanings = {key: made for key, made in meanings.items() if key != bound}
        else:
            done.append(substitute(argument, meanings))
    return tuple(done)


def settings(init: syntax.Init | None) -> Iterator[tuple[syntax.Name, syntax.Expr]]:
    """What is given, field by field; `..` gives nothing by itself."""
    for item in init.items if init is not None else ():
        match item:
            case syntax.Pun(name=own):
                yield own, var(own.text, own.span)
            case syntax.Set(name=own, value=value):
                yield own, value
            case syntax.CarryOver():
                pass


def names_in(expr: syntax.Expr) -> frozenset[str]:
    return frozenset(node.name for node in nodes(expr) if isinstance(node, syntax.Var))


def bound_arguments(
    params: Iterable[syntax.Field], meanings: Meanings
) -> tuple[syntax.Expr, ...]:
    """What a kind's command is asked with: each parameter by its name, or by its `= …`."""
    return tuple(
        substitute(
            var(param.name.text, param.name.span)
            if param.value is None
            else param.value,
            meanings,
        )
        for param in params
    )


def params_read(params: Iterable[syntax.Field]) -> frozenset[str]:
    """The bare names that a parameter list is bound to."""
    found: set[str] = set()
    for param in params:
        found |= {param.name.text} if param.value is None else names_in(param.value)
    return frozenset(found)


def without_values(params: tuple[syntax.Field, ...]) -> tuple[syntax.Field, ...]:
    return tuple(replace(param, value=None) for param in params)
