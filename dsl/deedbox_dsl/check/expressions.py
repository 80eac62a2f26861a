"""Expressions: what each name means where it stands, and the type of every node.

`infer` turns a syntax expression into a typed core expression.  The rule that
keeps it right: a problem is reported where it arises and the node gets the error
type; whatever meets the error type is silent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, assert_never

from .. import core, syntax
from ..naming import reserved, taken, unknown
from ..problems import Edit, Fix, Problem
from ..reserved import why_no_local
from ..source import Span
from ..suggest import nearest
from ..types import (
    BOOL,
    DURATION,
    ERROR,
    INSTANT,
    INT,
    LARGEST,
    TEXT,
    ChoiceType,
    EmptyListType,
    ListOf,
    NoneType,
    Type,
    base_of,
    show,
)
from .calls import SHAPES, call, wait, wrong_arguments
from .facts import Facts
from .learning import learn
from .operators import arithmetic, comparison, joined, negative
from .place import Place, coerce, is_error
from .readings import known, member, named_member, variable


def infer(
    expr: syntax.Expr, place: Place, facts: Facts, wanted: Type | None = None
) -> core.Expr:
    """The typed expression; `wanted` helps a literal or `none` find its type."""
    match expr:
        case syntax.IntLit(value=value, span=span):
            if value > LARGEST:
                return place.report(
                    "DEED307", span, "this number does not fit into 64 bits"
                )
            return core.Constant(value, INT, span)
        case syntax.DurationLit(milliseconds=value, span=span):
            return core.Constant(value, DURATION, span)
        case syntax.TextLit(value=text, span=span):
            return core.Constant(text, TEXT, span)
        case syntax.BoolLit(value=truth, span=span):
            return core.Constant(truth, BOOL, span)
        case syntax.NoneLit(span=span):
            return core.Constant(None, NoneType(), span)
        case syntax.EmptyList(span=span):
            return core.EmptyList(EmptyListType(), span)
        case syntax.Now(span=span):
            if not place.now:
                return place.report(
                    "DEED201", span, "`now` is known only where a step is made"
                )
            return core.Now(INSTANT, span)
        case syntax.Var():
            return known(variable(expr, place, facts), facts)
        case syntax.Member():
            return known(_member(expr, place, facts), facts)
        case syntax.Call():
            return _call(expr, place, facts)
        case syntax.Unary():
            return _unary(expr, place, facts)
        case syntax.Binary():
            return _binary(expr, place, facts)
        case syntax.Is():
            return _is(expr, place, facts)
        case syntax.Conditional():
            return _conditional(expr, place, facts, wanted)
        case _:
            assert_never(expr)


def condition(expr: syntax.Expr, place: Place, facts: Facts, why: str) -> core.Expr:
    """A typed expression that must be a bool."""
    return coerce(infer(expr, place, facts), BOOL, place, facts, why)


def _member(expr: syntax.Member, place: Place, facts: Facts) -> core.Expr:
    if isinstance(expr.target, syntax.Var) and expr.target.name not in place.names:
        found = named_member(expr.target.name, expr, place, facts)
        if found is not None:
            return found
    target = infer(expr.target, place, facts)
    if is_error(target):
        return core.Constant(None, ERROR, expr.span)
    return member(target, expr, place, facts)


# ---- operators ---------------------------------------------------------------------


def _unary(expr: syntax.Unary, place: Place, facts: Facts) -> core.Expr:
    if expr.operator == "not":
        operand = condition(expr.operand, place, facts, "after `not`")
        return core.Not(operand, BOOL, expr.span)
    operand = infer(expr.operand, place, facts)
    return operand if is_error(operand) else negative(operand, place, expr.span)


def _binary(expr: syntax.Binary, place: Place, facts: Facts) -> core.Expr:
    operator = expr.operator
    if operator == "and" or operator == "or" or operator == "implies":
        left = condition(expr.left, place, facts, f"before `{operator}`")
        after = learn(facts, left, operator != "or")
        right = condition(expr.right, place, after, f"after `{operator}`")
        return core.Binary(operator, left, right, BOOL, expr.span)
    if operator in ("==", "!=") and _is_whole_state(expr.left, place):
        return _whole_state(expr, place)
    left = infer(expr.left, place, facts)
    right = infer(expr.right, place, facts)
    if is_error(left) or is_error(right):
        return core.Constant(None, ERROR, expr.span)
    match operator:
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return comparison(operator, left, right, place, expr.span)
        case "+" | "-" | "*":
            return arithmetic(operator, left, right, place, expr.span)
        case _:
            assert_never(operator)


def _is_whole_state(expr: syntax.Expr, place: Place) -> bool:
    return (
        isinstance(expr, syntax.Var)
        and expr.name not in place.names
        and expr.name in place.subjects
    )


def _whole_state(expr: syntax.Binary, place: Place) -> core.Expr:
    """`phase == Held`, which is asked with `is`."""
    subject = expr.left.name if isinstance(expr.left, syntax.Var) else ""
    state = expr.right.name if isinstance(expr.right, syntax.Var) else "A"
    written = f"{subject} is {state}"
    if expr.operator == "!=":
        written = f"not {written}"
    fix = Fix(f"Write `{written}`", (Edit(expr.span, written),))
    place.problems.append(
        Problem(
            "DEED301",
            expr.span,
            f"`{subject}` is a whole state, and `{expr.operator}` compares values",
            hints=(f"Write `{written}`.",),
            fixes=(fix,) if isinstance(expr.right, syntax.Var) else (),
        )
    )
    return core.Constant(None, ERROR, expr.span)


def _conditional(
    expr: syntax.Conditional, place: Place, facts: Facts, wanted: Type | None
) -> core.Expr:
    test = condition(expr.test, place, facts, "after `if`")
    when, unless = learn(facts, test, True), learn(facts, test, False)
    yes = infer(expr.yes, place, when, wanted)
    no = infer(expr.no, place, unless, wanted)
    if is_error(yes) or is_error(no):
        return core.Constant(None, ERROR, expr.span)
    kind = wanted if wanted is not None else joined(yes, no)
    if kind is None:
        text = f"the two ways of `if` differ: {show(yes.type)} and {show(no.type)}"
        return place.report("DEED301", expr.no.span, text)
    yes = coerce(yes, kind, place, when, "by both ways of `if`")
    no = coerce(no, kind, place, unless, "by both ways of `if`")
    return core.Conditional(test, yes, no, kind, expr.span)


def _is(expr: syntax.Is, place: Place, facts: Facts) -> core.Expr:
    subject = expr.subject
    if isinstance(subject, syntax.Var) and subject.name not in place.names:
        match subject.name:
            case ("phase" | "old" | "new") as word if word in place.subjects:
                if check_phases(expr.names, place):
                    phases = tuple(name.text for name in expr.names)
                    return core.PhaseIs(word, phases, BOOL, expr.span)
                return core.Constant(None, ERROR, expr.span)
            case _:
                pass
    target = infer(subject, place, facts)
    if is_error(target):
        return core.Constant(None, ERROR, expr.span)
    if not isinstance(target.type, ChoiceType):
        text = f"`is` asks for a variant of a choice, and this is {show(target.type)}"
        asks = [name.text for name in expr.names] in (["none"], ["None"], ["null"])
        hint = "Whether there is a value is asked with `== none`." if asks else ""
        return place.report("DEED301", target.span, text, hint=hint)
    variants = [name for name, _ in target.type.variants]
    for name in expr.names:
        if name.text not in variants:
            text = f"the choice `{target.type.name}` has no variant `{name.text}`"
            place.problems.append(unknown("DEED201", name, text, variants))
            return core.Constant(None, ERROR, expr.span)
    return core.VariantIs(
        target, tuple(name.text for name in expr.names), BOOL, expr.span
    )


def check_phases(names: Iterable[syntax.Name], place: Place) -> bool:
    """Whether each is a state of the machine."""
    wrong = [name for name in names if name.text not in place.phases]
    for name in wrong:
        text = f"there is no state `{name.text}`"
        place.problems.append(unknown("DEED701", name, text, place.phases))
    return not wrong


def _call(expr: syntax.Call, place: Place, facts: Facts) -> core.Expr:
    name = expr.target.name if isinstance(expr.target, syntax.Var) else ""
    span = expr.span
    arguments = expr.arguments
    match name, arguments:
        case ("any" | "all" | "count" | "sum" | "filter") as function, (
            syntax.Binder() as binder,
            body,
        ) if not isinstance(body, syntax.Binder):
            return _over(function, binder, body, place, facts, span)
        case "count", (syntax.Member(target=syntax.Var(name=command), name=outcome),):
            return _ended(command, outcome, place, span)
        case "wait", (syntax.Var(name=policy, span=at), issue) if not isinstance(
            issue, syntax.Binder
        ):
            if policy not in place.scope.policies:
                text = f"there is no policy `{policy}`"
                called = syntax.Name(policy, at)
                place.problems.append(
                    unknown("DEED201", called, text, place.scope.policies)
                )
                return core.Constant(None, ERROR, span)
            ladder = place.scope.policies[policy]
            number = infer(issue, place, facts)
            if ladder is None or is_error(number):
                return core.Constant(None, ERROR, span)
            return wait(ladder, number, place, facts, span)
        case (
            "earliest"
            | "latest"
            | "min"
            | "max"
            | "len"
            | "take"
            | "drop"
            | "head"
            | "last"
            | "text"
        ) as function, _:
            typed: list[core.Expr] = []
            for argument in arguments:
                if isinstance(argument, syntax.Binder):
                    return wrong_arguments(function, place, span)
                typed.append(infer(argument, place, facts))
            return call(function, tuple(typed), place, facts, span)
        case _:
            pass
    if name in SHAPES:
        return wrong_arguments(name, place, span)
    if not name:
        return _no_function(expr.target, place)
    known = ", ".join(f"`{function}`" for function in SHAPES)
    text = f"there is no function `{name}`"
    called = syntax.Name(name, expr.target.span)
    place.problems.append(
        unknown("DEED201", called, text, SHAPES, otherwise=f"There are: {known}.")
    )
    return core.Constant(None, ERROR, span)


def _no_function(target: syntax.Expr, place: Place) -> core.Expr:
    """A call of what is no name: `now()`, `items.len()`."""
    match target:
        case syntax.Now():
            text, hint = "`now` is a value, and no function", "Write `now` alone."
        case syntax.Member(name=name):
            meant = name.text if name.text in SHAPES else nearest(name.text, SHAPES)
            text = "there are no methods"
            hint = (
                f"Write `{meant}(…)`." if meant else f"There are: {', '.join(SHAPES)}."
            )
        case _:
            text, hint = "this is no function", ""
    return place.report("DEED201", target.span, text, hint=hint)


def _over(
    function: Literal["any", "all", "count", "sum", "filter"],
    binder: syntax.Binder,
    body: syntax.Expr,
    place: Place,
    facts: Facts,
    span: Span,
) -> core.Expr:
    source = infer(binder.source, place, facts)
    name = binder.name
    if is_error(source):
        return core.Constant(None, ERROR, span)
    if not isinstance(source.type, ListOf):
        text = f"`{function}` goes over a list, and this is {show(source.type)}"
        return place.report("DEED308", source.span, text)
    if not new_local(name, place):
        return core.Constant(None, ERROR, span)
    item = core.Read("item", name.text, source.type.item, name.span)
    inner = replace(place, names={**place.names, name.text: item})
    value = infer(body, inner, facts)
    if function == "sum":
        value = (
            coerce(value, INT, inner, facts, "by `sum`")
            if base_of(value.type) is not INT
            else value
        )
    else:
        value = coerce(value, BOOL, inner, facts, f"by `{function}`")
    if is_error(value):
        return core.Constant(None, ERROR, span)
    kinds: dict[str, Type] = {"count": INT, "sum": INT, "filter": source.type}
    kind = kinds.get(function, BOOL)
    return core.Over(function, name.text, source, value, kind, span)


def new_local(name: syntax.Name, place: Place) -> bool:
    """Whether a `let`, an `as` or a binder may use the name."""
    whose = why_no_local(name.text)
    if whose is not None:
        place.problems.append(reserved(name, whose))
        return False
    before = place.names.get(name.text)
    if before is not None:
        place.problems.append(taken(name.text, name.span, before.span))
        return False
    return True


def _ended(command: str, outcome: syntax.Name, place: Place, span: Span) -> core.Expr:
    if place.ghosts is None:
        text = "`count(command.outcome)` speaks of the world; only a property can"
        return place.report("DEED201", span, text)
    outcomes = place.ghosts.get(command)
    if outcomes is None or outcome.text not in outcomes:
        known = place.ghosts if outcomes is None else outcomes
        wrong = syntax.Name(command, span) if outcomes is None else outcome
        text = f"`{command}` does not end with `{outcome.text}`"
        if outcomes is None:
            text = f"there is no command `{command}`"
        place.problems.append(
            unknown("DEED201", wrong, text, known, repairs=outcomes is not None)
        )
        return core.Constant(None, ERROR, span)
    return core.Ended(command, outcome.text, INT, span)
