"""What facts and intervals claim is true of every value (soundness by enumeration)."""

from __future__ import annotations

from itertools import product
from typing import Literal, TypeAlias

from deedbox_dsl import core
from deedbox_dsl.check.facts import NOTHING, define
from deedbox_dsl.check.intervals import ANY, Interval
from deedbox_dsl.check.learning import decide, interval, learn, length
from deedbox_dsl.source import Span
from deedbox_dsl.types import BOOL, INT, TEXT, Base, Declared, ListOf, Maybe
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


WIDE: core.Expr = core.Read("state", "wide", INT, AT)
FLAG: core.Expr = core.Read("state", "flag", BOOL, AT)
PERHAPS: core.Expr = core.Read("state", "perhaps", Maybe(INT), AT)
NAMES: core.Expr = core.Read("state", "names", ListOf(TEXT), AT)
TRUE: core.Expr = core.Constant(True, BOOL, AT)


def known_at_least(expr: core.Expr, low: int) -> core.Expr:
    return question(">=", expr, constant(low))


def test_a_product_is_bounded_only_where_its_factors_are() -> None:
    product_of_both = arithmetic("*", WIDE, X)
    assert interval(product_of_both, NOTHING) == ANY
    facts = learn(NOTHING, known_at_least(WIDE, 0), True)
    facts = learn(facts, known_at_least(X, 0), True)
    assert interval(product_of_both, facts) == Interval(0, None)


def test_a_value_that_equals_one_which_is_there_is_there() -> None:
    facts = learn(NOTHING, question("==", PERHAPS, X), True)
    assert PERHAPS in facts.present
    assert PERHAPS not in learn(NOTHING, question("!=", PERHAPS, X), True).present


def test_a_flag_that_is_not_true_is_false() -> None:
    facts = learn(NOTHING, question("!=", FLAG, TRUE), True)
    assert decide(FLAG, facts) is False
    assert decide(TRUE, NOTHING) is True
    assert decide(core.Constant(False, BOOL, AT), NOTHING) is False


def test_a_let_is_as_large_as_what_it_stands_for() -> None:
    facts = define(NOTHING, "sum", constant(3))
    assert interval(core.Read("let", "sum", INT, AT), facts) == Interval(3, 3)


def test_an_if_is_as_large_as_the_way_that_it_takes() -> None:
    def chosen(test: core.Expr) -> Interval:
        made = core.Conditional(test, constant(1), constant(5), INT, AT)
        return interval(made, NOTHING)

    assert chosen(question("<", X, constant(4))) == Interval(1, 1)
    assert chosen(question("<", X, constant(-3))) == Interval(5, 5)
    assert chosen(question("<", X, constant(0))) == Interval(1, 5)


def test_a_count_is_no_longer_than_its_list() -> None:
    empty = core.EmptyList(ListOf(TEXT), AT)
    assert length(empty, NOTHING) == Interval(0, 0)
    count = core.Over("count", "name", empty, FLAG, INT, AT)
    assert interval(count, NOTHING) == Interval(0, 0)
    assert interval(core.Over("count", "name", NAMES, FLAG, INT, AT), NOTHING) == (
        Interval(0, None)
    )


def test_two_literals_are_compared() -> None:
    assert decide(question("==", constant(3), constant(3)), NOTHING) is True
    assert decide(question("!=", constant(3), constant(3)), NOTHING) is False
    assert decide(question("==", constant(3), constant(4)), NOTHING) is False


def test_what_follows_from_a_guard_is_known_behind_it() -> None:
    small, large = question("<", X, constant(0)), question("<", Y, constant(0))
    assert decide(large, learn(NOTHING, question("and", small, large), True)) is True
    denied_both = learn(NOTHING, question("implies", small, large), False)
    assert decide(small, denied_both) is True
    assert decide(large, denied_both) is False


def test_of_two_cases_one_of_which_never_comes_the_other_is_known() -> None:
    never = question("<", X, constant(-3))
    small = question("<", Y, constant(0))
    for either in (question("or", never, small), question("or", small, never)):
        assert decide(small, learn(NOTHING, either, True)) is True
    assert decide(small, learn(NOTHING, never, True)) is None


def test_a_negative_lies_on_the_other_side() -> None:
    facts = learn(NOTHING, known_at_least(X, 1), True)
    assert interval(negative(X), facts) == Interval(-3, -1)


def test_a_literal_outside_what_it_equals_never_comes() -> None:
    assert decide(question("==", constant(4), X), NOTHING) is False
    assert decide(question("<", constant(4), constant(3)), NOTHING) is False
