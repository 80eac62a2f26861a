"""What is told apart where several versions of a machine look at one instance.

An instance of an older version becomes one of this version with its data and instants
as they are, so both are explored over the same classes: those of a machine that has the
states and the clauses of all versions, and what the migrations look at.  Only what
looks at data counts in it; it is never run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from deedbox_dsl import core
from deedbox_dsl.source import Span

from ..expressions.trees import rewritten, walk
from ..expressions.types import is_instant
from ..time.points import points


def joined(spec: core.Machine, older: Iterable[core.Machine]) -> core.Machine:
    """`older`: the released versions; of what they state nothing is asked."""
    whole = replace(spec, clauses=(*spec.clauses, *map(_clause, _ways(spec))))
    for each in older:
        own = _own_policies(each)
        known = {field.name for field in whole.given}
        whole = replace(
            whole,
            given=(*whole.given, *(f for f in own.given if f.name not in known)),
            states=(*whole.states, *own.states),
            again=(*whole.again, *own.again),
            ladders=(*whole.ladders, *own.ladders),
            clauses=(
                *whole.clauses,
                _clause(own.start),
                *own.clauses,
                *map(_clause, _ways(own)),
            ),
        )
    return _with_ways_to_points(whole)


def _ways(spec: core.Machine) -> Iterator[core.Body]:
    """The migrations as blocks: what is read, compared and carried over in them."""
    for migration in spec.migrations:
        for entry in migration.states:
            exit = core.Goto(entry.new, (*entry.given, *entry.fields))
            yield core.Body((), entry.issues, exit)
        for command in migration.commands:
            yield core.Body((), (), core.Goto(command.command, command.fields))


def _clause(body: core.Body) -> core.Clause:
    return core.Clause("", core.OnMessage(""), None, body, Span("", 0, 0, 1, 1))


def _own_policies(spec: core.Machine) -> core.Machine:
    """The machine with its policies called otherwise than those of other versions."""

    def called(name: str) -> str:
        return f"{name}, version {spec.version}"

    def renamed(node: object) -> object | None:
        match node:
            case core.Wait(policy=name, issue=issue):
                issue = rewritten(issue, renamed)
                return replace(node, policy=called(name), issue=issue)
            case core.Attempts(policy=name):
                return replace(node, policy=called(name))
            case core.Ladder(name=name):
                return replace(node, name=called(name))
            case _:
                return None

    return rewritten(spec, renamed)


def _with_ways_to_points(whole: core.Machine) -> core.Machine:
    """What an instant that is told apart is made of is told apart, too."""
    while True:
        found = points(whole)
        tracked = found.offsets.keys()
        made_of = {
            part.name
            for clause in whole.clauses
            if clause.body is not None and isinstance(clause.body.exit, core.Goto)
            for each in clause.body.exit.fields
            if each.field in tracked
            for part in walk(each.value)
            if isinstance(part, core.Read) and part.scope == "state"
            if is_instant(part.type) and part.name not in tracked
        }
        if not made_of:
            return whole
        behind = replace(whole.states[0], deadlines=tuple(sorted(made_of)))
        whole = replace(whole, states=(*whole.states, behind))
