"""The steps of a run with what their lines do not say: who decided, and what it means.

Of each step: the clause of the spec that decided it, how long a policy waits after it,
and which parts of the property hold when it is done.  From that a repetition is known
for one, and the end of the run is explained.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from deedbox_dsl import core

from ..environment.environment import Environment
from ..environment.labels import Label
from ..expressions.bodies import body_expressions
from ..expressions.evaluate import Scene, delay_after, number, phase, truth
from ..expressions.trees import inline, walk
from ..instance.world import World
from ..traces.trace import Line, Trace
from .moment import Moment

Values: TypeAlias = tuple[bool | None, ...]
"""Of each part of a property whether it holds; None: it cannot be asked there."""


@dataclass(frozen=True, slots=True)
class Told:
    """A step as it is told.

    `decided`: the line of the spec by which it went, 0 where none did.  `waits`: what a
    policy says then, in milliseconds.  `values`: of the parts of the property, after it.
    `shown`: it is never folded away.
    """

    number: int
    line: Line
    decided: int = 0
    waits: int | None = None
    values: Values = ()
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One of the conditions that `and`, `or`, `implies` and `not` join in a property."""

    expr: core.Expr
    states: tuple[str, ...] = ()

    def value(
        self, environment: Environment, before: World | None, world: World
    ) -> bool | None:
        if self.states and phase(world.state) not in self.states:
            return None
        model = environment.of(world).model
        scene = Scene(
            state=world.state,
            counts=dict(zip(model.counted, world.counts, strict=False)),
            old=None if before is None else before.state,
            new=world.state,
        )
        try:
            return truth(self.expr)(scene)
        except (AttributeError, KeyError, TypeError):
            return None


def parts(machine: core.Machine, stated: core.Property | None) -> tuple[Part, ...]:
    """Those of what holds first, then those of the target."""
    if stated is None:
        return ()
    ladders = {ladder.name: ladder for ladder in machine.ladders}
    found: list[Part] = []
    for pred in (stated.pred, stated.target):
        if pred is not None:
            expr = inline(pred.expr, ladders)
            found += [Part(each, pred.states) for each in conditions(expr)]
    return tuple(found)


def conditions(expr: core.Expr) -> Iterator[core.Expr]:
    match expr:
        case core.Binary(operator="and" | "or" | "implies", left=left, right=right):
            yield from conditions(left)
            yield from conditions(right)
        case core.Not(operand=operand):
            yield from conditions(operand)
        case _:
            yield expr


def retold(trace: Trace, stated: core.Property | None = None) -> tuple[Told, ...]:
    """All steps, those of the loop behind the others."""
    lines = (*trace.lines, *trace.loop)
    run = trace.run
    if run is None:
        return tuple(
            Told(n, line, shown=n == len(lines)) for n, line in enumerate(lines, 1)
        )
    own = run.environment.model.spec
    known = parts(own, stated)
    found: list[Told] = []
    steps = zip(run.worlds[:-1], run.worlds[1:], run.labels, lines, strict=True)
    for n, (before, after, label, line) in enumerate(steps, 1):
        environment = run.environment.of(before)
        decided, waits = 0, None
        if environment is run.environment:
            decided, waits = decision(environment, before, after, label)
        found.append(
            Told(
                n,
                line,
                decided,
                waits,
                tuple(each.value(environment, before, after) for each in known),
                bool(label.broken) or (n == len(trace.lines) and not trace.loop),
            )
        )
    return tuple(found)


def decision(
    environment: Environment, before: World, after: World, label: Label
) -> tuple[int, int | None]:
    """The line of the clause that decided a step, and how long a policy waits after it.

    What every saga does stands on no line but its first, which says nothing.
    """
    found = Moment(environment, before, after, label, {}).clause()
    if found is None:
        return 0, None
    clause, scene = found
    spec = environment.model.spec
    line = clause.span.line
    return 0 if line == spec.span.line else line, waited(spec, clause, scene)


def waited(machine: core.Machine, clause: core.Clause, scene: Scene) -> int | None:
    """The delay that the clause takes from a policy, before any jitter."""
    ladders = {ladder.name: ladder for ladder in machine.ladders}
    for expr in () if clause.body is None else body_expressions(clause.body):
        for each in walk(expr):
            if isinstance(each, core.Wait):
                issue = number(inline(each.issue, ladders))(scene)
                return delay_after(ladders[each.policy], max(issue, 1))
    return None
