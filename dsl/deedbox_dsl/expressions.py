"""Expressions: what each name means where it stands, and the type of every node.

`infer` turns a syntax expression into a typed core expression.  The rule that
keeps it right: a problem is reported where it arises and the node gets the error
type; whatever meets the error type is silent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal, assert_never

from . import core, syntax
from .calls import SHAPES, call, wait, wrong_arguments
from .intervals import Facts, Subject, learn
from .naming import reserved, taken, unknown
from .place import Binding, Place, coerce, is_error, plain
from .problems import Edit, Fix, Problem
from .reserved import why_no_local
from .source import Span
from .types import (
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
    Maybe,
    NoneType,
    RecordType,
    Type,
    arithmetic,
    base_of,
    comparable,
    show,
)


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
            if value > LARGEST:
                return place.report(
                    "DEED307", span, "this duration does not fit into 64 bits"
                )
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
            return _known(_variable(expr, place, facts), facts)
        case syntax.Member():
            return _known(_member(expr, place, facts), facts)
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


_WORDS: Final = ("true", "false", "none", "now")

# ---- names -------------------------------------------------------------------


def _known(expr: core.Expr, facts: Facts) -> core.Expr:
    if isinstance(expr.type, Maybe) and expr in facts.present:
        return core.Known(expr, expr.type.item, expr.span)
    return expr


def _variable(expr: syntax.Var, place: Place, facts: Facts) -> core.Expr:
    name, span = expr.name, expr.span
    found = place.names.get(name)
    if found is not None:
        return replace(found, span=span)
    if name == "deed":
        if place.deed:
            return core.Deed(TEXT, span)
        return place.report("DEED201", span, "no deed is open here on every way in")
    if place.states:
        held = _state_field(name, "phase", place, facts, span)
        if held is not None:
            return held
    if name in place.partial:
        return place.report(
            "DEED306",
            span,
            f"`{name}` is not known in every state named here",
            label=place.partial[name],
        )
    if place.binding is not None and place.binding.calls(name):
        text = f"`{name}` is {place.binding.owner}; write `{name}.field`"
        return place.report("DEED301", span, text)
    if name in ("phase", "old", "new"):
        text = f"`{name}` cannot be read here"
        if name in place.subjects:
            text = f"`{name}` is a whole state; write `{name} is A` or `{name}.field`"
        return place.report(
            "DEED301" if name in place.subjects else "DEED201", span, text
        )
    return _unknown(name, place, span)


def _unknown(name: str, place: Place, span: Span) -> core.Expr:
    binding = place.binding
    text = f"there is nothing called `{name}` here"
    if binding is not None and name in binding.fields:
        place.problems.append(_unbound(name, text, binding, place, span))
        return core.Constant(None, ERROR, span)
    known = [*place.names, *_WORDS]
    if binding is not None and binding.bound:
        known.append(binding.name)
    before = f"{name}: " if place.punned else ""
    called = syntax.Name(name, span)
    place.problems.append(unknown("DEED201", called, text, known, before=before))
    return core.Constant(None, ERROR, span)


def _unbound(
    name: str, text: str, binding: Binding, place: Place, span: Span
) -> Problem:
    """A field of the message or outcome, which is read through `as`."""
    member = f"{binding.name}.{name}"
    hint = f"It is a field of {binding.owner}: write `{member}`"
    edits = [Edit(span, f"{name}: {member}" if place.punned else member)]
    title = f"Write `{member}`"
    if not binding.bound:
        hint = f"It is a field of {binding.owner}: write `as {binding.name}` after its name, and `{member}`"
        title += f" and `as {binding.name}`"
        at = binding.span.end
        end = replace(
            binding.span, start=at, column=binding.span.column + at - binding.span.start
        )
        edits.insert(0, Edit(end, f" as {binding.name}"))
    return Problem(
        "DEED201", span, text, hints=(f"{hint}.",), fixes=(Fix(title, tuple(edits)),)
    )


def _state_field(
    name: str, subject: Subject, place: Place, facts: Facts, span: Span
) -> core.Expr | None:
    """A field of the state that a property speaks of, when every possible state has it."""
    possible = facts.phases.get(subject, frozenset(place.states))
    having = [
        phase for phase in sorted(possible) if name in place.states.get(phase, {})
    ]
    if not having:
        return None
    kinds = {place.states[phase][name] for phase in having}
    missing = sorted(possible - set(having))
    if missing or len(kinds) > 1:
        lacking = f"`{missing[0]}` has no such field" if missing else "its type differs"
        hint = f"Say first which states are meant: `{subject} is {having[0]} and …`."
        text = f"`{name}` is not known in every state that this may be"
        return place.report("DEED306", span, text, label=lacking, hint=hint)
    kind = kinds.pop()
    if subject == "phase":
        return core.Read("state", name, kind, span)
    return core.Side("old" if subject == "old" else "new", name, kind, span)


# ---- members ---------------------------------------------------------------------


def _member(expr: syntax.Member, place: Place, facts: Facts) -> core.Expr:
    name, span = expr.name.text, expr.span
    if isinstance(expr.target, syntax.Var) and expr.target.name not in place.names:
        found = _named_member(expr.target.name, expr, place, facts)
        if found is not None:
            return found
    target = infer(expr.target, place, facts)
    if is_error(target):
        return core.Constant(None, ERROR, span)
    match target.type:
        case RecordType(name=record, fields=fields):
            known = dict(fields)
            if name in known:
                return core.Member(target, name, known[name], span)
            return _no_field(
                f"the record `{record}`", name, known, place, expr.name.span
            )
        case ChoiceType():
            return _variant_field(target, target.type, expr, place, facts)
        case Maybe():
            hint = "Show first that it is not: `when x != none`."
            return place.report(
                "DEED305",
                target.span,
                f"this may be none, and then it has no `{name}`",
                hint=hint,
            )
        case _:
            text = f"{show(target.type)} has no fields, so there is no `{name}` of it"
            return place.report("DEED303", expr.name.span, text)


def _named_member(
    target: str, expr: syntax.Member, place: Place, facts: Facts
) -> core.Expr | None:
    """A member of what is no value: a bound message, `old`, `new`, a policy."""
    name, span = expr.name.text, expr.span
    binding = place.binding
    if binding is not None and binding.calls(target):
        if name in binding.fields:
            return core.Bound(name, binding.fields[name], span)
        return _no_field(binding.owner, name, binding.fields, place, expr.name.span)
    if target == "old" or target == "new":
        if target not in place.subjects:
            return None
        own = place.names.get(name)
        if own is not None:
            return core.Side(target, name, own.type, span)
        held = _state_field(name, target, place, facts, span)
        if held is not None:
            return held
        known = {field for fields in place.states.values() for field in fields}
        return _no_field(f"the `{target}` state", name, known, place, expr.name.span)
    if target not in place.scope.policies:
        return None
    ladder = place.scope.policies[target]
    if ladder is None:
        return core.Constant(None, ERROR, span)
    if name != "attempts":
        text = f"a policy has only `attempts` to read, no `{name}`"
        return place.report("DEED303", expr.name.span, text)
    if ladder.attempts is None:
        return place.report(
            "DEED504", span, f"`{target}` is unlimited, so it has no number of attempts"
        )
    return core.Attempts(target, INT, span)


def _variant_field(
    target: core.Expr, kind: ChoiceType, expr: syntax.Member, place: Place, facts: Facts
) -> core.Expr:
    name = expr.name.text
    variants = dict(kind.variants)
    possible = facts.variants.get(target, frozenset(variants))
    having = [v for v in sorted(possible) if name in dict(variants[v])]
    if not having:
        known = [field for v in possible for field, _ in variants[v]]
        return _no_field(
            f"the choice `{kind.name}`", name, known, place, expr.name.span
        )
    kinds = {dict(variants[v])[name] for v in having}
    if len(having) < len(possible) or len(kinds) > 1:
        return place.report(
            "DEED306",
            expr.name.span,
            f"`{name}` belongs to `{having[0]}`, and this may be another variant",
            hint=f"Ask first: `when … is {having[0]}`.",
        )
    return core.Member(target, name, kinds.pop(), expr.span)


def _no_field(
    owner: str, name: str, known: Iterable[str], place: Place, span: Span
) -> core.Expr:
    fields = sorted(known)
    text = f"{owner} has no field `{name}`"
    place.problems.append(unknown("DEED303", syntax.Name(name, span), text, fields))
    return core.Constant(None, ERROR, span)


# ---- operators ---------------------------------------------------------------------


def _unary(expr: syntax.Unary, place: Place, facts: Facts) -> core.Expr:
    if expr.operator == "not":
        operand = condition(expr.operand, place, facts, "after `not`")
        return core.Not(operand, BOOL, expr.span)
    operand = infer(expr.operand, place, facts)
    base = base_of(operand.type)
    if is_error(operand):
        return operand
    if base not in (INT, DURATION):
        return place.report(
            "DEED302", expr.span, f"{show(operand.type)} has no negative"
        )
    if isinstance(operand, core.Constant) and isinstance(operand.value, int):
        return core.Constant(-operand.value, operand.type, expr.span)
    return core.Negative(operand, base, expr.span)


def _binary(expr: syntax.Binary, place: Place, facts: Facts) -> core.Expr:
    match expr.operator:
        case "and" | "or" | "implies":
            left = condition(expr.left, place, facts, f"before `{expr.operator}`")
            after = learn(facts, left, expr.operator != "or")
            right = condition(expr.right, place, after, f"after `{expr.operator}`")
            return core.Binary(expr.operator, left, right, BOOL, expr.span)
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return _comparison(expr, expr.operator, place, facts)
        case "+" | "-" | "*":
            return _arithmetic(expr, expr.operator, place, facts)
        case _:
            assert_never(expr.operator)


def _arithmetic(
    expr: syntax.Binary, operator: Literal["+", "-", "*"], place: Place, facts: Facts
) -> core.Expr:
    left = infer(expr.left, place, facts)
    right = infer(expr.right, place, facts)
    if is_error(left) or is_error(right):
        return core.Constant(None, ERROR, expr.span)
    for side in (left, right):
        if isinstance(side.type, Maybe | NoneType):
            return _may_be_none(side, f"`{operator}` needs a value", place)
    found = arithmetic(operator, left.type, right.type)
    if found is not None:
        return core.Binary(operator, left, right, found, expr.span)
    return place.report(
        "DEED302",
        expr.span,
        f"{show(left.type)} {operator} {show(right.type)} has no meaning",
        hint=_unit_hint(operator, left.type, right.type),
    )


def _unit_hint(operator: str, left: Type, right: Type) -> str:
    bases = {base_of(left), base_of(right)}
    if bases == {INSTANT} and operator == "+":
        return "Two instants have a difference, a duration; they have no sum."
    if INT in bases and (DURATION in bases or INSTANT in bases):
        return "A number becomes a time by its unit: `5s`, or `n * 1s`."
    if TEXT in bases and INT in bases:
        return "`text(…)` writes a number as text."
    return ""


def _comparison(
    expr: syntax.Binary,
    operator: Literal["==", "!=", "<", "<=", ">", ">="],
    place: Place,
    facts: Facts,
) -> core.Expr:
    left = infer(expr.left, place, facts)
    right = infer(expr.right, place, facts)
    if is_error(left) or is_error(right):
        return core.Constant(None, ERROR, expr.span)
    ordered = operator not in ("==", "!=")
    if not ordered and isinstance(left.type, NoneType):
        left, right = right, left
    if not ordered and isinstance(right.type, NoneType):
        subject = plain(left)
        if isinstance(subject.type, Maybe):
            return core.Binary(operator, subject, right, BOOL, expr.span)
        text = f"{show(left.type)} is never none, so there is nothing to ask"
        return place.report("DEED302", expr.span, text)
    if ordered:
        for side in (left, right):
            if isinstance(side.type, Maybe | NoneType):
                return _may_be_none(side, f"`{operator}` needs a value", place)
    one, other = _without_maybe(left.type), _without_maybe(right.type)
    left, right = _like(left, other), _like(right, one)
    one, other = _without_maybe(left.type), _without_maybe(right.type)
    if comparable(one, other, ordered=ordered):
        return core.Binary(operator, left, right, BOOL, expr.span)
    text = (
        f"{show(left.type)} cannot be compared with {show(right.type)} by `{operator}`"
    )
    return place.report("DEED302", expr.span, text)


def _without_maybe(kind: Type) -> Type:
    return kind.item if isinstance(kind, Maybe) else kind


def _like(value: core.Expr, other: Type) -> core.Expr:
    """A literal takes the declared type that it is compared with."""
    if isinstance(value, core.Constant) and base_of(other) is value.type:
        return replace(value, type=other)
    return value


def _may_be_none(side: core.Expr, need: str, place: Place) -> core.Expr:
    return place.report(
        "DEED305",
        side.span,
        f"this may be none, and {need}",
        hint="Show first that it is not: `x != none and …`.",
    )


def _conditional(
    expr: syntax.Conditional, place: Place, facts: Facts, wanted: Type | None
) -> core.Expr:
    test = condition(expr.test, place, facts, "after `if`")
    when, unless = learn(facts, test, True), learn(facts, test, False)
    yes = infer(expr.yes, place, when, wanted)
    no = infer(expr.no, place, unless, wanted)
    if is_error(yes) or is_error(no):
        return core.Constant(None, ERROR, expr.span)
    kind = wanted if wanted is not None else _join(yes, no)
    if kind is None:
        text = f"the two ways of `if` differ: {show(yes.type)} and {show(no.type)}"
        return place.report("DEED301", expr.no.span, text)
    yes = coerce(yes, kind, place, when, "by both ways of `if`")
    no = coerce(no, kind, place, unless, "by both ways of `if`")
    return core.Conditional(test, yes, no, kind, expr.span)


def _join(yes: core.Expr, no: core.Expr) -> Type | None:
    """The one type of two ways; literals and `none` give way."""
    one, other = yes.type, no.type
    if one == other:
        return one
    for kind, value in ((one, no), (other, yes)):
        match kind, value.type:
            case Maybe(), NoneType():
                return kind
            case Maybe(item=item), found if found == item:
                return kind
            case ListOf(), EmptyListType():
                return kind
            case _, NoneType():
                return Maybe(kind)
            case _ if isinstance(value, core.Constant) and base_of(kind) is value.type:
                return kind
            case _:
                pass
    base = base_of(one)
    return (
        base
        if base is not None and base is base_of(other) and base not in (TEXT, BOOL)
        else None
    )


# ---- `is` and calls -------------------------------------------------------------------


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
        return place.report("DEED301", target.span, text)
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
    known = ", ".join(f"`{function}`" for function in SHAPES)
    text = f"there is no function `{name}`" if name else "this is no function"
    called = syntax.Name(name, expr.target.span)
    place.problems.append(
        unknown("DEED201", called, text, SHAPES, otherwise=f"There are: {known}.")
    )
    return core.Constant(None, ERROR, span)


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
        what = "command" if outcomes is None else f"outcome of `{command}`"
        text = f"there is no {what} `{wrong.text}`"
        place.problems.append(
            unknown("DEED201", wrong, text, known, repairs=outcomes is not None)
        )
        return core.Constant(None, ERROR, span)
    return core.Ended(command, outcome.text, INT, span)
