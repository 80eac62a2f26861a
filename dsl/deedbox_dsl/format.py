"""The one layout of a spec: no options.

It aligns `->`, `|` and `=>` within one declaration, keeps comments, at most one
empty line, and the author's choice between one line and several where both fit.
What it prints parses to the same tree, and formatting it again changes nothing; tests
prove both on random trees.  It prints the lowered form of a kind as well, which has no
text behind it.

The module is long for the same reason as `tree.py`: one arm for each construct.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias, assert_never

from . import syntax as s
from .comments import Entry, Written, stacked
from .format_expressions import duration_text, expression, listed, type_text
from .parse import parse
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
    render,
)
from .problems import Problem
from .scan import Lexeme, scan
from .source import Span, Text

Item: TypeAlias = s.MachineItem | s.RetryItem | s.ScanItem | s.SagaItem
ALIGNED_AT_MOST: Final = 60


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


# ---- files --------------------------------------------------------------------------


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
            return cat(f"use {node.module} ", _braced_names(names))
        case s.Alias():
            return _documented(node.doc, _alias(node))
        case s.Record():
            fields = _fields("{", "}", node.fields, node.name.span, it)
            return _documented(node.doc, cat(f"record {node.name.text} ", fields))
        case s.Choice():
            return _documented(node.doc, _choice(node, it))
        case s.Policy():
            items = [(each.span, _policy_item(each)) for each in node.items]
            body = _words(items, node.name.span, node.span, it, " ")
            return _documented(node.doc, cat(f"policy {node.name.text} ", body))
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


def _documented(doc: str | None, body: Doc) -> Doc:
    if doc is None:
        return body
    lines: list[Doc] = []
    for line in doc.split("\n"):
        lines.extend([f"/// {line}".rstrip(), Hard()])
    return cat(*lines, body)


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
        shape = partial(_shape, variant.name, variant.fields, it, bar)
        entries += it.unit(variant.span, shape)
    entries += it.before(node.span.end)
    if broken:
        return cat(f"choice {node.name.text} ", _body(entries))
    inner = joined([entry.doc for entry in entries], SPACE)
    return group(f"choice {node.name.text} {{", nest(SPACE, inner), SPACE, "}")


# ---- fields and braces ------------------------------------------------------------------


def _body(entries: Sequence[Entry]) -> Doc:
    """Lines between braces."""
    if not entries:
        return "{}"
    return cat("{", nest(Hard(), stacked(entries)), Hard(), "}")


def _field(field: s.Field) -> Doc:
    head = f"{field.name.text}: {type_text(field.type)}"
    if field.value is None:
        return _documented(field.doc, head)
    return _documented(field.doc, cat(f"{head} = ", expression(field.value)))


def _shape(name: s.Name, fields: Sequence[s.Field], it: Written, lead: str = "") -> Doc:
    """A name and its fields, if it has any."""
    if not fields:
        return lead + name.text
    return cat(f"{lead}{name.text} ", _fields("{", "}", fields, name.span, it))


def _fields(
    opener: str, closer: str, fields: Sequence[s.Field], after: Span, it: Written
) -> Doc:
    parts: list[Part] = [(each.span, partial(_field, each)) for each in fields]
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


def _words(
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
        return _body(entries)
    inner = joined([entry.doc for entry in entries], Line(gap))
    return group("{", nest(SPACE, inner), SPACE, "}")


# ---- kinds and their items ---------------------------------------------------------------


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
    return _documented(node.doc, cat(head, _body(entries)))


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
            shape = _shape(item.name, item.fields, it, word)
            return _documented(item.doc, cat(shape, awaits))
        case s.Message():
            shape = _shape(item.name, item.fields, it, "message ")
            return _documented(item.doc, shape)
        case s.Command():
            return _command(item, it)
        case s.Start():
            return cat("start ", _block(item.block, it))
        case s.Inside():
            return _inside(item, it)
        case s.Again():
            return _again(item, it)
        case s.Allow():
            return f'allow {item.code.text} "{item.reason}"'
        case s.Property():
            return _property(item)
        case s.Check():
            bounds = [(each.span, _bound(each)) for each in item.bounds]
            start = Span(item.span.path, item.span.start, 0, 0, 0)
            return cat("check ", _words(bounds, start, item.span, it, "  "))
        case s.Migrate():
            entries: list[Entry] = []
            for each in item.items:
                entries += it.unit(each.span, partial(_migration, each, it))
            entries += it.before(item.span.end)
            return cat(f"migrate from {item.version} ", _body(entries))
        case s.Uses():
            return f"policy {item.policy.text}"
        case s.Attempt():
            return _attempt("do", item, it)
        case s.Spent():
            return cat("spent => ", _action(item.action, it))
        case s.WakeOn():
            after = "" if item.after is None else f" after {_duration(item.after)}"
            return f"wake on {item.message.text}{after}"
        case s.Page():
            return f"page {item.size}"
        case s.Cursor():
            return cat("cursor ", _field(item.variable))
        case s.Fetch():
            return _attempt("fetch", item.attempt, it)
        case s.Each():
            return _each(item, it)
        case s.ContinueAfter():
            return f"continue after {_duration(item.after)}"
        case s.Idle():
            return f"idle {_duration(item.wait)}"
        case s.Step():
            return _step(item, it)
        case s.SagaDone():
            word = "done   ->" if aligned else "done ->"
            return cat(f"{word} {item.state.text}", _settings(item.init, it))
        case s.SagaUndone():
            return cat(f"undone -> {item.state.text}", _settings(item.init, it))
        case s.NoCancel():
            return f'no cancel "{item.reason}"'
        case _:
            assert_never(item)


def _duration(literal: s.DurationLit) -> str:
    return literal.written or duration_text(literal.milliseconds)


def _plain_fields(word: str, fields: Sequence[s.Field]) -> Doc:
    inner = joined([_field(each) for each in fields], cat(",", SPACE))
    return group(f"{word} ", nest(inner, indent=4))


def _again(item: s.Again, it: Written) -> Doc:
    match item.exit:
        case s.Keep():
            end: Doc = "keep"
        case s.Replace():
            end = cat("replace", _settings(item.exit.init, it))
        case _:
            assert_never(item.exit)
    head = cat("on start again", _bind(item.bind), _guard(item.guard))
    return cat(head, " ", group("{", nest(SPACE, end), SPACE, "}"))


def _property(item: s.Property) -> Doc:
    head = f"{item.word} {item.name.text}: "
    if item.target is None:
        return group(head, _pred(item.pred))
    within: list[Doc] = (
        [] if item.within is None else [SPACE, f"within {_duration(item.within)}"]
    )
    return group(
        head, nest(_pred(item.pred), SPACE, "to ", _pred(item.target), *within)
    )


def _pred(pred: s.Pred) -> Doc:
    if not pred.states:
        return expression(pred.expr)
    return cat(f"in {_names(pred.states)} when ", expression(pred.expr))


def _names(names: Sequence[s.Name]) -> str:
    return ", ".join(name.text for name in names)


def _bound(bound: s.Bound | s.Faults | s.Assume) -> str:
    match bound:
        case s.Bound():
            return f"{bound.word} {bound.value}"
        case s.Faults():
            excepted = _names(bound.excepted)
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
            return cat(f"command {item.command.text}", _settings(item.init, it))
        case _:
            assert_never(item)
    settings = _settings(item.init, it)
    issues: list[Doc] = [cat(" ", _issue(each, it)) for each in item.issues]
    return cat(head, settings, *issues)


# ---- clauses and blocks -------------------------------------------------------------------


def _inside(item: s.Inside, it: Written) -> Doc:
    head = f"in {_names(item.states)} "
    commented = it.has_before(item.span.end)
    entries: list[Entry] = []
    for clause in item.clauses:
        entries += it.unit(clause.span, partial(_clause, clause, it))
    entries += it.before(item.span.end)
    alone = len(entries) == 1 and it.text is not None and not commented
    if alone and not it.breaks(item.span, item.clauses[0].span):
        return group(head, "{", nest(SPACE, entries[0].doc), SPACE, "}")
    return cat(head, _body(entries))


def _clause(clause: s.Clause, it: Written) -> Doc:
    match clause:
        case s.On():
            head = cat(f"on {_trigger(clause.trigger)}", _bind(clause.bind))
            guard = _guard(clause.guard)
            return cat(head, guard, " ", _block(clause.block, it))
        case s.At():
            head = cat(f"at {clause.deadline.text}", _guard(clause.guard))
            return cat(head, " ", _block(clause.block, it))
        case s.Ignore():
            triggers = [_trigger(each) for each in clause.triggers]
            inner = joined(triggers, cat(",", SPACE))
            return group("ignore ", nest(inner, indent=4))
        case _:
            assert_never(clause)


def _trigger(trigger: s.Trigger) -> str:
    outcome = "" if trigger.outcome is None else f".{trigger.outcome.text}"
    return f"{trigger.name.text}{outcome}"


def _bind(bind: s.Name | None) -> str:
    return "" if bind is None else f" as {bind.text}"


def _guard(guard: s.Expr | None) -> Doc:
    return "" if guard is None else cat(" when ", nest(expression(guard)))


def _block(block: s.Block, it: Written) -> Doc:
    statements: list[s.Let | s.Issue | s.Exit] = [*block.lets, *block.issues]
    if block.exit is not None:
        statements.append(block.exit)
    several = it.has_before(block.span.end) or (
        len(statements) > 1
        if it.text is None
        else bool(statements) and it.breaks(block.span, statements[0].span)
    )
    entries: list[Entry] = []
    for statement in statements:
        entries += it.unit(statement.span, partial(_statement, statement, it))
    entries += it.before(block.span.end)
    if several or not entries:
        return _body(entries)
    inner = joined([entry.doc for entry in entries], SPACE)
    return group("{", nest(SPACE, inner), SPACE, "}")


def _statement(statement: s.Let | s.Issue | s.Exit, it: Written) -> Doc:
    match statement:
        case s.Let():
            return cat(f"let {statement.name.text} = ", expression(statement.value))
        case s.Goto():
            return cat(f"goto {statement.state.text}", _settings(statement.init, it))
        case s.Stay():
            return cat("stay", _settings(statement.init, it))
        case s.Reject():
            return f'reject "{statement.text}"'
        case s.Do() | s.Repeat() | s.Tell() | s.Begin():
            return _issue(statement, it)
        case _:
            assert_never(statement)


def _issue(issue: s.Issue, it: Written) -> Doc:
    match issue:
        case s.Do():
            return cat(f"do {issue.command.text}", _arguments(issue.arguments))
        case s.Repeat():
            return cat(f"repeat {issue.command.text}", _arguments(issue.arguments))
        case s.Tell():
            head = cat(f"tell {issue.machine.text}", _arguments(issue.key))
            return cat(head, f" {issue.message.text}", _settings(issue.init, it))
        case s.Begin():
            head = cat(f"begin {issue.machine.text}", _arguments(issue.key))
            return cat(head, _settings(issue.init, it))
        case _:
            assert_never(issue)


def _arguments(arguments: Sequence[s.Expr]) -> Doc:
    return listed([expression(each) for each in arguments])


def _settings(init: s.Init | None, it: Written) -> Doc:
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


# ---- commands, rules and actions ------------------------------------------------------------


def _command(item: s.Command, it: Written) -> Doc:
    word = "unrepeatable command" if item.unrepeatable else "command"
    params = _fields("(", ")", item.params, item.name.span, it)
    head = cat(f"{word} {item.name.text}", params)
    entries: list[Entry] = []
    for index, outcome in enumerate(item.outcomes):
        make = partial(_alternative, index, outcome, None, 0, it)
        entries += it.unit(outcome.span, make)
    return _documented(item.doc, _alternatives(head, entries))


def _attempt(word: str, item: s.Attempt, it: Written) -> Doc:
    full = f"unrepeatable {word}" if item.unrepeatable else word
    params = _fields("(", ")", item.params, item.command.span, it)
    head = cat(f"{full} {item.command.text}", params)
    widths = [len(text) for text in map(_outcome_text, item.rules) if text is not None]
    width = max((each for each in widths if each <= ALIGNED_AT_MOST), default=0)
    entries: list[Entry] = []
    for index, rule in enumerate(item.rules):
        outcome = rule.outcome if isinstance(rule, s.Rule) else rule.after
        make = partial(_alternative, index, outcome, rule.action, width, it)
        entries += it.unit(rule.span, make)
    return _documented(item.doc, _alternatives(head, entries))


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
    return flat(_shape(rule.outcome.name, rule.outcome.fields, Written(None)))


def _silence(after: s.DurationLit) -> str:
    return f"silence after {_duration(after)}"


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
        shape = _shape(outcome.name, outcome.fields, it)
    if action is None:
        return cat(sign, nest(shape, indent=3))
    one = flat(shape)
    if one is not None and len(one) <= width:
        shape = one.ljust(width)
    return cat(sign, nest(shape, " => ", _action(action, it), indent=3))


def _action(action: s.Action, it: Written) -> Doc:
    match action:
        case s.Next():
            return "next"
        case s.AgainAction():
            return "again"
        case s.Rest():
            return "rest"
        case s.Continue():
            return f"continue after {_duration(action.after)}"
        case s.DoneAction():
            return cat(f"done {action.state.text}", _settings(action.init, it))
        case s.Abort():
            return "abort with undo" if action.with_undo else "abort"
        case s.RetryThen():
            after = "" if action.after is None else f" after {action.after.text}"
            then = nest(SPACE, "then ", _action(action.then, it))
            return group(f"retry {action.policy.text}{after}", then)
        case s.RetryForever():
            head = f"retry {action.policy.text} forever"
            if action.escalate is None:
                return head
            return cat(head, nest(Hard(), _escalate(action.escalate)))
        case _:
            assert_never(action)


def _escalate(escalate: s.Escalate) -> Doc:
    head = f"escalate after {_duration(escalate.after)} do {escalate.command.text}"
    return cat(head, _arguments(escalate.arguments))


def _each(item: s.Each, it: Written) -> Doc:
    source = ".".join(name.text for name in item.source)
    due = cat(" due ", expression(item.due)) if item.due is not None else ""
    head = cat(f"each {item.item.text} in {source} by ", expression(item.by), due, " ")
    entries = it.unit(item.attempt.span, partial(_attempt, "do", item.attempt, it))
    return cat(head, _body([*entries, *it.before(item.span.end)]))


def _step(item: s.Step, it: Written) -> Doc:
    entries = it.unit(item.do.span, partial(_attempt, "do", item.do, it))
    match item.undo:
        case s.Attempt():
            undo: Callable[[], Doc] = partial(_attempt, "undo", item.undo, it)
        case s.NoUndo():
            undo = partial(str, f'no undo "{item.undo.reason}"')
        case _:
            assert_never(item.undo)
    entries += it.unit(item.undo.span, undo)
    entries += it.before(item.span.end)
    return _documented(item.doc, cat(f"step {item.name.text} ", _body(entries)))
