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
from typing import assert_never

from .. import syntax as s
from ..parse import parse
from ..parse.lexemes import Lexeme, scan
from ..policies import duration_text
from ..problems import Problem
from ..source import Span, Text
from .comments import Entry, Written, stacked
from .expressions import type_text
from .items import Item, item_doc
from .lists import (
    body_doc,
    documented,
    fields_doc,
    shape_doc,
    words_doc,
)
from .pretty import SPACE, Doc, cat, group, joined, nest, render


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
        unit = it.unit(item.span, partial(item_doc, item, it, aligned))
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
