"""What happens in a state, as the formatter prints it: clauses, blocks, statements.

A block stands on one line where its author wrote it on one and it fits; in a tree
without a text, where it is no more than an exit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, TypeAlias, assert_never

from .. import syntax as s
from .comments import Entry, Written
from .expressions import expression, listed
from .lists import body_doc, names_doc, settings_doc
from .pretty import (
    SPACE,
    WIDTH,
    Cat,
    Doc,
    Trail,
    cat,
    flat,
    group,
    is_broken,
    joined,
    nest,
)

ROOM: Final = WIDTH - 4
"""How long a clause may be: it stands in a state, in a machine."""


def inside_doc(item: s.Inside, it: Written) -> Doc:
    head = f"in {names_doc(item.states)} "
    commented = it.has_before(item.span.end)
    entries: list[Entry] = []
    row: list[tuple[int, _Headed]] = []
    for clause in item.clauses:
        if isinstance(clause, s.Ignore):
            entries += it.unit(clause.span, partial(_ignore, clause))
            _align(row, entries)
            continue
        headed = _headed(clause, it)
        unit = it.unit(clause.span, headed.doc)
        other = bool(row) and row[-1][1].sort != headed.sort
        if len(unit) > 1 or unit[0].blank or not headed.short or other:
            _align(row, entries)
        entries += unit
        if headed.short:
            row.append((len(entries) - 1, headed))
    _align(row, entries)
    entries += it.before(item.span.end)
    alone = len(entries) == 1 and it.text is not None and not commented
    if alone and not it.breaks(item.span, item.clauses[0].span):
        return group(head, "{", nest(SPACE, entries[0].doc), SPACE, "}")
    return cat(head, body_doc(entries))


Sort: TypeAlias = Literal["message", "outcome", "deadline"]


@dataclass(slots=True)
class _Headed:
    """A clause with a block: what stands before the `{`, and the block once it is made."""

    sort: Sort
    head: Doc
    block: s.Block
    it: Written
    made: Doc = ""

    def doc(self) -> Doc:
        self.made = block_doc(self.block, self.it)
        return cat(self.head, " ", self.made)

    @property
    def short(self) -> bool:
        """Whether it can stand on one line."""
        return not is_broken(self.made) and self.length(0) <= ROOM

    @property
    def width(self) -> int:
        return len(flat(self.head) or "")

    def length(self, width: int) -> int:
        return max(self.width, width) + 1 + len(flat(self.made) or "")


def _align(row: list[tuple[int, _Headed]], entries: list[Entry]) -> None:
    """Put the `{` of clauses of one sort into one column, where all stay on their lines."""
    width = max((headed.width for _, headed in row), default=0)
    if len(row) > 1 and all(headed.length(width) <= ROOM for _, headed in row):
        for index, headed in row:
            blanks = " " * (width - headed.width + 1)
            doc: Doc = cat(headed.head, blanks, headed.made)
            old = entries[index]
            match old.doc:
                case Cat(items=(Cat(), _, Trail() as trail)):
                    doc = cat(doc, trail)
                case _:
                    pass
            entries[index] = Entry(doc, old.blank)
    row.clear()


def _headed(clause: s.On | s.At, it: Written) -> _Headed:
    match clause:
        case s.On():
            head = cat(f"on {_trigger(clause.trigger)}", bind_doc(clause.bind))
            sort: Sort = "message" if clause.trigger.outcome is None else "outcome"
            return _Headed(sort, cat(head, guard_doc(clause.guard)), clause.block, it)
        case s.At():
            head = cat(f"at {clause.deadline.text}", guard_doc(clause.guard))
            return _Headed("deadline", head, clause.block, it)
        case _:
            assert_never(clause)


def _ignore(clause: s.Ignore) -> Doc:
    triggers = [_trigger(each) for each in clause.triggers]
    inner = joined(triggers, cat(",", SPACE))
    return group("ignore ", nest(inner, indent=4))


def _trigger(trigger: s.Trigger) -> str:
    outcome = "" if trigger.outcome is None else f".{trigger.outcome.text}"
    return f"{trigger.name.text}{outcome}"


def bind_doc(bind: s.Name | None) -> str:
    return "" if bind is None else f" as {bind.text}"


def guard_doc(guard: s.Expr | None) -> Doc:
    return "" if guard is None else cat(" when ", nest(expression(guard)))


def block_doc(block: s.Block, it: Written) -> Doc:
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
        return body_doc(entries)
    inner = joined([entry.doc for entry in entries], SPACE)
    return group("{", nest(SPACE, inner), SPACE, "}")


def _statement(statement: s.Let | s.Issue | s.Exit, it: Written) -> Doc:
    match statement:
        case s.Let():
            return cat(f"let {statement.name.text} = ", expression(statement.value))
        case s.Goto():
            return cat(f"goto {statement.state.text}", settings_doc(statement.init, it))
        case s.Stay():
            return cat("stay", settings_doc(statement.init, it))
        case s.Reject():
            return f'reject "{statement.text}"'
        case s.Do() | s.Repeat() | s.Tell() | s.Begin():
            return issue_doc(statement, it)
        case _:
            assert_never(statement)


def issue_doc(issue: s.Issue, it: Written) -> Doc:
    match issue:
        case s.Do():
            return cat(f"do {issue.command.text}", arguments_doc(issue.arguments))
        case s.Repeat():
            return cat(f"repeat {issue.command.text}", arguments_doc(issue.arguments))
        case s.Tell():
            head = cat(f"tell {issue.machine.text}", arguments_doc(issue.key))
            return cat(head, f" {issue.message.text}", settings_doc(issue.init, it))
        case s.Begin():
            head = cat(f"begin {issue.machine.text}", arguments_doc(issue.key))
            return cat(head, settings_doc(issue.init, it))
        case _:
            assert_never(issue)


def arguments_doc(arguments: Sequence[s.Expr]) -> Doc:
    return listed([expression(each) for each in arguments])
