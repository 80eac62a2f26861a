"""The fixed functions: what each takes and gives.

A table and one function for each shape of arguments.  Arguments arrive typed;
the functions with a binder (`any`, `all`, …) stand with the expressions, because
they open a scope.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .. import core
from ..source import Span
from ..types import (
    DURATION,
    ERROR,
    INSTANT,
    INT,
    TEXT,
    ListOf,
    Maybe,
    Type,
    base_of,
    show,
)
from .facts import Facts
from .learning import length
from .place import Place, coerce, is_error

SHAPES: Mapping[str, str] = {
    "earliest": "two instants or more",
    "latest": "two instants or more",
    "min": "two or more ints or durations of one type",
    "max": "two or more ints or durations of one type",
    "len": "one list",
    "take": "a list and an int",
    "drop": "a list and an int",
    "head": "one list",
    "last": "one list",
    "text": "one int or text",
    "wait": "a policy and the number of the issue",
    "any": "`item in list` and a condition",
    "all": "`item in list` and a condition",
    "count": "`item in list` and a condition, or in a property `command.outcome`",
    "sum": "`item in list` and an int",
    "filter": "`item in list` and a condition",
}


def call(
    name: core.Function,
    arguments: tuple[core.Expr, ...],
    place: Place,
    facts: Facts,
    span: Span,
) -> core.Expr:
    """The typed call, or a problem when the arguments are others."""
    if any(is_error(argument) for argument in arguments):
        return core.Constant(None, ERROR, span)
    kinds = tuple(argument.type for argument in arguments)
    match name, kinds:
        case (("earliest" | "latest"), (_, _, *_)) if all(
            base_of(kind) is INSTANT for kind in kinds
        ):
            return core.Call(name, arguments, INSTANT, span)
        case (("min" | "max"), (_, _, *_)) if (found := _one_number(kinds)) is not None:
            return core.Call(name, arguments, found, span)
        case "len", (ListOf(),):
            return core.Call(name, arguments, INT, span)
        case (("take" | "drop"), (ListOf() as kind, _)) if base_of(kinds[1]) is INT:
            return core.Call(name, arguments, kind, span)
        case (("head" | "last"), (ListOf(item=item),)):
            least = length(arguments[0], facts).low
            if least is None or least < 1:
                return place.report(
                    "DEED305",
                    span,
                    f"this list may be empty, and then it has no `{name}`",
                    hint="Show first that it is not: `when len(…) > 0`, or `any(…)`.",
                )
            return core.Call(name, arguments, item, span)
        case "text", (kind,) if base_of(kind) in (INT, TEXT):
            return core.Call(name, arguments, TEXT, span)
        case _:
            pass
    if any(isinstance(kind, Maybe) for kind in kinds):
        optional = next(a for a in arguments if isinstance(a.type, Maybe))
        return place.report(
            "DEED305", optional.span, f"this may be none, and `{name}` needs a value"
        )
    return wrong_arguments(name, place, span, kinds)


def wrong_arguments(
    name: str, place: Place, span: Span, kinds: tuple[Type, ...] = ()
) -> core.Expr:
    found = f", not {', '.join(show(kind) for kind in kinds)}" if kinds else ""
    other = _OF_THE_OTHER_SORT.get((name, *{base_of(kind) for kind in kinds}))
    hint = "" if other is None else f"For such values write `{other}`."
    text = f"`{name}` takes {SHAPES[name]}{found}"
    return place.report("DEED308", span, text, hint=hint)


_OF_THE_OTHER_SORT: Final[Mapping[tuple[object, ...], str]] = {
    ("max", INSTANT): "latest",
    ("min", INSTANT): "earliest",
    ("latest", INT): "max",
    ("earliest", INT): "min",
    ("latest", DURATION): "max",
    ("earliest", DURATION): "min",
}


def wait(
    policy: core.Ladder, issue: core.Expr, place: Place, facts: Facts, span: Span
) -> core.Expr:
    number = coerce(issue, INT, place, facts, "as the number of an issue")
    return core.Wait(policy.name, number, DURATION, span)


def _one_number(kinds: tuple[Type, ...]) -> Type | None:
    bases = {base_of(kind) for kind in kinds}
    if bases not in ({INT}, {DURATION}):
        return None
    return kinds[0] if len(set(kinds)) == 1 else bases.pop()
