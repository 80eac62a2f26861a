"""An expression as a tree: its parts, and the same tree with some of them exchanged.

What is short for something else, a `let` or the numbers of a policy, is written out
here; what an expression is worth, `evaluate` knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, assert_never, cast

from deedbox_dsl import core
from deedbox_dsl.types import BOOL, INT

T = TypeVar("T")


def with_lets(expr: core.Expr, lets: Mapping[str, core.Expr]) -> core.Expr:
    """`expr` with each `let` by what it stands for."""
    match expr:
        case core.Read(scope="let", name=name) if name in lets:
            return with_lets(lets[name], lets)
        case _:
            return rebuilt(expr, lambda inner: with_lets(inner, lets))


def inline(
    expr: core.Expr, ladders: Mapping[str, core.Ladder], *, jittered: bool = False
) -> core.Expr:
    """`expr` with `P.attempts` as a number and `wait(P, n)` as a choice of numbers.

    Delays are the longest; with `jittered` one that a jitter shortens stays a `Wait`.
    """

    def again(inner: core.Expr) -> core.Expr:
        return inline(inner, ladders, jittered=jittered)

    match expr:
        case core.Attempts(policy, type_, span):
            return core.Constant(ladders[policy].attempts, type_, span)
        case core.Wait(policy) if jittered and ladders[policy].jitter is not None:
            return rebuilt(expr, again)
        case core.Wait(policy, issue, type_, span):
            delays = ladders[policy].delays
            chosen: core.Expr = core.Constant(delays[-1], type_, span)
            for at in range(len(delays) - 1, 0, -1):
                early = core.Binary(
                    "<=", again(issue), core.Constant(at, INT, span), BOOL, span
                )
                delay = core.Constant(delays[at - 1], type_, span)
                chosen = core.Conditional(early, delay, chosen, type_, span)
            return chosen
        case core.Known(target=target):
            return again(target)
        case _:
            return rebuilt(expr, again)


def rebuilt(expr: core.Expr, again: Callable[[core.Expr], core.Expr]) -> core.Expr:
    """`expr` made anew of its parts."""
    match expr:
        case (
            core.Member(target=target)
            | core.VariantIs(target=target)
            | core.Known(target=target)
        ):
            return replace(expr, target=again(target))
        case core.Wait(issue=issue):
            return replace(expr, issue=again(issue))
        case core.Not(operand=operand) | core.Negative(operand=operand):
            return replace(expr, operand=again(operand))
        case core.Binary(left=left, right=right):
            return replace(expr, left=again(left), right=again(right))
        case core.Conditional(test=test, yes=yes, no=no):
            return replace(expr, test=again(test), yes=again(yes), no=again(no))
        case core.Call(arguments=arguments):
            return replace(expr, arguments=tuple(map(again, arguments)))
        case core.Over(source=source, body=body):
            return replace(expr, source=again(source), body=again(body))
        case (
            core.Constant()
            | core.EmptyList()
            | core.Now()
            | core.Read()
            | core.Bound()
            | core.Side()
            | core.Deed()
            | core.PhaseIs()
            | core.Attempts()
            | core.Ended()
        ):
            return expr
        case _:
            assert_never(expr)


def children(expr: core.Expr) -> tuple[core.Expr, ...]:
    """The expressions of which `expr` is made, in the order of the text."""
    found: list[core.Expr] = []

    def met(part: core.Expr) -> core.Expr:
        found.append(part)
        return part

    rebuilt(expr, met)
    return tuple(found)


def walk(expr: core.Expr) -> list[core.Expr]:
    """`expr` and everything in it."""
    found = [expr]
    for part in found:
        found.extend(children(part))
    return found


# ---- any piece of the core -----------------------------------------------------------


def rewritten(node: T, change: Callable[[object], object | None]) -> T:
    """A piece of the core with every part replaced for which `change` gives another."""
    return cast(T, _rewritten(node, change))


def _rewritten(node: object, change: Callable[[object], object | None]) -> object:
    changed = change(node)
    if changed is not None:
        return changed
    if isinstance(node, tuple):
        parts = cast("tuple[object, ...]", node)
        return tuple(_rewritten(part, change) for part in parts)
    if type(node).__module__ != core.__name__ or not is_dataclass(node):
        return node
    inner = {
        each.name: _rewritten(cast(object, getattr(node, each.name)), change)
        for each in fields(node)
    }
    return replace(cast("core.Do", node), **cast("dict[str, core.Expr]", inner))  # type: ignore[arg-type]  # a part is what it was
