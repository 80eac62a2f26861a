"""A page is asked for, and has come.

One record more than a page is read; what is consumed is `take(list, n)`, and there is
another page only when the next record was really seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import syntax
from ...source import Span
from .. import asking, rules, trees
from ..trees import Maker
from .fields import fetching_fields, working_fields
from .items import ask_head, first_item
from .plan import Plan
from .rests import pause, rest, wait


def fetch_bound(found: Plan) -> dict[str, Maker]:
    return {"limit": lambda span: trees.number(found.page + 1, span)}


def ask_for_page(
    found: Plan, cursor: Maker, span: Span, woken: syntax.Expr | None = None
) -> syntax.Block:
    """Ask for one record more than is consumed: it shows whether there is another page."""
    name = found.cursor.name.text
    values = {name: cursor(span)}
    if found.wakes:
        values["woken"] = syntax.BoolLit(False, span) if woken is None else woken
    meanings = {**fetch_bound(found), name: cursor}
    fields = fetching_fields(found)
    return asking.first(found.fetch, "Fetching", fields, meanings, values, span)


def fetched(
    rule: syntax.Rule | syntax.SilenceRule, found: Plan
) -> Iterator[syntax.Clause]:
    command, out = found.fetch.attempt.command, found.out
    for leaf in rules.leaves(rule.action, found.scope, out):
        match leaf.action:
            case rules.Later():
                block = wait(
                    rule,
                    leaf.action,
                    "Fetch",
                    found.fetch,
                    fetching_fields(found),
                    found,
                )
            case syntax.Next() if rule is found.page_rule:
                yield from _page(found)
                continue
            case syntax.Next():
                block = rest(found, trees.nothing, rule.span)
            case _:
                block = rest(found, trees.itself(found.cursor.name.text), rule.span)
        yield asking.clause(command, rule, leaf.guard, block, out)


# ---- a page has come ---------------------------------------------------------------------------


def _page(found: Plan) -> Iterator[syntax.Clause]:
    """Work on what is due; or go on to the next page; or end the pass."""
    rule = found.page_rule
    span, command, out = rule.span, found.fetch.attempt.command, found.out

    def listed() -> syntax.Expr:
        return trees.member(out, found.each.source[-1].text, span)

    consumed = trees.call("take", listed(), trees.number(found.page, span), span=span)
    seen_more = trees.binary(
        ">",
        trees.call("len", listed(), span=span),
        trees.number(found.page, span),
        span,
    )
    some_due = _some_due(found, consumed, span)
    begin = _begin_page(found, consumed, seen_more, span)
    yield asking.clause(command, rule, some_due, begin, out)
    if found.each.due is not None:
        after = _by(found, trees.call("last", consumed, span=span))
        block = pause(found, after, span)
        yield asking.clause(command, rule, seen_more, block, out)
    yield asking.clause(command, rule, None, rest(found, trees.nothing, span), out)


def _some_due(found: Plan, consumed: syntax.Expr, span: Span) -> syntax.Expr:
    """Whether any consumed record may be worked on now."""
    if found.each.due is None:
        length = trees.call("len", consumed, span=span)
        return trees.binary(">", length, trees.number(0, span), span)
    return _over("any", found, consumed, found.each.due, span)


def _over(
    function: str, found: Plan, source: syntax.Expr, due: syntax.Expr, span: Span
) -> syntax.Expr:
    binder = syntax.Binder(found.each.item, source, span)
    is_due = trees.binary("<=", due, syntax.Now(span), span)
    return syntax.Call(trees.var(function, span), (binder, is_due), span)


def _begin_page(
    found: Plan, consumed: syntax.Expr, seen_more: syntax.Expr, span: Span
) -> syntax.Block:
    mine, ready = found.mine, found.ready
    lets = [syntax.Let(trees.name(mine, span), consumed, span)]
    if found.each.due is None:
        ready = mine
    else:
        chosen = _over("filter", found, trees.var(mine, span), found.each.due, span)
        lets.append(syntax.Let(trees.name(ready, span), chosen, span))
    upto = _by(found, trees.call("last", trees.var(mine, span), span=span))
    values = first_item(found, ready, span)
    values |= {"upto": upto, "more": seen_more}
    if found.wakes:
        values["woken"] = trees.var("woken", span)
    exit_ = trees.goto("Working", working_fields(found), values, span)
    return syntax.Block(tuple(lets), (ask_head(found, ready, span),), exit_, span)


def _by(found: Plan, record: syntax.Expr) -> syntax.Expr:
    """The cursor's value at a record."""
    return trees.substitute(found.each.by, {found.each.item.text: lambda _: record})
