"""Expressions of time as sums: instants, lengths that come from outside, and a number.

What a step compares, and what it makes, is such a sum, or one of several of which the
data at hand chooses.  A part that no step can know beforehand stands in it by the
expression that reads it: an instant wherever it is held, a length that was given, a
delay that jitters.  What is not a sum is not finite in its order, and is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from deedbox_dsl import core
from deedbox_dsl.types import NoneType

from ..expressions.bodies import COMPARISONS
from ..expressions.endless import Endless, name_of
from ..expressions.evaluate import Number, Scene, number, truth
from ..expressions.trees import children, walk
from ..expressions.types import is_instant, is_length

Part: TypeAlias = core.Read | core.Bound | core.Member | core.Wait
"""What reads an instant or a length that is not known before the step."""

Lengths: TypeAlias = Callable[[Scene], frozenset[int]]
"""What a number of milliseconds may be, with this message in this state."""

Path: TypeAlias = tuple[str | int, ...]
"""`state` or `message`, and the way from there: names of fields, numbers of items."""


OF_THE_KEY: Final = (
    "times hang on an instant of the key, which has one value to the explorer: bring it"
    " in the `given` too"
)
OF_A_LIST: Final = (
    "times hang on the items of a list, of which there may be many: bring the one that"
    " matters in a field of its own"
)
MULTIPLIED: Final = (
    "a length of time from outside is multiplied: let the sender bring the product"
)
TO_SEVERAL: Final = (
    "a length of time from outside is added to several instants in one step: make one of"
    " them from the other"
)
BETWEEN: Final = (
    "lengths between instants are compared with each other: store one of them as a"
    " `duration`"
)
SEVERAL_DISTANCES: Final = (
    "a property compares it with other instants at several distances: say it of steps,"
    " with `across`"
)


@dataclass(frozen=True, slots=True)
class Sum:
    """`known`: what is added to the parts; empty when the data chooses another sum.

    `fixed`: the same where it is one number whatever the data.
    """

    parts: tuple[tuple[Part, int], ...]
    known: Lengths = field(compare=False)
    fixed: int | None

    def times(self, factor: int) -> Sum:
        known = self.known
        return Sum(
            tuple((part, many * factor) for part, many in self.parts),
            lambda scene: frozenset(one * factor for one in known(scene)),
            None if self.fixed is None else self.fixed * factor,
        )

    def plus(self, other: Sum) -> Sum:
        parts = dict(self.parts)
        for part, many in other.parts:
            parts[part] = parts.get(part, 0) + many
        one, two = self.known, other.known
        fixed = None
        if self.fixed is not None and other.fixed is not None:
            fixed = self.fixed + other.fixed
        return Sum(
            tuple((part, many) for part, many in parts.items() if many),
            lambda scene: frozenset(a + b for a in one(scene) for b in two(scene)),
            fixed,
        )

    def minus(self, other: Sum) -> Sum:
        return self.plus(other.times(-1))

    def only_when(self, holds: Callable[[Scene], bool]) -> Sum:
        """The same where `holds`; elsewhere the data chooses another."""
        known = self.known

        def chosen(scene: Scene) -> frozenset[int]:
            return known(scene) if holds(scene) else frozenset[int]()

        return replace(self, known=chosen)


def constant(value: int) -> Sum:
    return Sum((), lambda _: frozenset((value,)), value)


NOW: Final = constant(0)


def is_none_test(expr: core.Expr) -> bool:
    return isinstance(expr, core.Binary) and isinstance(expr.right.type, NoneType)


def is_timely(expr: core.Expr) -> bool:
    """Whether it compares instants, or lengths of time."""
    return (
        isinstance(expr, core.Binary)
        and expr.operator in COMPARISONS
        and not is_none_test(expr)
        and (is_instant(expr.left.type) or is_length(expr.left.type))
    )


def is_part(expr: core.Expr) -> bool:
    """Whether it reads what no step knows beforehand."""
    match expr:
        case core.Wait():
            return True
        case core.Read() | core.Bound() | core.Member() | core.Side():
            return is_instant(expr.type) or is_length(expr.type)
        case _:
            return False


def is_timeless(expr: core.Expr) -> bool:
    """Whether an expression has the same value whatever the time is.

    A length that is compared with a constant is told apart by its data already.
    """
    match expr:
        case core.Now():
            return False
        case core.Binary() if is_none_test(expr) or by_class(expr) is not None:
            return True
        case _ if is_part(expr):
            return False
        case _:
            return all(map(is_timeless, children(expr)))


def by_class(expr: core.Expr) -> tuple[Part, int] | None:
    """The length that is compared with a constant, and the constant; None: no such test."""
    if not isinstance(expr, core.Binary) or not is_timely(expr):
        return None
    for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
        while isinstance(one, core.Known):
            one = one.target
        match one, other:
            case (
                core.Read() | core.Bound() | core.Member(),
                core.Constant(value=int(value)),
            ) if is_length(one.type):
                return one, value
            case _:
                pass
    return None


def sums(expr: core.Expr) -> tuple[Sum, ...]:
    """The sums that an instant, or a length of time, may be."""
    if isinstance(expr, core.Constant) and expr.value is None:
        return ()
    if is_timeless(expr):
        fixed = expr.value if isinstance(expr, core.Constant) else None
        return (
            Sum(
                (),
                known_length(number(expr)),
                fixed if isinstance(fixed, int) else None,
            ),
        )
    match expr:
        case core.Now():
            return (NOW,)
        case core.Known(target=target):
            return sums(target)
        case core.Read() | core.Bound() | core.Member() | core.Wait():
            if not isinstance(expr, core.Wait):
                path(expr)
            return (Sum(((expr, 1),), NOW.known, 0),)
        case core.Negative(operand=operand):
            return tuple(one.times(-1) for one in sums(operand))
        case core.Binary(operator="+" | "-", left=left, right=right):
            sign = 1 if expr.operator == "+" else -1
            return tuple(
                one.plus(two.times(sign)) for one in sums(left) for two in sums(right)
            )
        case core.Conditional(test=test, yes=yes, no=no):
            one, two = sums(yes), sums(no)
            if not is_timeless(test):
                return (*one, *two)
            holds = truth(test)
            return (
                *(each.only_when(holds) for each in one),
                *(each.only_when(lambda scene: not holds(scene)) for each in two),
            )
        case core.Call(
            function="earliest" | "latest" | "min" | "max", arguments=arguments
        ):
            return tuple(one for argument in arguments for one in sums(argument))
        case core.Binary(operator="*"):
            raise Endless(name_of(expr), MULTIPLIED)
        case _:
            raise Endless(name_of(expr), OF_A_LIST)


def known_length(length: Number) -> Lengths:
    """One number; none when another clause would have been followed (`head` of nothing)."""

    def lengths(scene: Scene) -> frozenset[int]:
        try:
            return frozenset((length(scene),))
        except (IndexError, AttributeError, TypeError):
            return frozenset()

    return lengths


# ---- where a part is held ----------------------------------------------------------


def path(part: core.Expr) -> Path:
    """Where the instant or the length is held that `part` reads."""
    match part:
        case core.Read(scope="key", name=name):
            raise Endless(name, OF_THE_KEY)
        case core.Read(scope="given" | "state", name=name):
            return ("state", name)
        case core.Bound(name=name):
            return ("message", name)
        case core.Known(target=target):
            return path(target)
        case core.Member(target=target, name=name):
            return (*path(target), name)
        case core.Call(function="head", arguments=(listed,)):
            return first(listed, 0)
        case core.Call(function="last", arguments=(listed,)):
            return (*path(undropped(listed)), -1)
        case _:
            raise Endless(name_of(part), OF_A_LIST)


def first(listed: core.Expr, skipped: int) -> Path:
    """The item of a list after so many."""
    match listed:
        case core.Call(
            function="drop", arguments=(inner, core.Constant(value=int(many)))
        ):
            return first(inner, skipped + many)
        case core.Call(function="take", arguments=(inner, _)):
            return first(inner, skipped)
        case _:
            return (*path(listed), skipped)


def undropped(listed: core.Expr) -> core.Expr:
    match listed:
        case core.Call(function="drop", arguments=(inner, _)):
            return undropped(inner)
        case _:
            return listed


def comparisons_in(roots: Iterable[core.Expr]) -> Iterator[core.Binary]:
    """What in them compares instants, or lengths that no class tells apart."""
    for root in roots:
        for part in walk(root):
            if (
                isinstance(part, core.Binary)
                and is_timely(part)
                and not is_timeless(part)
            ):
                yield part


def asked(compared: core.Binary) -> tuple[Sum, ...]:
    """The sums of which a comparison asks whether they are below, at or above zero."""
    return tuple(
        one.minus(two) for one in sums(compared.left) for two in sums(compared.right)
    )
