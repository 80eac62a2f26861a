"""What stands beside the clauses: properties, checking bounds, and `on start again`.

A property reads a field only where it is known which state it speaks of (`in … when`
or `is`); an `on start again` reads the stored key and given, and the new start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, assert_never

from .. import core, syntax
from ..naming import named_snake, taken, unknown
from ..reserved import why_reserved
from ..source import Span
from .blocks import Outline
from .declarations import own_names
from .expressions import check_phases, condition, new_local
from .facts import NOTHING, Facts, Subject
from .inits import init
from .learning import learn
from .place import Binding, Place


def restarts(machine: syntax.Machine, outline: Outline) -> Iterator[core.Again]:
    place = Place(
        outline.scope,
        outline.problems,
        own_names(outline),
        subjects=frozenset({"phase"}),
        phases=frozenset(outline.states),
    )
    anew = {part.name: part.type for part in (*outline.key, *outline.given)}
    for item in machine.items:
        if not isinstance(item, syntax.Again):
            continue
        here = place
        if item.bind is not None and new_local(item.bind, place):
            here = replace(
                place,
                binding=Binding(item.bind.text, "the new start", anew, item.bind.span),
            )
        facts: Facts = NOTHING
        guard: core.Expr | None = None
        if item.guard is not None:
            guard = condition(item.guard, here, facts, "after `when`")
            facts = learn(facts, guard, True)
        match item.exit:
            case syntax.Keep():
                yield core.Again(guard, core.Keep(), item.span)
            case syntax.Replace(init=written, span=span):
                overrides: tuple[core.Set, ...] = ()
                if written is not None:
                    fields = _replaceable(written, machine, outline)
                    owner = "the state that `start` goes to"
                    overrides = init(written, fields, owner, here, facts, {}, span)
                yield core.Again(guard, core.Replace(overrides), item.span)
            case _:
                assert_never(item.exit)


def _replaceable(
    written: syntax.Init, machine: syntax.Machine, outline: Outline
) -> tuple[core.Field, ...]:
    """The named ones of the given and of the first state; the others come from `start`."""
    named = {
        item.name.text
        for item in written.items
        if isinstance(item, syntax.Set | syntax.Pun)
    }
    first: tuple[core.Field, ...] = ()
    for item in machine.items:
        match item:
            case syntax.Start(block=syntax.Block(exit=syntax.Goto(state=name))):
                state = outline.states.get(name.text)
                first = state.fields if state is not None else ()
            case _:
                pass
    return tuple(part for part in (*outline.given, *first) if part.name in named)


def properties(machine: syntax.Machine, outline: Outline) -> Iterator[core.Property]:
    fields = {
        state.name: {own.name: own.type for own in state.fields}
        for state in outline.states.values()
    }
    ghosts = {
        command.name: frozenset(outcome.name for outcome in command.outcomes)
        for command in outline.commands.values()
    }
    place = Place(
        outline.scope,
        outline.problems,
        own_names(outline),
        now=False,
        subjects=frozenset({"phase"}),
        phases=frozenset(outline.states),
        states=fields,
        ghosts=ghosts,
    )
    sides: frozenset[Subject] = frozenset({"old", "new"})
    seen: dict[str, Span] = {}
    for item in machine.items:
        if not isinstance(item, syntax.Property):
            continue
        name = item.name
        if name.text in seen:
            outline.problems.append(taken(name.text, name.span, seen[name.text]))
            continue
        seen[name.text] = name.span
        outline.problems.extend(named_snake(name, "property", why_reserved(name.text)))
        here = place
        if item.word == "across":
            here = replace(place, subjects=sides, now=True)
        yield core.Property(
            item.word,
            name.text,
            _pred(item.pred, here),
            None if item.target is None else _pred(item.target, here),
            None if item.within is None else item.within.milliseconds,
            item.span,
        )


def _pred(pred: syntax.Pred, place: Place) -> core.Pred:
    facts: Facts = NOTHING
    states = tuple(name.text for name in pred.states)
    if states and check_phases(pred.states, place):
        facts = Facts(phases={"phase": frozenset(states)})
    return core.Pred(states, condition(pred.expr, place, facts, "by a property"))


FAULTS: Final = (
    "crash",
    "raise",
    "late_arrival",
    "late_answer",
    "early_wake",
    "second_worker",
    "upgrade",
)
"""What the explorer may be told to leave out; it has a switch for each."""


def checking_bounds(machine: syntax.Machine, outline: Outline) -> core.Bounds:
    bounds = core.Bounds()
    for item in machine.items:
        if not isinstance(item, syntax.Check):
            continue
        for bound in item.bounds:
            match bound:
                case syntax.Bound(word="instances", value=value):
                    bounds = replace(bounds, instances=value)
                case syntax.Bound(word="messages", value=value):
                    bounds = replace(bounds, messages=value)
                case syntax.Bound(value=value):
                    bounds = replace(bounds, page=value)
                case syntax.Faults(excepted=names):
                    excepted = tuple(n.text for n in names if _is_fault(n, outline))
                    bounds = replace(bounds, excepted_faults=excepted)
                case syntax.Assume():
                    pair = _assumed(bound, outline)
                    if pair is not None:
                        bounds = replace(bounds, assumed=(*bounds.assumed, pair))
                case _:
                    assert_never(bound)
    return bounds


def _is_fault(name: syntax.Name, outline: Outline) -> bool:
    if name.text in FAULTS:
        return True
    text = f"there is no fault `{name.text}`"
    outline.problems.append(unknown("DEED201", name, text, FAULTS))
    return False


def _assumed(bound: syntax.Assume, outline: Outline) -> tuple[str, str] | None:
    command = outline.commands.get(bound.command.text)
    if command is None:
        name, known, what = bound.command, list(outline.commands), "command"
    else:
        known = [outcome.name for outcome in command.outcomes]
        name, what = bound.outcome, f"outcome of `{command.name}`"
        if name.text in known:
            return command.name, name.text
    text = f"there is no {what} `{name.text}`"
    outline.problems.append(unknown("DEED201", name, text, known))
    return None
