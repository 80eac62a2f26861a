"""Deadlines that nobody waits for, and deadlines that never pause.

A deadline is *spent* when it is set to a moment that has already come: `now`, or
the deadline that has just fired.  A circle of `at` clauses in which each sets the
next to a spent moment would run without end in one instant.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from .. import core, syntax
from ..check.facts import NOTHING
from ..check.learning import interval
from ..problems import Problem
from ..types import INSTANT, Maybe, Type, base_of
from ..walk import nodes

_QUOTED = re.compile(r"`(\w+)`")


def timing(machine: core.Machine, written: syntax.Machine) -> list[Problem]:
    return [*_unwaited(machine, written), *_past(machine), *_breathless(machine)]


def _unwaited(machine: core.Machine, written: syntax.Machine) -> Iterator[Problem]:
    read: dict[str, set[str]] = defaultdict(set)
    for clause in machine.clauses:
        if clause.body is not None:
            read[clause.state].update(_reads(clause, clause.body))
    spoken = _spoken_of(machine, written)
    for state in machine.states:
        if state.final:
            continue
        for own in state.fields:
            if (
                _is_instant(own.type)
                and own.name not in state.deadlines
                and own.name not in read[state.name]
                and own.name not in spoken
                and own.name not in _QUOTED.findall(f"{state.doc} {own.doc}")
            ):
                text = (
                    f"`{own.name}` is kept in `{state.name}`, but nothing waits for it"
                )
                hint = f"Add `at {own.name} {{ … }}`, or leave the field out."
                yield Problem("DEED502", own.span, text, hints=(hint,))


def _reads(clause: core.Clause, body: core.Body) -> Iterator[str]:
    """The fields of its state that a clause reads; a field that stays is not read."""
    values: list[object] = [clause.guard, body.lets, body.issues]
    match body.exit:
        case core.Goto(fields=fields):
            values.append(fields)
        case core.Stay(fields=fields):
            values += [
                each
                for each in fields
                if not (
                    isinstance(each.value, core.Read) and each.value.name == each.field
                )
            ]
        case core.Reject():
            pass
    for node in nodes(tuple(values)):
        if isinstance(node, core.Read) and node.scope == "state":
            yield node.name


def _spoken_of(machine: core.Machine, written: syntax.Machine) -> set[str]:
    """Fields that a property reads, or that the machine's comment names."""
    found = set(_QUOTED.findall(machine.doc or ""))
    for item in written.items:
        if isinstance(item, syntax.Property):
            for node in nodes(item):
                match node:
                    case (
                        syntax.Var(name=name)
                        | syntax.Member(name=syntax.Name(text=name))
                    ):
                        found.add(name)
                    case _:
                        pass
    return found


def _is_instant(kind: Type) -> bool:
    return base_of(kind.item if isinstance(kind, Maybe) else kind) is INSTANT


def _past(machine: core.Machine) -> Iterator[Problem]:
    """Deadlines that are set to a moment before the step that sets them."""
    states = {state.name: state for state in machine.states}
    bodies: list[tuple[str | None, core.Body]] = [(None, machine.start)]
    bodies += [(c.state, c.body) for c in machine.clauses if c.body is not None]
    for source, body in bodies:
        match body.exit:
            case core.Goto(state=name, fields=fields):
                target = states[name]
            case core.Stay(fields=fields) if source is not None:
                target = states[source]
            case _:
                continue
        for each in fields:
            if each.field in target.deadlines and _before_now(each.value):
                text = (
                    f"`{each.field}` of `{target.name}` is set to a time already past"
                )
                hint = "It comes due at once: a deadline lies ahead, as in `now + 5s`."
                yield Problem("DEED503", each.value.span, text, hints=(hint,))


def _before_now(value: core.Expr) -> bool:
    match value:
        case core.Binary(operator="-", left=core.Now(), right=wait):
            low = interval(wait, NOTHING).low
            return low is not None and low > 0
        case core.Binary(operator="+", left=core.Now(), right=wait):
            high = interval(wait, NOTHING).high
            return high is not None and high < 0
        case _:
            return False


def _breathless(machine: core.Machine) -> Iterator[Problem]:
    states = {state.name: state for state in machine.states}
    ways: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    first: dict[tuple[str, str], core.Clause] = {}
    for clause in machine.clauses:
        if not isinstance(clause.trigger, core.AtDeadline) or clause.body is None:
            continue
        match clause.body.exit:
            case core.Goto(state=name, fields=fields):
                target = states[name]
            case core.Stay(fields=fields):
                target = states[clause.state]
            case core.Reject():
                continue
        place = clause.state, clause.trigger.field
        first.setdefault(place, clause)
        for each in fields:
            if each.field in target.deadlines and _spent(
                each.value, clause.trigger.field
            ):
                ways[place].add((target.name, each.field))
    for place, clause in first.items():
        if _comes_back(place, ways):
            state, deadline = place
            text = (
                f"`{deadline}` of `{state}` can come due again at once, without a pause"
            )
            hint = "Set the next deadline later than `now`."
            yield Problem("DEED503", clause.span, text, hints=(hint,))


def _spent(value: core.Expr, fired: str) -> bool:
    match value:
        case core.Now():
            return True
        case core.Read(scope="state", name=name):
            return name == fired
        case core.Binary(operator="+", left=core.Now(), right=wait):
            high = interval(wait, NOTHING).high
            return high is not None and high <= 0
        case core.Binary(operator="-", left=core.Now(), right=wait):
            low = interval(wait, NOTHING).low
            return low is not None and low >= 0
        case _:
            return False


def _comes_back(
    place: tuple[str, str], ways: dict[tuple[str, str], set[tuple[str, str]]]
) -> bool:
    seen: set[tuple[str, str]] = set()
    waiting = list(ways.get(place, ()))
    while waiting:
        here = waiting.pop()
        if here == place:
            return True
        if here not in seen:
            seen.add(here)
            waiting += ways.get(here, ())
    return False
