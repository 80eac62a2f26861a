"""The fields of a state or message, as a block gives them: set, punned, or carried by `..`.

The result names every field, in the order of what it fills.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from .. import core, syntax
from ..naming import unknown
from ..problems import Edit, Fix, Problem
from ..source import Span, after
from ..types import mentions_error, show
from .expressions import infer
from .facts import Facts
from .place import Place, coerce


def init(
    written: syntax.Init | None,
    fields: tuple[core.Field, ...],
    owner: str,
    place: Place,
    facts: Facts,
    copied: Mapping[str, core.Field],
    span: Span,
) -> tuple[core.Set, ...]:
    """Every field of `fields`, in that order: as set, punned, or carried by `..`."""
    known = {f.name: f for f in fields}
    found: dict[str, core.Expr] = {}
    places: dict[str, Span] = {}
    carry = False
    for item in written.items if written is not None else ():
        if isinstance(item, syntax.CarryOver):
            if not copied:
                place.report("DEED304", item.span, "`..` has nothing to copy here")
            carry = True
            continue
        field, source = item.name, _source(item)
        if field.text in places:
            place.report("DEED304", field.span, f"`{field.text}` is given twice")
            continue
        places[field.text] = field.span
        at = replace(place, punned=isinstance(item, syntax.Pun))
        if field.text not in known:
            infer(source, at, facts)
            no_such_field(owner, field, known, place)
            continue
        kind = known[field.text].type
        why = f"by `{field.text}` of {owner}"
        found[field.text] = coerce(
            infer(source, at, facts, kind), kind, place, facts, why
        )
    if carry:
        for name, wanted in known.items():
            old = copied.get(name)
            if name not in places and old is not None and old.type == wanted.type:
                found[name] = core.Read("state", name, wanted.type, span)
    _nothing_missing(
        known,
        found,
        places,
        owner,
        place,
        copied if carry else {},
        {} if carry else copied,
        written,
        span,
    )
    return tuple(core.Set(name, found[name]) for name in known if name in found)


def _source(item: syntax.Set | syntax.Pun) -> syntax.Expr:
    match item:
        case syntax.Set(value=value):
            return value
        case syntax.Pun(name=name):
            return syntax.Var(name.text, name.span)
        case _:
            assert_never(item)


def _nothing_missing(
    known: Mapping[str, core.Field],
    found: Mapping[str, core.Expr],
    places: Mapping[str, Span],
    owner: str,
    place: Place,
    copied: Mapping[str, core.Field],
    before: Mapping[str, core.Field],
    written: syntax.Init | None,
    span: Span,
) -> None:
    missing = [name for name in known if name not in found and name not in places]
    if not missing or any(mentions_error(known[name].type) for name in missing):
        return
    names = ", ".join(f"`{name}`" for name in missing)
    kept = all(
        name in before and before[name].type == known[name].type for name in missing
    )
    added = ", ".join(f"{name}: …" for name in missing)
    if kept:
        hint = f"Add `..` to keep {names} as before, or `{added}`."
        place.problems.append(
            Problem(
                "DEED304",
                span,
                f"{names} of {owner} is missing here",
                hints=(hint,),
                fixes=(_kept(names, written, span),),
            )
        )
        return
    hint = f"Add `{added}`."
    for name in missing:
        if name in copied:
            found_type, wanted = show(copied[name].type), show(known[name].type)
            hint = f"`..` does not copy `{name}`: it was {found_type} and becomes {wanted}."
    place.report("DEED304", span, f"{names} of {owner} is missing here", hint=hint)


def _kept(names: str, written: syntax.Init | None, span: Span) -> Fix:
    """The edit that carries the missing fields over."""
    title = f"Keep {names} with `..`"
    if written is None:
        return Fix(title, (Edit(after(span), " { .. }"),))
    if not written.items:
        return Fix(title, (Edit(written.span, "{ .. }"),))
    return Fix(
        title,
        (
            Edit(
                replace(written.items[0].span, end=written.items[0].span.start), ".., "
            ),
        ),
    )


def no_such_field(
    owner: str, name: syntax.Name, known: Iterable[str], place: Place
) -> None:
    text = f"{owner} has no field `{name.text}`"
    place.problems.append(unknown("DEED303", name, text, known))
