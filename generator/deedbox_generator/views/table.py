"""Everything that a machine decides, as a table: in which state, on what, what happens.

One group for each state, one line for each clause, in the order in which they are
tried.  A machine of a hundred cells stays readable because a state's part of it is
read alone: a matrix of states and messages does not fit a screen.
Nothing is left out: what is ignored or rejected is said as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final, assert_never

from deedbox_dsl import core

from .wording import changes, lets_of, say, say_fields, say_issues, say_trigger

GAP: Final = 2
NARROWEST: Final = 8
_HEAD: Final = ("state, event", "when", "does", "then")


@dataclass(frozen=True, slots=True)
class _Row:
    """A heading (its other cells empty), or one clause."""

    event: str
    when: str = ""
    does: str = ""
    then: str = ""
    heading: bool = False

    def cells(self) -> tuple[str, str, str, str]:
        indent = "" if self.heading else "  "
        return indent + self.event, self.when, self.does, self.then


def table(machine: core.Machine, width: int = 100) -> str:
    """The table, in lines of at most `width` columns."""
    rows = list(_rows(machine))
    clauses = [row for row in rows if not row.heading]
    widths = _widths([_HEAD, *(row.cells() for row in clauses)], width)
    lines = [
        *wrap(_title(machine), width),
        "",
        _line(_HEAD, widths),
        "─" * _total(widths),
    ]
    for row in rows:
        if row.heading:
            lines.append("")
            lines += wrap(row.event, _total(widths), subsequent_indent="    ")
        else:
            lines += _wrapped(row.cells(), widths)
    return "\n".join(lines) + "\n"


def _title(machine: core.Machine) -> str:
    finals = sum(state.final for state in machine.states)
    counted = (
        (len(machine.states) - finals, "state"),
        (finals, "final"),
        (len(machine.messages), "message"),
        (len(machine.commands), "command"),
    )
    counts = ", ".join(
        f"{count} {noun if count == 1 else noun + 's'}" for count, noun in counted
    )
    return f"{machine.name}: {machine.kind}, version {machine.version}; {counts}"


# ---- rows ------------------------------------------------------------------------------


def _rows(machine: core.Machine) -> Iterator[_Row]:
    states = {state.name: state for state in machine.states}
    yield _Row("start", heading=True)
    yield _Row("", "", *_body(machine.start, states))
    for state in machine.states:
        if state.final:
            continue
        yield _Row(_headline(state), heading=True)
        yield from _state(machine, state, states)
    if ends := [state.name for state in machine.states if state.final]:
        yield _Row(", ".join(ends), heading=True)
        yield _Row("any message", then="the end: ignored")
    yield _Row("start again", heading=True)
    for clause in machine.again:
        when = "" if clause.guard is None else say(clause.guard)
        yield _Row("", when, "", _again(clause.exit))
    if all(clause.guard is not None for clause in machine.again):
        yield _Row("", "the given is the same", "", "kept")
        yield _Row("", "the given is another", "", "refused")


def _headline(state: core.State) -> str:
    parts = [state.name]
    if state.awaits is not None:
        parts.append(f"awaits {state.awaits}")
    if state.deadlines:
        noun = "deadline" if len(state.deadlines) == 1 else "deadlines"
        parts.append(f"{noun} {', '.join(state.deadlines)}")
    return "; ".join(parts)


def _state(
    machine: core.Machine, state: core.State, states: dict[str, core.State]
) -> Iterator[_Row]:
    clauses = [clause for clause in machine.clauses if clause.state == state.name]
    triggers = sorted(
        dict.fromkeys(clause.trigger for clause in clauses),
        key=lambda trigger: _place(machine, state, trigger),
    )
    ignored: list[str] = []
    for trigger in triggers:
        tried = [clause for clause in clauses if clause.trigger == trigger]
        if all(clause.body is None for clause in tried):
            ignored.append(say_trigger(trigger))
            continue
        for position, clause in enumerate(tried):
            event = say_trigger(trigger) if position == 0 else ""
            when = "otherwise" if position else ""
            if clause.guard is not None:
                when = say(clause.guard)
            does, then = ("", "ignored")
            if clause.body is not None:
                does, then = _body(clause.body, states)
            yield _Row(event, when, does, then)
    if ignored:
        yield _Row(", ".join(ignored), then="ignored")


def _place(
    machine: core.Machine, state: core.State, trigger: core.Trigger
) -> tuple[int, int]:
    """Answers first, then deadlines, then messages: the order in which they are taken."""
    match trigger:
        case core.OnOutcome(command, outcome):
            names = [
                (found.name, end.name)
                for found in machine.commands
                for end in found.outcomes
            ]
            return 0, names.index((command, outcome))
        case core.AtDeadline(name):
            return 1, state.deadlines.index(name)
        case core.OnMessage(message):
            return 2, [found.name for found in machine.messages].index(message)
        case _:
            assert_never(trigger)


def _body(body: core.Body, states: dict[str, core.State]) -> tuple[str, str]:
    does, lets = say_issues(body.issues), lets_of(body)
    match body.exit:
        case core.Goto(name, fields):
            timed = tuple(
                item for item in fields if item.field in states[name].deadlines
            )
            where = f"→ {name}"
            return does, f"{where}, {say_fields(timed, lets)}" if timed else where
        case core.Stay(fields):
            changed = changes(fields)
            return does, f"stays, {say_fields(changed, lets)}" if changed else "stays"
        case core.Reject(text):
            return does, f'rejected: "{text}"'
        case _:
            assert_never(body.exit)


def _again(exit_: core.Keep | core.Replace) -> str:
    match exit_:
        case core.Keep():
            return "kept"
        case core.Replace(()):
            return "replaced"
        case core.Replace(overrides):
            return f"replaced, {say_fields(overrides)}"
        case _:
            assert_never(exit_)


# ---- layout ----------------------------------------------------------------------------


def _widths(rows: Sequence[tuple[str, ...]], width: int) -> list[int]:
    """As wide as its longest cell; then the widest column gives until all fit."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    while _total(widths) > width and max(widths) > NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _wrapped(cells: tuple[str, ...], widths: Sequence[int]) -> Iterator[str]:
    columns = [_cell(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for position in range(max(map(len, columns))):
        yield _line(
            tuple(
                column[position] if position < len(column) else "" for column in columns
            ),
            widths,
        )


def _cell(cell: str, width: int) -> list[str]:
    return wrap(cell, width, subsequent_indent="  ", break_on_hyphens=False) or [""]


def _line(cells: tuple[str, ...], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return (" " * GAP).join(padded).rstrip()
