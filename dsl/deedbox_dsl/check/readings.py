"""What a name means where it stands, and what may stand after its dot.

A bare name is a field, a `let`, a message that `as` names, or a word of the
properties; a member is a field of what such a name, or any value, stands for.
The values before a dot arrive typed, so nothing here looks into an expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, Literal

from .. import core, syntax
from ..naming import unknown
from ..problems import Edit, Fix, Problem
from ..source import Span, after
from ..types import ERROR, INT, TEXT, ChoiceType, Maybe, RecordType, show
from .facts import Facts, Subject
from .place import Binding, Place, may_be_none

_SIDES: Final[Mapping[str, Literal["old", "new"]]] = {"old": "old", "new": "new"}
_WORDS: Final = ("true", "false", "none", "now")


def known(expr: core.Expr, facts: Facts) -> core.Expr:
    if isinstance(expr.type, Maybe) and expr in facts.present:
        return core.Known(expr, expr.type.item, expr.span)
    return expr


def variable(expr: syntax.Var, place: Place, facts: Facts) -> core.Expr:
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
    state = ""
    if name in place.phases:
        state = (
            f"It is a state: write `phase is {name}`, of several `phase is {name} | …`."
        )
    place.problems.append(
        unknown("DEED201", called, text, known, otherwise=state, before=before)
    )
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
        edits.insert(0, Edit(after(binding.span), f" as {binding.name}"))
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


def member(
    target: core.Expr, expr: syntax.Member, place: Place, facts: Facts
) -> core.Expr:
    """A field of a typed value."""
    name, span = expr.name.text, expr.span
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
            return may_be_none(target, f"then it has no `{name}`", place)
        case _:
            text = f"{show(target.type)} has no fields, so there is no `{name}` of it"
            return place.report("DEED303", expr.name.span, text)


def named_member(
    target: str, expr: syntax.Member, place: Place, facts: Facts
) -> core.Expr | None:
    """A member of what is no value: a bound message, `old`, `new`, a policy."""
    name, span = expr.name.text, expr.span
    binding = place.binding
    if binding is not None and binding.calls(target):
        if name in binding.fields:
            return core.Bound(name, binding.fields[name], span)
        return _no_field(binding.owner, name, binding.fields, place, expr.name.span)
    side = _SIDES.get(target)
    if side is not None:
        if side not in place.subjects:
            return None
        own = place.names.get(name)
        if own is not None:
            return core.Side(side, name, own.type, span)
        held = _state_field(name, side, place, facts, span)
        if held is not None:
            return held
        known = {field for fields in place.states.values() for field in fields}
        return _no_field(f"the `{side}` state", name, known, place, expr.name.span)
    if target not in place.scope.policies:
        if binding is None or binding.bound or name not in binding.fields:
            return None
        return _without_as(target, binding, expr.target.span, place)
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


def _without_as(target: str, binding: Binding, span: Span, place: Place) -> core.Expr:
    """`out.error` in a clause that does not say `as out`."""
    text = f"there is nothing called `{target}` here"
    hint = f"Write `as {target}` after the name of {binding.owner}."
    fix = Fix(f"Write `as {target}`", (Edit(after(binding.span), f" as {target}"),))
    place.problems.append(Problem("DEED201", span, text, hints=(hint,), fixes=(fix,)))
    return core.Constant(None, ERROR, span)


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
