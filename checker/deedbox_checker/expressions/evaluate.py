"""Core expressions as functions over a scene: guards, and the predicates of properties.

A second reading of the language, beside the generator's: the explorer compares which
clause a guard chooses here with what the generated reducer did.  Values are those of
the generated module: int, str, bool, None, tuples, and msgspec structs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias, assert_never, cast

from deedbox_dsl import core
from msgspec import Struct
from msgspec.structs import replace as with_fields


class Scene(Struct, frozen=True):
    """What an expression may look at.

    `counts`: how many deeds the far side ended in a (command, outcome), 2 for more.
    `waits`: the delay of a policy after so many issues, where a jitter was drawn.
    """

    state: Struct | None = None
    message: Struct | None = None
    old: Struct | None = None
    new: Struct | None = None
    now: int = 0
    counts: Mapping[tuple[str, str], int] = {}
    local: Mapping[str, object] = {}
    waits: Callable[[str, int], int] | None = None


Value: TypeAlias = Callable[[Scene], object]
Number: TypeAlias = Callable[[Scene], int]
Truth: TypeAlias = Callable[[Scene], bool]


OPERATIONS: Final[Mapping[str, Callable[[int, int], object]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""The language has typed the operands: of `==` and `!=` they may be anything."""


def phase(state: Struct | None) -> str | None:
    return None if state is None else type(state).__name__


def variant(chosen: object) -> object:
    """The name of a choice's variant, as it is stored."""
    return cast(Struct, chosen).__struct_config__.tag


def attribute(target: object, name: str) -> object:
    return getattr(target, name)


def number(expr: core.Expr) -> Number:
    return cast(Number, value(expr))


def truth(expr: core.Expr) -> Truth:
    return cast(Truth, value(expr))


def items(expr: core.Expr) -> Callable[[Scene], tuple[object, ...]]:
    return cast("Callable[[Scene], tuple[object, ...]]", value(expr))


def value(expr: core.Expr) -> Value:
    """The function that computes `expr`."""
    match expr:
        case core.Constant(constant):
            return lambda _: constant
        case core.EmptyList():
            return lambda _: ()
        case core.Now():
            return lambda scene: scene.now
        case core.Read(scope, name):
            if scope in ("let", "item"):
                return lambda scene: scene.local[name]
            return lambda scene: attribute(scene.state, name)
        case core.Bound(name):
            return lambda scene: attribute(scene.message, name)
        case core.Side("old", name):
            return lambda scene: attribute(scene.old, name)
        case core.Side(_, name):
            return lambda scene: attribute(scene.new, name)
        case core.Member(target, name):
            inner = value(target)
            return lambda scene: attribute(inner(scene), name)
        case core.Deed():
            return lambda scene: attribute(scene.state, "deed_number")
        case core.Not(operand):
            no = truth(operand)
            return lambda scene: not no(scene)
        case core.Negative(operand):
            positive = number(operand)
            return lambda scene: -positive(scene)
        case core.Binary():
            return binary(expr)
        case core.Conditional(test, yes, no):
            when, then, other = truth(test), value(yes), value(no)
            return lambda scene: then(scene) if when(scene) else other(scene)
        case core.PhaseIs(subject, states):
            return phase_is(subject, frozenset(states))
        case core.VariantIs(target, variants):
            tagged, names = value(target), frozenset(variants)
            return lambda scene: variant(tagged(scene)) in names
        case core.Known(target):
            return value(target)
        case core.Call():
            return call(expr)
        case core.Over():
            return over(expr)
        case core.Wait(policy, issue):
            asked = number(issue)
            return lambda scene: delay_of(scene, policy, asked(scene))
        case core.Attempts():
            raise NeedsLadders
        case core.Ended(command, outcome):
            pair = (command, outcome)
            return lambda scene: scene.counts[pair]
        case _:
            assert_never(expr)


class NeedsLadders(Exception):
    """A policy stands in an expression that was not given its ladders."""


def delay_of(scene: Scene, policy: str, issue: int) -> int:
    if scene.waits is None:
        raise NeedsLadders
    return scene.waits(policy, issue)


def spread_of(delay: int, jitter: int | Literal["full"] | None) -> int:
    """By how much a jitter may shorten a delay."""
    match jitter:
        case None:
            return 0
        case "full":
            return max(delay - 1, 0)
        case _:
            return delay * jitter // 100


def delay_after(ladder: core.Ladder, issue: int) -> int:
    """The delay of a policy after so many issues, without its jitter."""
    return ladder.delays[min(issue, len(ladder.delays)) - 1]


def phase_is(subject: str, states: frozenset[str]) -> Truth:
    match subject:
        case "old":
            return lambda scene: phase(scene.old) in states
        case "new":
            return lambda scene: phase(scene.new) in states
        case _:
            return lambda scene: phase(scene.state) in states


def binary(expr: core.Binary) -> Value:
    match expr.operator:
        case "and":
            one, two = truth(expr.left), truth(expr.right)
            return lambda scene: one(scene) and two(scene)
        case "or":
            one, two = truth(expr.left), truth(expr.right)
            return lambda scene: one(scene) or two(scene)
        case "implies":
            one, two = truth(expr.left), truth(expr.right)
            return lambda scene: not one(scene) or two(scene)
        case "+":
            return plus(expr)
        case "==" | "!=" | "-" | "*" | "<" | "<=" | ">" | ">=":
            made = OPERATIONS[expr.operator]
            left, right = number(expr.left), number(expr.right)
            return lambda scene: made(left(scene), right(scene))
        case _:
            assert_never(expr.operator)


def plus(expr: core.Binary) -> Value:
    left, right = value(expr.left), value(expr.right)

    def added(scene: Scene) -> object:
        one, two = left(scene), right(scene)
        if isinstance(one, str):
            return one + str(two)
        return cast(int, one) + cast(int, two)

    return added


def call(expr: core.Call) -> Value:
    match expr.function:
        case "earliest" | "min":
            numbers = [number(argument) for argument in expr.arguments]
            return lambda scene: min(one(scene) for one in numbers)
        case "latest" | "max":
            numbers = [number(argument) for argument in expr.arguments]
            return lambda scene: max(one(scene) for one in numbers)
        case "len":
            listed = items(expr.arguments[0])
            return lambda scene: len(listed(scene))
        case "take":
            listed, many = items(expr.arguments[0]), number(expr.arguments[1])
            return lambda scene: listed(scene)[: max(many(scene), 0)]
        case "drop":
            listed, many = items(expr.arguments[0]), number(expr.arguments[1])
            return lambda scene: listed(scene)[max(many(scene), 0) :]
        case "head":
            listed = items(expr.arguments[0])
            return lambda scene: listed(scene)[0]
        case "last":
            listed = items(expr.arguments[0])
            return lambda scene: listed(scene)[-1]
        case "text":
            anything = value(expr.arguments[0])
            return lambda scene: str(anything(scene))
        case _:
            assert_never(expr.function)


def over(expr: core.Over) -> Value:
    listed, body, item = items(expr.source), value(expr.body), expr.item

    def each(scene: Scene) -> list[tuple[object, object]]:
        return [
            (one, body(with_fields(scene, local={**scene.local, item: one})))
            for one in listed(scene)
        ]

    match expr.function:
        case "any":
            return lambda scene: any(bool(result) for _, result in each(scene))
        case "all":
            return lambda scene: all(bool(result) for _, result in each(scene))
        case "count":
            return lambda scene: sum(bool(result) for _, result in each(scene))
        case "sum":
            return lambda scene: sum(cast(int, result) for _, result in each(scene))
        case "filter":
            return lambda scene: tuple(one for one, result in each(scene) if result)
        case _:
            assert_never(expr.function)
