"""The fields of a scan's states."""

from __future__ import annotations

from collections.abc import Sequence

from ... import syntax
from ...source import Span
from .. import asking, rules, trees
from .plan import Plan


def cursor_field(found: Plan) -> syntax.Field:
    return trees.field(found.cursor.name.text, found.cursor.type, found.cursor.span)


def due_field(span: Span) -> syntax.Field:
    return trees.field("due", "instant", span)


def _woken_field(found: Plan, span: Span) -> list[syntax.Field]:
    return [trees.field("woken", "bool", span)] if found.wakes else []


def fetching_fields(found: Plan) -> list[syntax.Field]:
    span = found.fetch.span
    return [
        cursor_field(found),
        *asking.loop_fields(found.fetch, span),
        *asking.silent_field(found.fetch, span),
        *_woken_field(found, span),
    ]


def page_fields(found: Plan) -> list[syntax.Field]:
    """What is left of a page: the item at hand, those after it, and where the page ends."""
    span, item = found.item.span, found.each.item
    items = syntax.TypeName(trees.name("list", span), (found.item_type,), span)
    return [
        trees.field(item.text, found.item_type, item.span),
        trees.field("todo", items, span),
        trees.field("upto", found.cursor.type, span),
        trees.field("more", "bool", span),
    ]


def working_fields(found: Plan) -> list[syntax.Field]:
    span = found.item.span
    return [
        *page_fields(found),
        *asking.loop_fields(found.item, span),
        *asking.silent_field(found.item, span),
        *_woken_field(found, span),
    ]


def waiting_fields(
    asked: rules.Loop, fields: Sequence[syntax.Field]
) -> list[syntax.Field]:
    """The awaiting state's fields, with `due` and `error` for `silent_at`."""
    kept = [each for each in fields if each.name.text != "silent_at"]
    return [*kept, due_field(asked.span), trees.field("error", "text", asked.span)]


def pausing_fields(found: Plan, span: Span) -> list[syntax.Field]:
    return [cursor_field(found), *_woken_field(found, span), due_field(span)]


def resting_fields(found: Plan, span: Span) -> list[syntax.Field]:
    return [cursor_field(found), due_field(span)]
