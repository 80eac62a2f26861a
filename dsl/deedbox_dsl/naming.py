"""What is said of a name: that it is taken, reserved, misspelt, or means nothing.

Every phase that meets a name says these things in the same words, with the edits
that repair them.  Where a name is declared, and what it means, is known elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from . import syntax
from .problems import Edit, Fix, Label, Problem
from .reserved import why_no_class, why_no_field
from .source import Span
from .spelling import is_pascal, is_snake, pascal, snake
from .suggest import nearest

MOST_LISTED: Final = 8


_INSTEAD: Final = {
    "at": "happened_at",
    "class": "category",
    "command": "order",
    "done": "is_done",
    "final": "is_final",
    "from": "origin",
    "key": "lookup_key",
    "list": "items",
    "message": "words",
    "new": "newer",
    "none": "nobody",
    "no": "refused",
    "now": "moment",
    "old": "older",
    "phase": "stage",
    "policy": "contract",
    "record": "entry",
    "start": "begins",
    "state": "status",
    "step": "stage",
    "ticket": "ticket_number",
    "to": "target",
    "type": "sort",
    "version": "edition",
    "within": "limit",
}
"""Names that people often want, and one that each may have."""


def taken(name: str, span: Span, before: Span, text: str = "") -> Problem:
    return Problem(
        "DEED202",
        span,
        text or f"the name `{name}` is already taken",
        label="declared again here",
        others=(Label(before, "first declared here"),),
    )


def reserved(name: syntax.Name, whose: str) -> Problem:
    instead = _INSTEAD.get(name.text)
    another = f"for example `{instead}`" if instead else "choose another one"
    hint = f"Generated code has the names of the spec, unchanged: {another}."
    return Problem("DEED203", name.span, f"`{name.text}` is {whose}", hints=(hint,))


def unknown(
    code: str,
    name: syntax.Name,
    text: str,
    known: Iterable[str],
    *,
    otherwise: str = "",
    instead: str = "",
    repairs: bool = True,
    before: str = "",
) -> Problem:
    """A name that means nothing here, with the one that was probably meant.

    `otherwise` is said when none is near, `instead` in any case; `repairs` is False where the name stands
    for more than itself, so that to exchange it is not certain to be right; `before`
    is written before the exchanged name.
    """
    names = sorted(set(known))
    if instead:
        return Problem(code, name.span, text, hints=(instead,))
    meant = nearest(name.text, names)
    if meant is None:
        if not otherwise and 0 < len(names) <= MOST_LISTED:
            otherwise = f"Known here: {', '.join(f'`{each}`' for each in names)}."
        return Problem(code, name.span, text, hints=(otherwise,) if otherwise else ())
    fix = Fix(f"Write `{meant}`", (Edit(name.span, before + meant),))
    return Problem(
        code,
        name.span,
        text,
        hints=(f"Did you mean `{meant}`?",),
        fixes=(fix,) if repairs else (),
    )


def named_pascal(name: syntax.Name, sort: str) -> list[Problem]:
    whose = why_no_class(name.text)
    if whose is not None:
        return [reserved(name, whose)]
    if is_pascal(name.text):
        return []
    return [_spelling(name, sort, pascal(name.text))]


def named_snake(name: syntax.Name, sort: str, whose: str | None) -> list[Problem]:
    if whose is not None:
        return [reserved(name, whose)]
    if is_snake(name.text):
        return []
    return [_spelling(name, sort, snake(name.text))]


def _spelling(name: syntax.Name, sort: str, better: str) -> Problem:
    text = f"the name of a {sort} is written like `{better}`, not `{name.text}`"
    advice = f"Call it `{better}` everywhere"
    fix = Fix(advice, (Edit(name.span, better),))
    return Problem("DEED207", name.span, text, hints=(f"{advice}.",), fixes=(fix,))


def check_fields(
    written: tuple[syntax.Field, ...], *, params: bool = False
) -> list[Problem]:
    """The names of a field list, or of a command's parameters, which may be a `deed`."""
    problems: list[Problem] = []
    seen: dict[str, Span] = {}
    for item in written:
        name = item.name
        if name.text in seen:
            problems.append(taken(name.text, name.span, seen[name.text]))
        else:
            seen[name.text] = name.span
            whose = None if params and name.text == "deed" else why_no_field(name.text)
            problems += named_snake(name, "field", whose)
        if item.value is not None:
            text = f"`{name.text}` cannot be given a value here"
            hint = (
                "Only the parameters of a kind's `do`, `undo` and `fetch` take `= …`."
            )
            problems.append(Problem("DEED101", item.value.span, text, hints=(hint,)))
    return problems
