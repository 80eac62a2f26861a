"""What is known of values where an expression stands.

Facts are kept about typed expressions, which compare without their spans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from .. import core
from .intervals import Interval

Subject: TypeAlias = Literal["phase", "old", "new"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What holds here; a missing entry is "not known".

    `some`: collections of which some item satisfies a condition (item, condition).
    `lets`: what each `let` of the block stands for.  `impossible`: this place is
    never reached with such values.
    """

    present: frozenset[core.Expr] = frozenset()
    absent: frozenset[core.Expr] = frozenset()
    ranges: Mapping[core.Expr, Interval] = field(
        default_factory=dict[core.Expr, Interval]
    )
    equal: Mapping[core.Expr, core.Constant] = field(
        default_factory=dict[core.Expr, core.Constant]
    )
    unequal: frozenset[tuple[core.Expr, core.Constant]] = frozenset()
    variants: Mapping[core.Expr, frozenset[str]] = field(
        default_factory=dict[core.Expr, frozenset[str]]
    )
    phases: Mapping[Subject, frozenset[str]] = field(
        default_factory=dict[Subject, frozenset[str]]
    )
    some: frozenset[tuple[core.Expr, str, core.Expr]] = frozenset()
    lets: Mapping[str, core.Expr] = field(default_factory=dict[str, core.Expr])
    impossible: bool = False


NOTHING = Facts()


def define(facts: Facts, name: str, value: core.Expr) -> Facts:
    """The facts after `let name = value`."""
    return replace(facts, lets={**facts.lets, name: value})


def join(one: Facts, other: Facts) -> Facts:
    """What holds in both cases."""
    if one.impossible:
        return other
    if other.impossible:
        return one
    return Facts(
        present=one.present & other.present,
        absent=one.absent & other.absent,
        ranges={
            expr: found.join(other.ranges[expr])
            for expr, found in one.ranges.items()
            if expr in other.ranges
        },
        equal={
            expr: value
            for expr, value in one.equal.items()
            if other.equal.get(expr) == value
        },
        unequal=one.unequal & other.unequal,
        variants={
            expr: found | other.variants[expr]
            for expr, found in one.variants.items()
            if expr in other.variants
        },
        phases={
            subject: found | other.phases[subject]
            for subject, found in one.phases.items()
            if subject in other.phases
        },
        some=one.some & other.some,
        lets=one.lets,
    )
