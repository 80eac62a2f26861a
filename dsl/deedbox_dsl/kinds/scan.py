"""A scan as a machine: fetch a page, work through what is due, pause, and rest.

`Fetching` reads one record more than a page; what is consumed is `take(list, n)`,
and there is another page only when the next record was really seen.  `Working`
holds the rest of the page in storage and takes its items one at a time, so that
the cursor moves once a page.  `FetchWaiting`, `WorkWaiting` and their silent
twins are the loops of the two commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .. import syntax
from ..names import Scope
from ..policies import duration_text
from ..problems import Problem, has_errors
from ..source import Span
from . import asking, rules, trees
from .scan_plan import Asked, Plan, plan
from .trees import Maker

_Part = tuple[syntax.State, list[syntax.Clause]]


def lower_scan(
    scan: syntax.Scan, scope: Scope
) -> tuple[syntax.Machine | None, tuple[Problem, ...]]:
    """The machine that the scan means, when nothing is wrong with it."""
    found, problems = plan(scan, scope)
    if found is None or has_errors(problems):
        return None, tuple(problems)
    parts = list(_parts(found))
    span = scan.name.span
    items: list[syntax.MachineItem] = [
        *(item for item in found.common if isinstance(item, syntax.Key)),
        *(item for item in found.common if isinstance(item, syntax.Given)),
        *(item for item in scan.items if isinstance(item, syntax.Message)),
        *(state for state, _ in parts),
        rules.command(found.fetch.attempt),
        rules.command(found.item.attempt),
        *(item for item in found.common if isinstance(item, syntax.Command)),
        syntax.Start(_fetch(found, {"after": trees.nothing}, span), span),
        *(
            syntax.Inside((state.name,), tuple(clauses), state.span)
            for state, clauses in parts
        ),
        *rules.in_class_order(found.common),
    ]
    machine = syntax.Machine(scan.name, scan.version, tuple(items), scan.doc, scan.span)
    return machine, tuple(problems)


# ---- fields ------------------------------------------------------------------------------


def _cursor_field(found: Plan) -> syntax.Field:
    return trees.field(found.cursor.name.text, found.cursor.type, found.cursor.span)


def _due_field(span: Span) -> syntax.Field:
    return trees.field("due", "instant", span)


def _woken_field(found: Plan, span: Span) -> list[syntax.Field]:
    return [trees.field("woken", "bool", span)] if found.wakes else []


def _fetching_fields(found: Plan) -> list[syntax.Field]:
    span = found.fetch.span
    return [
        _cursor_field(found),
        *asking.loop_fields(found.fetch.loop, span),
        *asking.silent_field(found.fetch.loop, span),
        *_woken_field(found, span),
    ]


def _page_fields(found: Plan) -> list[syntax.Field]:
    """What is left of a page: the item at hand, those after it, and where the page ends."""
    span, item = found.item.span, found.each.item
    items = syntax.TypeName(trees.name("list", span), (found.item_type,), span)
    return [
        trees.field(item.text, found.item_type, item.span),
        trees.field("todo", items, span),
        trees.field("upto", found.cursor.type, span),
        trees.field("more", "bool", span),
    ]


def _working_fields(found: Plan) -> list[syntax.Field]:
    span = found.item.span
    return [
        *_page_fields(found),
        *asking.loop_fields(found.item.loop, span),
        *asking.silent_field(found.item.loop, span),
        *_woken_field(found, span),
    ]


def _waiting_fields(asked: Asked, fields: Sequence[syntax.Field]) -> list[syntax.Field]:
    """The awaiting state's fields, with `due` and `error` for `silent_at`."""
    kept = [each for each in fields if each.name.text != "silent_at"]
    return [*kept, _due_field(asked.span), trees.field("error", "text", asked.span)]


def _pausing_fields(found: Plan, span: Span) -> list[syntax.Field]:
    return [_cursor_field(found), *_woken_field(found, span), _due_field(span)]


def _resting_fields(found: Plan, span: Span) -> list[syntax.Field]:
    return [_cursor_field(found), _due_field(span)]


# ---- states ----------------------------------------------------------------------------------


def _parts(found: Plan) -> Iterator[_Part]:
    fetching, working = _fetching_fields(found), _working_fields(found)
    fetch, item = found.fetch, found.item
    yield (
        replace(_awaiting("Fetching", fetching, fetch), doc=fetch.attempt.doc),
        [
            *(c for rule in fetch.attempt.rules for c in _fetched(rule, found)),
            *_woken(found),
        ],
    )
    yield from _loop("Fetch", "Fetching", fetch, fetching, _fetch_bound(found), found)
    yield (
        replace(_awaiting("Working", working, item), doc=item.attempt.doc),
        [
            *(c for rule in item.attempt.rules for c in _worked(rule, found)),
            *_woken(found),
        ],
    )
    at_hand = {found.each.item.text: trees.itself(found.each.item.text)}
    yield from _loop("Work", "Working", item, working, at_hand, found)
    span = found.scan.name.span
    pause = _fetch(found, _same_cursor(found), span, woken=trees.var("woken", span))
    yield (
        asking.state("Pausing", _pausing_fields(found, span), None, span),
        [_at_due(pause, span), *_woken(found)],
    )
    rest = _fetch(found, _same_cursor(found), span)
    yield (
        asking.state("Resting", _resting_fields(found, span), None, span),
        [_at_due(rest, span), *_woken_at_rest(found)],
    )


def _awaiting(title: str, fields: Sequence[syntax.Field], asked: Asked) -> syntax.State:
    return asking.state(title, fields, asked.attempt.command, asked.span)


def _loop(
    prefix: str,
    awaiting: str,
    asked: Asked,
    fields: Sequence[syntax.Field],
    meanings: Mapping[str, Maker],
    found: Plan,
) -> Iterator[_Part]:
    """The waiting states of one command, which ask again."""
    waiting = _waiting_fields(asked, fields)
    for ending, there, silent in (
        ("Waiting", asked.loop.answer_retried, False),
        ("Silent", asked.loop.silence_retried, True),
    ):
        if there:
            span, command = asked.span, asked.attempt.command
            bound = {**meanings, "attempt": trees.next_attempt}
            arguments = trees.bound_arguments(asked.attempt.params, bound)
            issue: syntax.Issue = syntax.Do(command, arguments, span)
            if silent:
                issue = syntax.Repeat(command, arguments, span)
            values = asking.next_values(asked.loop, span)
            before = asking.names_of(waiting)
            exit_ = trees.goto(awaiting, fields, values, span, before)
            clause = _at_due(syntax.Block((), (issue,), exit_, span), span)
            yield (
                asking.state(f"{prefix}{ending}", waiting, None, span),
                [clause, *_woken(found)],
            )


def _at_due(block: syntax.Block, span: Span) -> syntax.Clause:
    return syntax.At(trees.name("due", span), None, block, span)


# ---- asking for a page -------------------------------------------------------------------------


def _same_cursor(found: Plan) -> dict[str, Maker]:
    return {"after": trees.itself(found.cursor.name.text)}


def _fetch_bound(found: Plan) -> dict[str, Maker]:
    return {"limit": lambda span: trees.number(found.page + 1, span)}


def _fetch(
    found: Plan,
    cursor: Mapping[str, Maker],
    span: Span,
    woken: syntax.Expr | None = None,
) -> syntax.Block:
    """Ask for a page: one record more than is consumed shows whether there is another."""
    name = found.cursor.name.text
    bound = {**_fetch_bound(found), name: cursor["after"], "attempt": trees.one}
    arguments = trees.bound_arguments(found.fetch.attempt.params, bound)
    values = asking.first_values(found.fetch.loop, span)
    values[name] = cursor["after"](span)
    if found.wakes:
        values["woken"] = syntax.BoolLit(False, span) if woken is None else woken
    do = syntax.Do(found.fetch.attempt.command, arguments, span)
    exit_ = trees.goto("Fetching", _fetching_fields(found), values, span)
    return syntax.Block((), (do,), exit_, span)


def _fetched(
    rule: syntax.Rule | syntax.SilenceRule, found: Plan
) -> Iterator[syntax.Clause]:
    command, out = found.fetch.attempt.command, found.out
    for leaf in rules.leaves(rule.action, found.scope, out):
        match leaf.action:
            case rules.Later():
                block = _wait(
                    rule,
                    leaf.action,
                    "Fetch",
                    found.fetch,
                    _fetching_fields(found),
                    found,
                )
            case syntax.Next() if rule is found.page_rule:
                yield from _page(found)
                continue
            case syntax.Next():
                block = _rest(found, trees.nothing, rule.span)
            case _:
                block = _rest(found, trees.itself(found.cursor.name.text), rule.span)
        yield asking.clause(command, rule, leaf.guard, block, out)


def _wait(
    rule: syntax.Rule | syntax.SilenceRule,
    action: rules.Later,
    prefix: str,
    asked: Asked,
    fields: Sequence[syntax.Field],
    found: Plan,
) -> syntax.Block:
    values = {
        "due": trees.later(action.wait, action.span),
        "error": rules.last_error(rule, found.out, found.scope),
    }
    silent = isinstance(rule, syntax.SilenceRule)
    title = f"{prefix}{'Silent' if silent else 'Waiting'}"
    waiting = _waiting_fields(asked, fields)
    return asking.wait(rule, action, title, waiting, values, fields, found.out)


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
        block = _pause(found, after, span)
        yield asking.clause(command, rule, seen_more, block, out)
    yield asking.clause(command, rule, None, _rest(found, trees.nothing, span), out)


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
    values = _first_item(found, ready, span)
    values |= {"upto": upto, "more": seen_more}
    if found.wakes:
        values["woken"] = trees.var("woken", span)
    exit_ = trees.goto("Working", _working_fields(found), values, span)
    return syntax.Block(tuple(lets), (_ask_head(found, ready, span),), exit_, span)


def _first_item(found: Plan, items: str, span: Span) -> dict[str, syntax.Expr]:
    """Take the head of `items` in hand."""
    item = found.each.item.text
    values = asking.first_values(found.item.loop, span)
    values[item] = trees.call("head", trees.var(items, span), span=span)
    values["todo"] = trees.call(
        "drop", trees.var(items, span), trees.number(1, span), span=span
    )
    return values


def _ask_head(found: Plan, items: str, span: Span) -> syntax.Issue:
    def head(at: Span) -> syntax.Expr:
        return trees.call("head", trees.var(items, at), span=at)

    meanings: dict[str, Maker] = {found.each.item.text: head, "attempt": trees.one}
    arguments = trees.bound_arguments(found.item.attempt.params, meanings)
    return syntax.Do(found.item.attempt.command, arguments, span)


def _by(found: Plan, record: syntax.Expr) -> syntax.Expr:
    """The cursor's value at a record."""
    return trees.substitute(found.each.by, {found.each.item.text: lambda _: record})


# ---- one item at a time ----------------------------------------------------------------------------


def _worked(
    rule: syntax.Rule | syntax.SilenceRule, found: Plan
) -> Iterator[syntax.Clause]:
    command, out = found.item.attempt.command, found.out
    for leaf in _waits_first(rules.leaves(rule.action, found.scope, out)):
        if isinstance(leaf.action, rules.Later):
            fields = _working_fields(found)
            block = _wait(rule, leaf.action, "Work", found.item, fields, found)
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
    values = _first_item(found, "todo", span)
    items: list[syntax.InitItem] = [syntax.CarryOver(span)]
    items += [trees.assign(name, value, span) for name, value in values.items()]
    stay = syntax.Stay(syntax.Init(tuple(items), span), span)
    block = syntax.Block((), (_ask_head(found, "todo", span),), stay, span)
    yield trees.binary(">", length, trees.number(0, span), span), block
    yield trees.var("more", span), _pause(found, trees.var("upto", span), span)
    yield None, _rest(found, trees.nothing, span)


# ---- pause and rest --------------------------------------------------------------------------------


def _pause(found: Plan, after: syntax.Expr, span: Span) -> syntax.Block:
    values = {found.cursor.name.text: after, "due": trees.later(found.pause, span)}
    if found.wakes:
        values["woken"] = trees.var("woken", span)
    exit_ = trees.goto("Pausing", _pausing_fields(found, span), values, span)
    return syntax.Block((), (), exit_, span)


def _rest(found: Plan, cursor: Maker, span: Span) -> syntax.Block:
    """Rest until the idle time is over, or shortly when a wake came meanwhile."""
    wait: syntax.Expr = found.idle
    if found.wakes:
        soon = min(_delay(wake) for wake in found.wakes)
        short = syntax.DurationLit(soon, duration_text(soon), span)
        wait = syntax.Conditional(trees.var("woken", span), short, wait, span)
    values = {found.cursor.name.text: cursor(span), "due": trees.later(wait, span)}
    exit_ = trees.goto("Resting", _resting_fields(found, span), values, span)
    return syntax.Block((), (), exit_, span)


def _delay(wake: syntax.WakeOn) -> int:
    return 0 if wake.after is None else wake.after.milliseconds


def _woken(found: Plan) -> Iterator[syntax.Clause]:
    for wake in found.wakes:
        yield syntax.On(_message(wake), None, None, asking.woken(wake.span), wake.span)


def _woken_at_rest(found: Plan) -> Iterator[syntax.Clause]:
    for wake in found.wakes:
        span = wake.span
        soon = _delay(wake)
        sooner = trees.later(syntax.DurationLit(soon, duration_text(soon), span), span)
        due = trees.call("earliest", trees.var("due", span), sooner, span=span)
        items = (syntax.CarryOver(span), trees.assign("due", due, span))
        stay = syntax.Stay(syntax.Init(items, span), span)
        block = syntax.Block((), (), stay, span)
        yield syntax.On(_message(wake), None, None, block, span)


def _message(wake: syntax.WakeOn) -> syntax.Trigger:
    return syntax.Trigger(wake.message, None, wake.message.span)
