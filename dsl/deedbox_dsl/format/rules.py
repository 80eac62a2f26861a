"""Commands and how they may end, as the formatter prints them.

The signs `->` and `|` stand in one column, and so do the `=>` of one command as far
as their outcomes are short enough to stand on one line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, assert_never

from .. import syntax as s
from .blocks import arguments_doc
from .comments import Entry, Written, stacked
from .expressions import expression
from .lists import (
    body_doc,
    documented,
    duration_doc,
    fields_doc,
    settings_doc,
    shape_doc,
)
from .pretty import SPACE, Doc, Hard, cat, flat, group, nest

ALIGNED_AT_MOST: Final = 60


def command_doc(item: s.Command, it: Written) -> Doc:
    word = "unrepeatable command" if item.unrepeatable else "command"
    params = fields_doc("(", ")", item.params, item.name.span, it)
    head = cat(f"{word} {item.name.text}", params)
    entries: list[Entry] = []
    for index, outcome in enumerate(item.outcomes):
        make = partial(_alternative, index, outcome, None, 0, it)
        entries += it.unit(outcome.span, make)
    return documented(item.doc, _alternatives(head, entries))


def attempt_doc(word: str, item: s.Attempt, it: Written) -> Doc:
    full = f"unrepeatable {word}" if item.unrepeatable else word
    params = fields_doc("(", ")", item.params, item.command.span, it)
    head = cat(f"{full} {item.command.text}", params)
    widths = [len(text) for text in map(_outcome_text, item.rules) if text is not None]
    width = max((each for each in widths if each <= ALIGNED_AT_MOST), default=0)
    entries: list[Entry] = []
    for index, rule in enumerate(item.rules):
        outcome = rule.outcome if isinstance(rule, s.Rule) else rule.after
        make = partial(_alternative, index, outcome, rule.action, width, it)
        entries += it.unit(rule.span, make)
    return documented(item.doc, _alternatives(head, entries))


def _alternatives(head: Doc, entries: Sequence[Entry]) -> Doc:
    if not entries:
        return head
    return cat(
        head, nest(Hard(), stacked([Entry(each.doc, False) for each in entries]))
    )


def _outcome_text(rule: s.Rule | s.SilenceRule) -> str | None:
    """What stands before `=>`, where it can stand on one line."""
    if isinstance(rule, s.SilenceRule):
        return _silence(rule.after)
    return flat(shape_doc(rule.outcome.name, rule.outcome.fields, Written(None)))


def _silence(after: s.DurationLit) -> str:
    return f"silence after {duration_doc(after)}"


def _alternative(
    index: int,
    outcome: s.Outcome | s.DurationLit,
    action: s.Action | None,
    width: int,
    it: Written,
) -> Doc:
    """One way to end, after `->` or `|`, and what follows from it."""
    sign = " | " if index else "-> "
    shape: Doc
    if isinstance(outcome, s.DurationLit):
        shape = _silence(outcome)
    else:
        shape = shape_doc(outcome.name, outcome.fields, it)
    if action is None:
        return cat(sign, nest(shape, indent=3))
    one = flat(shape)
    if one is not None and len(one) <= width:
        shape = one.ljust(width)
    return cat(sign, nest(shape, " => ", action_doc(action, it), indent=3))


def action_doc(action: s.Action, it: Written) -> Doc:
    match action:
        case s.Next():
            return "next"
        case s.AgainAction():
            return "again"
        case s.Rest():
            return "rest"
        case s.Continue():
            return f"continue after {duration_doc(action.after)}"
        case s.DoneAction():
            return cat(f"done {action.state.text}", settings_doc(action.init, it))
        case s.Abort():
            return "abort with undo" if action.with_undo else "abort"
        case s.RetryThen():
            after = "" if action.after is None else f" after {action.after.text}"
            then = nest(SPACE, "then ", action_doc(action.then, it))
            return group(f"retry {action.policy.text}{after}", then)
        case s.RetryForever():
            head = f"retry {action.policy.text} forever"
            if action.escalate is None:
                return head
            return cat(head, nest(Hard(), _escalate(action.escalate)))
        case _:
            assert_never(action)


def _escalate(escalate: s.Escalate) -> Doc:
    head = f"escalate after {duration_doc(escalate.after)} do {escalate.command.text}"
    return cat(head, arguments_doc(escalate.arguments))


def each_doc(item: s.Each, it: Written) -> Doc:
    source = ".".join(name.text for name in item.source)
    due = cat(" due ", expression(item.due)) if item.due is not None else ""
    head = cat(f"each {item.item.text} in {source} by ", expression(item.by), due, " ")
    entries = it.unit(item.attempt.span, partial(attempt_doc, "do", item.attempt, it))
    return cat(head, body_doc([*entries, *it.before(item.span.end)]))


def step_doc(item: s.Step, it: Written) -> Doc:
    entries = it.unit(item.do.span, partial(attempt_doc, "do", item.do, it))
    match item.undo:
        case s.Attempt():
            undo: Callable[[], Doc] = partial(attempt_doc, "undo", item.undo, it)
        case s.NoUndo():
            undo = partial(str, f'no undo "{item.undo.reason}"')
        case _:
            assert_never(item.undo)
    entries += it.unit(item.undo.span, undo)
    entries += it.before(item.span.end)
    return documented(item.doc, cat(f"step {item.name.text} ", body_doc(entries)))
