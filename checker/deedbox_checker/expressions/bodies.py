"""Where a machine has expressions: in its bodies, guards, and properties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from deedbox_dsl import core
from deedbox_dsl.types import NoneType

from .trees import inline, walk, with_lets

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def body_sets(body: core.Body) -> tuple[core.Set, ...]:
    """What a body sets, each `let` by what it stands for."""
    lets = {let.name: let.value for let in body.lets}
    match body.exit:
        case core.Goto(fields=fields) | core.Stay(fields=fields):
            return tuple(
                replace(field, value=with_lets(field.value, lets)) for field in fields
            )
        case core.Reject():
            return ()


def body_expressions(body: core.Body) -> Iterator[core.Expr]:
    """Every expression of a body, each `let` by what it stands for."""
    lets = {let.name: let.value for let in body.lets}
    roots = [let.value for let in body.lets]
    for issue in body.issues:
        match issue:
            case core.Do(arguments=arguments) | core.Repeat(arguments=arguments):
                roots += arguments
            case core.Tell(key=key, fields=fields) | core.Begin(key=key, fields=fields):
                roots += key
                roots += (field.value for field in fields)
    for root in roots:
        yield with_lets(root, lets)
    for field in body_sets(body):
        yield field.value


def bodies(machine: core.Machine) -> Iterator[core.Body]:
    yield machine.start
    for clause in machine.clauses:
        if clause.body is not None:
            yield clause.body


def sets(machine: core.Machine) -> Iterator[core.Set]:
    """Whatever is ever put into a field, but for what a migration puts there."""
    for body in bodies(machine):
        yield from body_sets(body)
    for again in machine.again:
        if isinstance(again.exit, core.Replace):
            yield from again.exit.overrides


def own_expressions(machine: core.Machine) -> Iterator[core.Expr]:
    """What the machine itself looks at and sets."""
    for clause in machine.clauses:
        if clause.guard is not None:
            yield clause.guard
    for body in bodies(machine):
        yield from body_expressions(body)
    for again in machine.again:
        if again.guard is not None:
            yield again.guard
        if isinstance(again.exit, core.Replace):
            yield from (override.value for override in again.exit.overrides)


def expressions(machine: core.Machine) -> Iterator[core.Expr]:
    """Every expression of the machine and its properties, policies as numbers, parts too."""
    ladders = {ladder.name: ladder for ladder in machine.ladders}
    roots = [*own_expressions(machine)]
    for stated in machine.properties:
        roots.append(stated.pred.expr)
        if stated.target is not None:
            roots.append(stated.target.expr)
    for root in roots:
        yield from walk(inline(root, ladders))


def comparisons(machine: core.Machine) -> Iterator[core.Binary]:
    """What is compared anywhere, but for the tests for `none`."""
    for expr in expressions(machine):
        if (
            isinstance(expr, core.Binary)
            and expr.operator in COMPARISONS
            and not isinstance(expr.right.type, NoneType)
        ):
            yield expr
