"""A machine as a picture: Mermaid for pages that draw it, DOT for graphviz.

An edge is a clause that goes somewhere or changes something, with its guard; what is
ignored, rejected or left as it is has no edge.  A state's note says what it awaits
and its deadlines.  Mermaid reads `:`, `;`, `#`, `%` and angle brackets as its own, so in
text they become its entity codes; a state named like one of its words gets an alias
(grammar: mermaid's stateDiagram.jison).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from deedbox_dsl import core

from .wording import changes, say, say_issues, say_trigger

_MERMAID_WORDS: Final = frozenset(
    [
        "accdescr",
        "acctitle",
        "class",
        "classdef",
        "click",
        "default",
        "direction",
        "href",
        "note",
        "scale",
        "state",
        "statediagram",
        "style",
    ]
)
_ENTITIES: Final = str.maketrans(
    {
        "#": "#35;",
        ";": "#59;",
        ":": "#58;",
        "%": "#37;",
        "<": "#lt;",
        ">": "#gt;",
        '"': "#quot;",
    }
)


@dataclass(frozen=True, slots=True)
class _Edge:
    source: str
    target: str
    labels: tuple[str, ...]


# ---- what is drawn ---------------------------------------------------------------------


def _edges(machine: core.Machine) -> list[_Edge]:
    """One edge from state to state, with a label for each clause that takes it."""
    labels: dict[tuple[str, str], list[str]] = {}
    for clause in machine.clauses:
        if clause.body is None:
            continue
        target = _target(clause.state, clause.body)
        if target is not None:
            label = _label(clause, clause.body)
            labels.setdefault((clause.state, target), []).append(label)
    return [
        _Edge(source, target, tuple(texts))
        for (source, target), texts in labels.items()
    ]


def _target(state: str, body: core.Body) -> str | None:
    match body.exit:
        case core.Goto(name):
            return name
        case core.Stay(fields):
            return state if changes(fields) or body.issues else None
        case core.Reject():
            return None
        case _:
            assert_never(body.exit)


def _label(clause: core.Clause, body: core.Body) -> str:
    guard = "" if clause.guard is None else f" [{say(clause.guard)}]"
    does = f" / {say_issues(body.issues)}" if body.issues else ""
    return f"{say_trigger(clause.trigger)}{guard}{does}"


def _begins(machine: core.Machine) -> tuple[str, str]:
    """The first state, and what the start does."""
    does = say_issues(machine.start.issues)
    label = f"start / {does}" if does else "start"
    match machine.start.exit:
        case core.Goto(name):
            return name, label
        case core.Stay() | core.Reject():
            raise AssertionError("a start block goes to a state")
        case _:
            assert_never(machine.start.exit)


def _note(state: core.State) -> list[str]:
    awaits = [] if state.awaits is None else [f"awaits {state.awaits}"]
    return [*awaits, *(f"at {name}" for name in state.deadlines)]


# ---- Mermaid ---------------------------------------------------------------------------


def mermaid(machine: core.Machine) -> str:
    """A `stateDiagram-v2`."""
    return "\n".join(_mermaid(machine)) + "\n"


def _mermaid(machine: core.Machine) -> Iterator[str]:
    first, label = _begins(machine)
    yield "stateDiagram-v2"
    for state in machine.states:
        if _identity(state.name) != state.name:
            yield f'    state "{state.name}" as {_identity(state.name)}'
    yield f"    [*] --> {_identity(first)}: {_escaped(label)}"
    for edge in _edges(machine):
        text = "<br/>".join(map(_escaped, edge.labels))
        yield f"    {_identity(edge.source)} --> {_identity(edge.target)}: {text}"
    for state in machine.states:
        if state.final:
            yield f"    {_identity(state.name)} --> [*]"
        elif note := _note(state):
            yield f"    note right of {_identity(state.name)}"
            yield from (f"        {line}" for line in note)
            yield "    end note"


def _identity(state: str) -> str:
    """An underscore cannot clash: no state's own name has one at its end."""
    return f"{state}_" if state.lower() in _MERMAID_WORDS else state


def _escaped(text: str) -> str:
    return text.translate(_ENTITIES)


# ---- DOT -------------------------------------------------------------------------------


def dot(machine: core.Machine) -> str:
    """A digraph for graphviz' `dot`."""
    return "\n".join(_dot(machine)) + "\n"


def _dot(machine: core.Machine) -> Iterator[str]:
    first, label = _begins(machine)
    yield f"digraph {_quoted([machine.name])} {{"
    yield "  graph [rankdir=TB, nodesep=0.6, ranksep=0.8];"
    yield '  node [shape=box, style=rounded, fontname="Helvetica"];'
    yield '  edge [fontname="Helvetica", fontsize=10];'
    yield '  "" [shape=point];'
    for state in machine.states:
        border = ", peripheries=2" if state.final else ""
        yield f"  {_quoted([state.name])} [label={_quoted([state.name, *_note(state)])}{border}];"
    yield f'  "" -> {_quoted([first])} [label={_quoted([label])}];'
    for edge in _edges(machine):
        ends = f"{_quoted([edge.source])} -> {_quoted([edge.target])}"
        yield f"  {ends} [label={_quoted(edge.labels)}];"
    yield "}"


def _quoted(lines: list[str] | tuple[str, ...]) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
