"""An item of a kind, as the formatter prints it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias, assert_never

from .. import syntax as s
from ..source import Span
from .blocks import bind_doc, block_doc, guard_doc, inside_doc, issue_doc
from .comments import Entry, Written
from .expressions import expression
from .lists import (
    body_doc,
    documented,
    duration_doc,
    field_doc,
    names_doc,
    settings_doc,
    shape_doc,
    words_doc,
)
from .pretty import SPACE, Doc, cat, group, joined, nest
from .rules import action_doc, attempt_doc, command_doc, each_doc, step_doc

Item: TypeAlias = s.MachineItem | s.RetryItem | s.ScanItem | s.SagaItem


def item_doc(item: Item, it: Written, aligned: bool) -> Doc:
    match item:
        case s.Key():
            return _plain_fields("key", item.fields)
        case s.Given():
            return _plain_fields("given", item.fields)
        case s.State():
            word = "final " if item.final else "state "
            awaits = "" if item.awaits is None else f" awaits {item.awaits.text}"
            shape = shape_doc(item.name, item.fields, it, word)
            return documented(item.doc, cat(shape, awaits))
        case s.Message():
            shape = shape_doc(item.name, item.fields, it, "message ")
            return documented(item.doc, shape)
        case s.Command():
            return command_doc(item, it)
        case s.Start():
            return cat("start ", block_doc(item.block, it))
        case s.Inside():
            return inside_doc(item, it)
        case s.Again():
            return _again(item, it)
        case s.Allow():
            return f'allow {item.code.text} "{item.reason}"'
        case s.Property():
            return _property(item)
        case s.Check():
            bounds = [(each.span, _bound(each)) for each in item.bounds]
            start = Span(item.span.path, item.span.start, 0, 0, 0)
            return cat("check ", words_doc(bounds, start, item.span, it, "  "))
        case s.Migrate():
            entries: list[Entry] = []
            for each in item.items:
                entries += it.unit(each.span, partial(_migration, each, it))
            entries += it.before(item.span.end)
            return cat(f"migrate from {item.version} ", body_doc(entries))
        case s.Uses():
            return f"policy {item.policy.text}"
        case s.Attempt():
            return attempt_doc("do", item, it)
        case s.Spent():
            return cat("spent => ", action_doc(item.action, it))
        case s.WakeOn():
            after = "" if item.after is None else f" after {duration_doc(item.after)}"
            return f"wake on {item.message.text}{after}"
        case s.Page():
            return f"page {item.size}"
        case s.Cursor():
            return cat("cursor ", field_doc(item.variable))
        case s.Fetch():
            return attempt_doc("fetch", item.attempt, it)
        case s.Each():
            return each_doc(item, it)
        case s.ContinueAfter():
            return f"continue after {duration_doc(item.after)}"
        case s.Idle():
            return f"idle {duration_doc(item.wait)}"
        case s.Step():
            return step_doc(item, it)
        case s.SagaDone():
            word = "done   ->" if aligned else "done ->"
            return cat(f"{word} {item.state.text}", settings_doc(item.init, it))
        case s.SagaUndone():
            return cat(f"undone -> {item.state.text}", settings_doc(item.init, it))
        case s.NoCancel():
            return f'no cancel "{item.reason}"'
        case _:
            assert_never(item)


def _plain_fields(word: str, fields: Sequence[s.Field]) -> Doc:
    inner = joined([field_doc(each) for each in fields], cat(",", SPACE))
    return group(f"{word} ", nest(inner, indent=4))


def _again(item: s.Again, it: Written) -> Doc:
    match item.exit:
        case s.Keep():
            end: Doc = "keep"
        case s.Replace():
            end = cat("replace", settings_doc(item.exit.init, it))
        case _:
            assert_never(item.exit)
    head = cat("on start again", bind_doc(item.bind), guard_doc(item.guard))
    return cat(head, " ", group("{", nest(SPACE, end), SPACE, "}"))


def _property(item: s.Property) -> Doc:
    head = f"{item.word} {item.name.text}: "
    if item.target is None:
        return group(head, _pred(item.pred))
    within: list[Doc] = (
        [] if item.within is None else [SPACE, f"within {duration_doc(item.within)}"]
    )
    return group(
        head, nest(_pred(item.pred), SPACE, "to ", _pred(item.target), *within)
    )


def _pred(pred: s.Pred) -> Doc:
    if not pred.states:
        return expression(pred.expr)
    return cat(f"in {names_doc(pred.states)} when ", expression(pred.expr))


def _bound(bound: s.Bound | s.Faults | s.Assume) -> str:
    match bound:
        case s.Bound():
            return f"{bound.word} {bound.value}"
        case s.Faults():
            excepted = names_doc(bound.excepted)
            return f"faults all except {excepted}" if excepted else "faults all"
        case s.Assume():
            return f"assume {bound.command.text}.{bound.outcome.text} in the end"
        case _:
            assert_never(bound)


def _migration(
    item: s.MigrateState | s.MigrateDrop | s.MigrateCommand, it: Written
) -> Doc:
    match item:
        case s.MigrateState():
            becomes = "" if item.becomes is None else f" becomes {item.becomes.text}"
            head = f"state {item.state.text}{becomes}"
        case s.MigrateDrop():
            head = f"drop state {item.state.text} becomes {item.becomes.text}"
        case s.MigrateCommand():
            return cat(f"command {item.command.text}", settings_doc(item.init, it))
        case _:
            assert_never(item)
    settings = settings_doc(item.init, it)
    issues: list[Doc] = [cat(" ", issue_doc(each, it)) for each in item.issues]
    return cat(head, settings, *issues)
