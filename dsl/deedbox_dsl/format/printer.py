"""The one layout of a spec: no options.

It aligns `->`, `|` and `=>` within one declaration, keeps comments, at most one
empty line, and the author's choice between one line and several where both fit.
What it prints parses to the same tree, and formatting it again changes nothing; tests
prove both on random trees.  It prints the lowered form of a kind as well, which has no
text behind it.

Here stand files, declarations and items; `format_lists`, `format_blocks`,
`format_rules` and `format_expressions` print what is inside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias, assert_never

from .. import syntax as s
from ..parse import parse
from ..parse.lexemes import Lexeme, scan
from ..problems import Problem
from ..source import Span, Text
from .blocks import bind_doc, block_doc, guard_doc, inside_doc, issue_doc
from .comments import Entry, Written, stacked
from .expressions import duration_text, expression, type_text
from .lists import (
    body_doc,
    documented,
    duration_doc,
    field_doc,
    fields_doc,
    names_doc,
    settings_doc,
    shape_doc,
    words_doc,
)
from .pretty import SPACE, Doc, cat, group, joined, nest, render
from .rules import action_doc, attempt_doc, command_doc, each_doc, step_doc

Item: TypeAlias = s.MachineItem | s.RetryItem | s.ScanItem | s.SagaItem


def format_text(text: Text) -> str | tuple[Problem, ...]:
    """The formatted text of a file, or why it cannot be read."""
    module, problems = parse(text)
    if problems:
        return problems
    scanned = scan(text)
    written = Written(text, scanned.comments)
    head = _module_span(text, scanned.lexemes)
    return _module(module, written, head)


def format_tree(module: s.Module) -> str:
    """The text of a tree that has none: a lowered or a generated one."""
    return _module(module, Written(None), Span("", 0, 0, 1, 1))


def format_machine(machine: s.Machine) -> str:
    """The text of one machine, as `show --lowered` prints it."""
    return render(_kind("machine", machine, Written(None))) + "\n"


def _module_span(text: Text, lexemes: Sequence[Lexeme]) -> Span:
    """Where the line `module a.b` stands."""
    end = 1
    while end + 1 < len(lexemes) and lexemes[end + 1].text == ".":
        end += 2
    if not lexemes or lexemes[0].text != "module":
        return text.span(0, 0)
    return text.span(lexemes[0].start, lexemes[end].end)


def _module(module: s.Module, it: Written, head: Span) -> str:
    entries: list[Entry] = []
    name = module.name
    if name is not None:
        entries += it.unit(head, partial(str, f"module {name}"))
    previous: s.Use | s.Declaration | None = None
    for node in (*module.uses, *module.declarations):
        unit = it.unit(node.span, partial(_top, node, it))
        if it.text is None:
            apart = not (
                isinstance(node, s.Alias | s.Use) and type(previous) is type(node)
            )
            unit[-1] = Entry(unit[-1].doc, apart)
        entries += unit
        previous = node
    entries += it.before(module.span.end + 1)
    return render(stacked(entries)) + "\n" if entries else ""


def _top(node: s.Use | s.Declaration, it: Written) -> Doc:
    match node:
        case s.Use():
            names = [name.text for name in node.names]
            return cat(f"use {node.module.text} ", _braced_names(names))
        case s.Alias():
            return documented(node.doc, _alias(node))
        case s.Record():
            fields = fields_doc("{", "}", node.fields, node.name.span, it)
            return documented(node.doc, cat(f"record {node.name.text} ", fields))
        case s.Choice():
            return documented(node.doc, _choice(node, it))
        case s.Policy():
            items = [(each.span, _policy_item(each)) for each in node.items]
            body = words_doc(items, node.name.span, node.span, it, " ")
            return documented(node.doc, cat(f"policy {node.name.text} ", body))
        case s.Machine():
            return _kind("machine", node, it)
        case s.Retry():
            return _kind("retry", node, it)
        case s.Scan():
            return _kind("scan", node, it)
        case s.Saga():
            return _kind("saga", node, it)
        case _:
            assert_never(node)


def _braced_names(names: Sequence[str]) -> Doc:
    inner = joined(names, cat(",", SPACE))
    return group("{", nest(SPACE, inner), SPACE, "}")


def _alias(node: s.Alias) -> Doc:
    bounds = ""
    if node.low is not None and node.high is not None:
        bounds = f" in {_limit(node.low)}..{_limit(node.high)}"
    return f"type {node.name.text} = {type_text(node.type)}{bounds}"


def _limit(limit: s.IntLit | s.DurationLit) -> str:
    if isinstance(limit, s.IntLit):
        return limit.written or str(limit.value)
    return limit.written or duration_text(limit.milliseconds)


def _policy_item(item: s.PolicyItem) -> str:
    if item.written:
        return f"{item.word} {item.written}"
    match item.word, item.value:
        case (("first" | "max" | "within"), int(milliseconds)):
            return f"{item.word} {duration_text(milliseconds)}"
        case "jitter", int(percent):
            return f"jitter {percent}%"
        case word, value:
            return f"{word} {value}"


def _choice(node: s.Choice, it: Written) -> Doc:
    broken = it.has_before(node.span.end) or (
        bool(node.variants) and it.breaks(node.name.span, node.variants[0].span)
    )
    entries: list[Entry] = []
    for index, variant in enumerate(node.variants):
        bar = "| " if index else ("  " if broken else "")
        shape = partial(shape_doc, variant.name, variant.fields, it, bar)
        entries += it.unit(variant.span, shape)
    entries += it.before(node.span.end)
    if broken:
        return cat(f"choice {node.name.text} ", body_doc(entries))
    inner = joined([entry.doc for entry in entries], SPACE)
    return group(f"choice {node.name.text} {{", nest(SPACE, inner), SPACE, "}")


def _kind(word: str, node: s.Kind, it: Written) -> Doc:
    entries: list[Entry] = []
    aligned = {type(item) for item in node.items} >= {s.SagaDone, s.SagaUndone}
    previous: Item | None = None
    for item in node.items:
        unit = it.unit(item.span, partial(_item, item, it, aligned))
        if it.text is None:
            apart = previous is not None and _apart(previous, item)
            unit[-1] = Entry(unit[-1].doc, apart)
        entries += unit
        previous = item
    entries += it.before(node.span.end)
    head = f"{word} {node.name.text} version {node.version} "
    return documented(node.doc, cat(head, body_doc(entries)))


def _apart(previous: Item, item: Item) -> bool:
    """Whether an empty line stands between two items that nobody wrote."""
    sort = _sort(item)
    return sort == "large" or _sort(previous) != sort


def _sort(item: Item) -> str:
    match item:
        case s.Key() | s.Given():
            return "identity"
        case s.State():
            return "states"
        case s.Message():
            return "messages"
        case s.Command():
            return "commands"
        case s.Uses() | s.Spent() | s.WakeOn():
            return "course"
        case s.Page() | s.Cursor() | s.ContinueAfter() | s.Idle():
            return "pages"
        case s.SagaDone() | s.SagaUndone() | s.NoCancel():
            return "ends"
        case s.Again():
            return "starts"
        case s.Property():
            return "properties"
        case s.Check() | s.Allow():
            return "checks"
        case (
            s.Start()
            | s.Inside()
            | s.Step()
            | s.Attempt()
            | s.Fetch()
            | s.Each()
            | s.Migrate()
        ):
            return "large"
        case _:
            assert_never(item)


def _item(item: Item, it: Written, aligned: bool) -> Doc:
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
