"""What facts and intervals claim is true of every value (soundness by enumeration)."""

from __future__ import annotations

from itertools import product
from typing import Literal, TypeAlias

from deedbox_dsl import core
from deedbox_dsl.check.facts import NOTHING
from deedbox_dsl.check.learning import decide, interval, learn
from deedbox_dsl.source import Span
from deedbox_dsl.types import BOOL, INT, Base, Declared
from hypothesis import given
from hypothesis import strategies as st

AT = Span("a.deed", 0, 0, 1, 1)
SMALL = Declared("Small", "m", Base.INT, -3, 3)
VALUES = range(-3, 4)
Exprs: TypeAlias = st.SearchStrategy[core.Expr]
X: core.Expr = core.Read("state", "x", SMALL, AT)
Y: core.Expr = core.Read("state", "y", SMALL, AT)


def constant(value: int) -> core.Expr:
    return core.Constant(value, INT, AT)


def arithmetic(
    operator: Literal["+", "-", "*"], a: core.Expr, b: core.Expr
) -> core.Expr:
    return core.Binary(operator, a, b, INT, AT)


def extreme(function: Literal["min", "max"], a: core.Expr, b: core.Expr) -> core.Expr:
    return core.Call(function, (a, b), INT, AT)


def negative(a: core.Expr) -> core.Expr:
    return core.Negative(a, INT, AT)


def question(operator: core.Operator, a: core.Expr, b: core.Expr) -> core.Expr:
    return core.Binary(operator, a, b, BOOL, AT)


def denied(a: core.Expr) -> core.Expr:
    return core.Not(a, BOOL, AT)


def sums(inner: Exprs) -> Exprs:
    operators: st.SearchStrategy[Literal["+", "-", "*"]] = st.sampled_from(
        ("+", "-", "*")
    )
    extremes: st.SearchStrategy[Literal["min", "max"]] = st.sampled_from(("min", "max"))
    return st.one_of(
        st.builds(arithmetic, operators, inner, inner),
        st.builds(extreme, extremes, inner, inner),
        st.builds(negative, inner),
    )


def junctions(inner: Exprs) -> Exprs:
    words: st.SearchStrategy[core.Operator] = st.sampled_from(("and", "or", "implies"))
    return st.one_of(st.builds(question, words, inner, inner), st.builds(denied, inner))


leaves: Exprs = st.one_of(
    st.sampled_from((X, Y)), st.builds(constant, st.integers(-3, 3))
)
numbers: Exprs = st.recursive(leaves, sums, max_leaves=5)
signs: st.SearchStrategy[core.Operator] = st.sampled_from(
    ("==", "!=", "<", "<=", ">", ">=")
)
tests: Exprs = st.recursive(
    st.builds(question, signs, numbers, numbers), junctions, max_leaves=5
)


def value(expr: core.Expr, x: int, y: int) -> int:
    """What the expression is, bools as 0 and 1."""
    match expr:
        case core.Constant(value=int(known)):
            return known
        case core.Read(name=name):
            return x if name == "x" else y
        case core.Negative(operand=operand):
            return -value(operand, x, y)
        case core.Not(operand=operand):
            return 1 - value(operand, x, y)
        case core.Call(function=function, arguments=arguments):
            each = [value(argument, x, y) for argument in arguments]
            return min(each) if function == "min" else max(each)
        case core.Binary(operator=operator, left=left, right=right):
            a, b = value(left, x, y), value(right, x, y)
            return int(
                {
                    "+": a + b,
                    "-": a - b,
                    "*": a * b,
                    "==": a == b,
                    "!=": a != b,
                    "<": a < b,
                    "<=": a <= b,
                    ">": a > b,
                    ">=": a >= b,
                    "and": bool(a and b),
                    "or": bool(a or b),
                    "implies": bool(not a or b),
                }[operator]
            )
        case _:
            raise AssertionError(expr)


@given(numbers, tests)
def test_a_value_lies_in_the_interval_that_its_facts_give(
    expr: core.Expr, test: core.Expr
) -> None:
    facts = learn(NOTHING, test, True)
    known = interval(expr, facts)
    for x, y in product(VALUES, VALUES):
        if value(test, x, y):
            assert not facts.impossible
            result = value(expr, x, y)
            assert known.low is None or known.low <= result
            assert known.high is None or result <= known.high


@given(tests, tests)
def test_a_decided_guard_is_so_for_every_value(
    test: core.Expr, before: core.Expr
) -> None:
    facts = learn(NOTHING, before, False)
    decided = decide(test, facts)
    for x, y in product(VALUES, VALUES):
        if decided is not None and not value(before, x, y):
            assert bool(value(test, x, y)) is decided


def test_a_guard_against_a_literal_is_decided() -> None:
    def less(limit: int) -> core.Expr:
        return core.Binary("<", X, constant(limit), BOOL, AT)

    assert decide(less(4), NOTHING) is True
    assert decide(less(-3), NOTHING) is False
    assert decide(less(0), NOTHING) is None
    assert decide(less(1), learn(NOTHING, less(0), True)) is True
