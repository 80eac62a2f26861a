"""What the formatter prints between brackets: fields, settings, words, lines.

A list stands on one line where its author wrote it on one and it fits; else each part
stands on its own line with a comma after it, so that a change of one is one line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, assert_never

from .. import syntax as s
from ..policies import duration_text
from ..source import Span
from .comments import Entry, Written, stacked
from .expressions import expression, type_text
from .pretty import (
    NOTHING,
    SPACE,
    Doc,
    Either,
    Hard,
    Line,
    cat,
    flat,
    group,
    joined,
    nest,
)


def documented(doc: str | None, body: Doc) -> Doc:
    if doc is None:
        return body
    lines: list[Doc] = []
    for line in doc.split("\n"):
        lines.extend([f"/// {line}".rstrip(), Hard()])
    return cat(*lines, body)


def body_doc(entries: Sequence[Entry]) -> Doc:
    """Lines between braces."""
    if not entries:
        return "{}"
    return cat("{", nest(Hard(), stacked(entries)), Hard(), "}")


def field_doc(field: s.Field) -> Doc:
    head = f"{field.name.text}: {type_text(field.type)}"
    if field.value is None:
        return documented(field.doc, head)
    return documented(field.doc, cat(f"{head} = ", expression(field.value)))


def shape_doc(
    name: s.Name, fields: Sequence[s.Field], it: Written, lead: str = ""
) -> Doc:
    """A name and its fields, if it has any."""
    if not fields:
        return lead + name.text
    return cat(f"{lead}{name.text} ", fields_doc("{", "}", fields, name.span, it))


def fields_doc(
    opener: str, closer: str, fields: Sequence[s.Field], after: Span, it: Written
) -> Doc:
    parts: list[Part] = [(each.span, partial(field_doc, each)) for each in fields]
    return _comma_list(opener, closer, parts, after, it)


Part: TypeAlias = tuple[Span, Callable[[], Doc]]


def _comma_list(
    opener: str,
    closer: str,
    parts: Sequence[Part],
    after: Span,
    it: Written,
    end: int = 0,
) -> Doc:
    """Fields, parameters or settings: on one line, or one a line with a comma each.

    `after` is where the list begins, `end` where it ends, as far as that is known.
    """
    if not parts:
        return opener + closer
    entries: list[Entry] = []
    for span, make in parts[:-1]:
        entries += it.unit(span, make, suffix=",")
    entries += it.unit(*parts[-1], suffix=Either("", ","))
    entries += it.before(end)
    if (
        len(entries) > len(parts)
        or it.breaks(after, parts[0][0])
        or any(flat(entry.doc) is None for entry in entries)
    ):
        return cat(opener, nest(Hard(), stacked(entries)), Hard(), closer)
    pad = SPACE if opener == "{" else NOTHING
    inner = joined([entry.doc for entry in entries], SPACE)
    return group(opener, nest(pad, inner), pad, closer)


def words_doc(
    items: Sequence[tuple[Span, str]], after: Span, whole: Span, it: Written, gap: str
) -> Doc:
    """The items of a policy or a `check`: `gap` between them, or one a line."""
    entries: list[Entry] = []
    for span, text in items:
        entries += it.unit(span, partial(str, text))
    entries += it.before(whole.end)
    if (
        len(entries) > len(items)
        or it.breaks(after, items[0][0])
        or any(flat(entry.doc) is None for entry in entries)
    ):
        return body_doc(entries)
    inner = joined([entry.doc for entry in entries], Line(gap))
    return group("{", nest(SPACE, inner), SPACE, "}")


def duration_doc(literal: s.DurationLit) -> str:
    return literal.written or duration_text(literal.milliseconds)


def names_doc(names: Sequence[s.Name]) -> str:
    return ", ".join(name.text for name in names)


def settings_doc(init: s.Init | None, it: Written) -> Doc:
    """A blank and the settings of a state or a message; nothing where there are none."""
    if init is None:
        return ""
    parts: list[Part] = [(each.span, partial(_setting, each)) for each in init.items]
    start = Span(init.span.path, init.span.start, 0, 0, 0)
    return cat(" ", _comma_list("{", "}", parts, start, it, init.span.end))


def _setting(item: s.InitItem) -> Doc:
    match item:
        case s.Set():
            return cat(f"{item.name.text}: ", expression(item.value))
        case s.Pun():
            return item.name.text
        case s.CarryOver():
            return ".."
        case _:
            assert_never(item)
