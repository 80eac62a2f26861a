"""The parts of a scan, and whether they fit together.

A scan needs a page size, a cursor, a fetch, what to do with each record, and how
long to wait between pages and between passes.  The record's type is that of the
list which the fetch's page brings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ... import syntax
from ...names import Scope
from ...naming import reserved, unknown
from ...problems import Problem
from ...reserved import CAPTURES
from .. import asking, rules, waking
from ..assembly import common, key_and_given
from ..stands import misplaced
from ..unfit import twice, unbound, unfit

OWN_FIELDS = CAPTURES | frozenset({"todo", "upto", "more"})
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """`out`, `mine`, `ready`: how clauses call the outcome, the page, and what is due of it."""

    scan: syntax.Scan
    scope: Scope
    common: list[syntax.CommonItem]
    page: int
    cursor: syntax.Field
    fetch: rules.Loop
    page_rule: syntax.Rule
    each: syntax.Each
    item: rules.Loop
    item_type: syntax.TypeExpr
    pause: syntax.DurationLit
    idle: syntax.DurationLit
    wakes: tuple[syntax.WakeOn, ...]
    out: str
    mine: str
    ready: str


def plan(scan: syntax.Scan, scope: Scope) -> tuple[Plan | None, list[Problem]]:
    """The plan, or the problems that leave none."""
    problems: list[Problem] = []
    page = _only(scan, syntax.Page, "page", "`page 32`", problems)
    cursor = _only(scan, syntax.Cursor, "cursor", "`cursor after: Id?`", problems)
    fetch = _only(
        scan, syntax.Fetch, "fetch", "`fetch list(…) -> page { … } => next`", problems
    )
    each = _only(
        scan,
        syntax.Each,
        "each",
        "`each item in page.items by item.id { … }`",
        problems,
    )
    pause = _only(
        scan, syntax.ContinueAfter, "continue", "`continue after 25ms`", problems
    )
    idle = _only(scan, syntax.Idle, "idle", "`idle 60s`", problems)
    if not (page and cursor and fetch and each and pause and idle):
        return None, problems
    handed_on = common(scan.items)
    own = {part.name.text for part in key_and_given(handed_on)}
    problems += _names(key_and_given(handed_on), cursor.variable, each.item)
    if page.size < 1:
        problems.append(Problem("DEED605", page.span, "a page has at least 1 record"))
    if not isinstance(cursor.variable.type, syntax.OptionalType):
        text = "the cursor is none at the beginning, so its type must be optional"
        hint = f"Write `cursor {cursor.variable.name.text}: …?`."
        problems.append(
            Problem("DEED605", cursor.variable.type.span, text, hints=(hint,))
        )
    for rule in fetch.attempt.rules:
        problems += misplaced(rule.action, "fetch")
    for rule in each.attempt.rules:
        problems += misplaced(rule.action, "item")
    for attempt, known in (
        (fetch.attempt, {*own, cursor.variable.name.text, "limit", "attempt"}),
        (each.attempt, {*own, "attempt"}),
    ):
        problems += unfit(attempt, scope)
        problems += unbound(attempt, known)
    wakes = tuple(item for item in scan.items if isinstance(item, syntax.WakeOn))
    messages = [item for item in scan.items if isinstance(item, syntax.Message)]
    problems += waking.wakes(wakes, messages)
    source = _source(each, fetch.attempt, problems)
    if source is None:
        return None, problems
    rule, item_type = source
    taken = {*own, cursor.variable.name.text, each.item.text}
    return (
        Plan(
            scan,
            scope,
            handed_on,
            page.size,
            cursor.variable,
            rules.loop(fetch.attempt, scope),
            rule,
            each,
            rules.loop(each.attempt, scope),
            item_type,
            pause.after,
            idle.wait,
            wakes,
            asking.unused("out", taken),
            asking.unused("mine", taken),
            asking.unused("ready", taken),
        ),
        problems,
    )


def _only(
    scan: syntax.Scan, sort: type[T], word: str, example: str, problems: list[Problem]
) -> T | None:
    """The one item of its sort; a scan without it, or with two, is a problem."""
    found = [item for item in scan.items if isinstance(item, sort)]
    if not found:
        text = f"the scan `{scan.name.text}` has no `{word}`"
        hint = f"Write for example {example}."
        problems.append(Problem("DEED605", scan.name.span, text, hints=(hint,)))
        return None
    problems += twice(word, found)
    return found[0]


def _names(
    own: Iterable[syntax.Field], cursor: syntax.Field, item: syntax.Name
) -> Iterator[Problem]:
    names = [part.name for part in own]
    for name in (*names, cursor.name, item):
        if name.text in OWN_FIELDS:
            yield reserved(name, "a field that a scan has by itself")


def _source(
    each: syntax.Each, fetch: syntax.Attempt, problems: list[Problem]
) -> tuple[syntax.Rule, syntax.TypeExpr] | None:
    """The rule that brings the page, and the type of its records."""
    answers = {
        rule.outcome.name.text: rule
        for rule in fetch.rules
        if isinstance(rule, syntax.Rule)
    }
    outcome = each.source[0]
    if len(each.source) != 2 or outcome.text not in answers:
        text = f"`{fetch.command.text}` has no outcome `{outcome.text}` with a list"
        if len(each.source) != 2:
            text = "`each` goes over a list of an outcome, written `page.items`"
        problems.append(unknown("DEED201", outcome, text, answers))
        return None
    rule, field = answers[outcome.text], each.source[1]
    fields = {part.name.text: part for part in rule.outcome.fields}
    if field.text not in fields:
        text = f"`{outcome.text}` has no field `{field.text}`"
        problems.append(unknown("DEED303", field, text, fields))
        return None
    if not any(isinstance(part, syntax.Next) for part in rules.chain(rule.action)):
        text = f"`each` goes over `{outcome.text}`, and that outcome does not lead to `next`"
        problems.append(Problem("DEED605", outcome.span, text))
        return None
    match fields[field.text].type:
        case syntax.TypeName(name=syntax.Name(text="list"), arguments=(item,)):
            return rule, item
        case _:
            text = f"`each` goes over a list, and `{field.text}` is none"
            problems.append(Problem("DEED301", field.span, text))
            return None
