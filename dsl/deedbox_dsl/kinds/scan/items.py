"""The records of a page, one at a time: the cursor moves once a page."""

from __future__ import annotations

from collections.abc import Iterator

from ... import syntax
from ...source import Span
from .. import asking, rules, trees
from ..trees import Maker
from .fields import working_fields
from .plan import Plan
from .rests import pause, rest, wait


def first_item(found: Plan, items: str, span: Span) -> dict[str, syntax.Expr]:
    """Take the head of `items` in hand."""
    item = found.each.item.text
    values = asking.first_values(found.item, span)
    values[item] = trees.call("head", trees.var(items, span), span=span)
    values["todo"] = trees.call(
        "drop", trees.var(items, span), trees.number(1, span), span=span
    )
    return values


def ask_head(found: Plan, items: str, span: Span) -> syntax.Issue:
    def head(at: Span) -> syntax.Expr:
        return trees.call("head", trees.var(items, at), span=at)

    meanings: dict[str, Maker] = {found.each.item.text: head, "attempt": trees.one}
    arguments = trees.bound_arguments(found.item.attempt.params, meanings)
    return syntax.Do(found.item.attempt.command, arguments, span)


def worked(
    rule: syntax.Rule | syntax.SilenceRule, found: Plan
) -> Iterator[syntax.Clause]:
    command, out = found.item.attempt.command, found.out
    for leaf in _waits_first(rules.leaves(rule.action, found.scope, out)):
        if isinstance(leaf.action, rules.Later):
            fields = working_fields(found)
            block = wait(rule, leaf.action, "Work", found.item, fields, found)
            yield asking.clause(command, rule, leaf.guard, block, out)
            continue
        for guard, block in _next_item(found, rule.span):
            test = trees.all_of((leaf.guard, guard), rule.span)
            yield asking.clause(command, rule, test, block, out)


def _waits_first(found: list[rules.Leaf]) -> list[rules.Leaf]:
    """`retry P then next` with the wait first, because `next` takes several clauses."""
    if len(found) != 2 or not isinstance(found[1].action, rules.Later):
        return found
    spent, waits = found
    if spent.guard is None or isinstance(spent.action, rules.Later):
        return found
    return [
        rules.Leaf(trees.negated(spent.guard), waits.action),
        rules.Leaf(None, spent.action),
    ]


def _next_item(
    found: Plan, span: Span
) -> Iterator[tuple[syntax.Expr | None, syntax.Block]]:
    """The next item of the page, the next page, or the end of the pass."""
    length = trees.call("len", trees.var("todo", span), span=span)
    values = first_item(found, "todo", span)
    items: list[syntax.InitItem] = [syntax.CarryOver(span)]
    items += [trees.assign(name, value, span) for name, value in values.items()]
    stay = syntax.Stay(syntax.Init(tuple(items), span), span)
    block = syntax.Block((), (ask_head(found, "todo", span),), stay, span)
    yield trees.binary(">", length, trees.number(0, span), span), block
    yield trees.var("more", span), pause(found, trees.var("upto", span), span)
    yield None, rest(found, trees.nothing, span)
