"""What a test teaches about what comes after it, and what is known of a value there.

A guard, the test of an `if`, the left side of `and`, `or` and `implies` teach.
Everything here errs on the side of knowing nothing.
"""

from __future__ import annotations

from dataclasses import replace

from .. import core
from ..types import BOOL, INT, ChoiceType, Declared, Maybe, Type, base_of
from .facts import Facts, Subject, join
from .intervals import ANY, Interval, arithmetic, extreme, least_known

# ---- learning ------------------------------------------------------------------------


def learn(facts: Facts, test: core.Expr, truth: bool) -> Facts:
    """The facts where `test` came out as `truth`."""
    match test:
        case core.Constant(value=bool(value)):
            return facts if value is truth else replace(facts, impossible=True)
        case core.Not(operand=operand):
            return learn(facts, operand, not truth)
        case core.Binary(operator="and", left=left, right=right):
            return _both(facts, left, True, right, True, truth)
        case core.Binary(operator="or", left=left, right=right):
            return _both(facts, left, False, right, False, not truth)
        case core.Binary(operator="implies", left=left, right=right):
            return _both(facts, left, True, right, False, not truth)
        case core.Binary(operator="==" | "!=" as operator):
            return _equal(facts, test, (operator == "==") is truth)
        case core.Binary(operator="<" | "<=" as operator, left=left, right=right):
            return _ordered(facts, left, right, operator == "<", truth)
        case core.Binary(operator=">" | ">=" as operator, left=left, right=right):
            return _ordered(facts, right, left, operator == ">", truth)
        case core.PhaseIs(subject=subject, states=states):
            return _phase(facts, subject, frozenset(states), truth)
        case core.VariantIs(target=target, variants=variants):
            return _variant(facts, target, frozenset(variants), truth)
        case core.Over(function="any", source=source, item=item, body=body) if truth:
            known_some = facts.some | {(source, item, body)}
            longer = _bound(facts, _length_of(source), Interval(1, None))
            return replace(longer, some=known_some)
        case core.Read() | core.Bound() | core.Side() | core.Member():
            return _equals(facts, test, core.Constant(truth, BOOL, test.span), True)
        case _:
            return facts


def _both(
    facts: Facts,
    left: core.Expr,
    left_truth: bool,
    right: core.Expr,
    right_truth: bool,
    conjunction: bool,
) -> Facts:
    """`left` and `right` as given, together; or else that not both of them are."""
    first = learn(facts, left, left_truth)
    if conjunction:
        return learn(first, right, right_truth)
    return join(
        learn(facts, left, not left_truth), learn(first, right, not right_truth)
    )


def _phase(facts: Facts, subject: Subject, named: frozenset[str], truth: bool) -> Facts:
    known = facts.phases.get(subject)
    if known is None and not truth:
        return facts
    found = named if known is None else known & named if truth else known - named
    return replace(
        facts,
        phases={**facts.phases, subject: found},
        impossible=facts.impossible or not found,
    )


def _variant(
    facts: Facts, target: core.Expr, named: frozenset[str], truth: bool
) -> Facts:
    kind = target.type
    every = (
        frozenset(name for name, _ in kind.variants)
        if isinstance(kind, ChoiceType)
        else named
    )
    known = facts.variants.get(target, every)
    found = known & named if truth else known - named
    return replace(
        facts,
        variants={**facts.variants, target: found},
        impossible=facts.impossible or not found,
    )


def _equal(facts: Facts, test: core.Binary, same: bool) -> Facts:
    left, right = test.left, test.right
    if isinstance(right, core.Constant) and right.value is None:
        return _presence(facts, left, not same)
    for one, other in ((left, right), (right, left)):
        optional = isinstance(one.type, Maybe) and not isinstance(other.type, Maybe)
        if same and optional:
            facts = _presence(facts, one, True)
        if isinstance(other, core.Constant):
            facts = _equals(facts, one, other, same)
    if not same:
        return facts
    facts = _bound(facts, left, interval(right, facts))
    return _bound(facts, right, interval(left, facts))


def _ordered(
    facts: Facts, left: core.Expr, right: core.Expr, strict: bool, truth: bool
) -> Facts:
    """`left < right`, or `<=` where it is not `strict`; or else the opposite."""
    if not truth:
        left, right, strict = right, left, not strict
    gap = 1 if strict else 0
    top, bottom = interval(right, facts).high, interval(left, facts).low
    if top is not None:
        facts = _bound(facts, left, Interval(None, top - gap))
    if bottom is not None:
        facts = _bound(facts, right, Interval(bottom + gap, None))
    return facts


def _presence(facts: Facts, expr: core.Expr, present: bool) -> Facts:
    if present:
        return replace(
            facts,
            present=facts.present | {expr},
            impossible=facts.impossible or expr in facts.absent,
        )
    return replace(
        facts,
        absent=facts.absent | {expr},
        impossible=facts.impossible or expr in facts.present,
    )


def _equals(facts: Facts, expr: core.Expr, value: core.Constant, same: bool) -> Facts:
    if isinstance(expr, core.Constant):
        agree = (expr.value == value.value) is same
        return facts if agree else replace(facts, impossible=True)
    if base_of(value.type) is BOOL and not same and isinstance(value.value, bool):
        value, same = core.Constant(not value.value, value.type, value.span), True
    known = facts.equal.get(expr)
    if same:
        clash = (known is not None and known.value != value.value) or any(
            other == expr and excluded.value == value.value
            for other, excluded in facts.unequal
        )
        return replace(
            facts,
            equal={**facts.equal, expr: value},
            impossible=facts.impossible or clash,
        )
    return replace(
        facts,
        unequal=facts.unequal | {(expr, value)},
        impossible=facts.impossible
        or (known is not None and known.value == value.value),
    )


def _bound(facts: Facts, expr: core.Expr, found: Interval) -> Facts:
    if isinstance(expr, core.Constant):
        met = interval(expr, facts).meet(found)
        return replace(facts, impossible=True) if met.empty else facts
    if found == ANY:
        return facts
    met = interval(expr, facts).meet(found)
    return replace(
        facts,
        ranges={**facts.ranges, expr: met},
        impossible=facts.impossible or met.empty,
    )


def _length_of(source: core.Expr) -> core.Expr:
    return core.Call("len", (source,), INT, source.span)


def decide(test: core.Expr, facts: Facts) -> bool | None:
    """Whether the test always holds (True) or never (False) under these facts."""
    if facts.impossible:
        return None
    if learn(facts, test, True).impossible:
        return False
    if learn(facts, test, False).impossible:
        return True
    return None


# ---- asking --------------------------------------------------------------------------


def interval(expr: core.Expr, facts: Facts) -> Interval:
    """The numbers that `expr` may be: ints, durations and instants alike."""
    found = facts.ranges.get(expr, ANY)
    return found.meet(_from_type(expr.type)).meet(_from_shape(expr, facts))


def _from_type(kind: Type) -> Interval:
    match kind:
        case Declared(low=low, high=high):
            return Interval(low, high)
        case Maybe(item=item):
            return _from_type(item)
        case _:
            return ANY


def _from_shape(expr: core.Expr, facts: Facts) -> Interval:
    match expr:
        case core.Constant(value=bool() | str() | None):
            return ANY
        case core.Constant(value=int(value)):
            return Interval(value, value)
        case core.Known(target=target):
            return interval(target, facts)
        case core.Read(scope="let", name=name) if name in facts.lets:
            return interval(facts.lets[name], facts)
        case core.Negative(operand=operand):
            found = interval(operand, facts)
            return Interval(
                None if found.high is None else -found.high,
                None if found.low is None else -found.low,
            )
        case core.Binary(operator="+" | "-" | "*" as operator, left=left, right=right):
            return arithmetic(operator, interval(left, facts), interval(right, facts))
        case core.Conditional(test=test, yes=yes, no=no):
            when, unless = learn(facts, test, True), learn(facts, test, False)
            if when.impossible:
                return interval(no, unless)
            if unless.impossible:
                return interval(yes, when)
            return interval(yes, when).join(interval(no, unless))
        case core.Call(function="min" | "earliest", arguments=arguments):
            return extreme([interval(a, facts) for a in arguments], least=True)
        case core.Call(function="max" | "latest", arguments=arguments):
            return extreme([interval(a, facts) for a in arguments], least=False)
        case core.Call(function="len", arguments=(source,)):
            return length(source, facts)
        case core.Over(function="count", source=source):
            return Interval(0, length(source, facts).high)
        case core.Ended():
            return Interval(0, 2)
        case core.Wait():
            return Interval(1, None)
        case core.Attempts():
            return Interval(1, None)
        case _:
            return ANY


def length(source: core.Expr, facts: Facts) -> Interval:
    """How many items the list may have."""
    known = facts.ranges.get(_length_of(source), ANY).meet(Interval(0, None))
    match source:
        case core.EmptyList():
            return Interval(0, 0)
        case core.Read(scope="let", name=name) if name in facts.lets:
            return known.meet(length(facts.lets[name], facts))
        case core.Call(function="take", arguments=(inner, count)):
            whole, most = length(inner, facts), interval(count, facts)
            low = None
            if whole.low is not None and most.low is not None:
                low = min(whole.low, max(most.low, 0))
            return known.meet(Interval(low, least_known(whole.high, most.high)))
        case core.Call(function="drop", arguments=(inner, count)):
            whole, gone = length(inner, facts), interval(count, facts)
            low = None
            if whole.low is not None and gone.high is not None:
                low = max(whole.low - max(gone.high, 0), 0)
            return known.meet(Interval(low, whole.high))
        case core.Over(function="filter", source=inner, item=item, body=body):
            some = any(
                (known_source, known_item, known_body) in facts.some
                for known_source, known_item, known_body in (
                    (inner, item, body),
                    (_meaning(inner, facts), item, body),
                )
            )
            return known.meet(Interval(1 if some else 0, length(inner, facts).high))
        case _:
            return known


def _meaning(expr: core.Expr, facts: Facts) -> core.Expr:
    """What a `let` stands for; any other expression is itself."""
    while (
        isinstance(expr, core.Read) and expr.scope == "let" and expr.name in facts.lets
    ):
        expr = facts.lets[expr.name]
    return expr
