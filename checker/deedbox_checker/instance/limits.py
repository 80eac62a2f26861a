"""What the explorer cannot do: a machine that needs it is not explored, and says why.

Times whose order is not finite are found where they are looked at (`Endless`).
"""

from __future__ import annotations

from deedbox_dsl import core, roles

from ..data.numbers import outside_fields
from ..expressions.bodies import bodies, body_sets, expressions
from ..expressions.trees import walk
from ..expressions.types import is_instant, is_int, is_length
from ..scans.pages import LARGEST, is_due
from ..time.points import behaviour, read_instants
from ..time.sums import comparisons_in


def unexplored(machine: core.Machine) -> str:
    """Why a search of this machine would not be a search of all; empty: it would."""
    number = outside_factor(machine)
    if number:
        return (
            f"a length of time is made of `{number}`, a number from outside:"
            " declare it as a `duration`"
        )
    instant = undated(machine)
    if instant and any(stated.within is not None for stated in machine.properties):
        return (
            f"`within` counts milliseconds, and `{instant}` comes from outside, where it"
            " may be any instant: state `leads` without `within`"
        )
    return ""


def long_page(machine: core.Machine) -> str:
    """Why the lists of this scan are too many for anything to be made of them."""
    found = roles.scan(machine)
    if isinstance(found, str):
        return found
    if found is not None and found.page > LARGEST:
        return (
            f"a page of {found.page} is too long to explore: write `check {{ page 2 }}`"
        )
    return ""


def outside_factor(machine: core.Machine) -> str:
    """A number from outside of which a length of time is made."""
    outside = outside_fields(machine)
    for expr in expressions(machine):
        if isinstance(expr, core.Binary) and is_length(expr.type):
            for factor in (expr.left, expr.right):
                for part in walk(factor) if is_int(factor.type) else ():
                    match part:
                        case core.Bound(name=name) | core.Member(name=name):
                            return name
                        case core.Read(scope="key" | "given" | "item", name=name):
                            return name
                        case core.Read(name=name) if name in outside:
                            return name
                        case _:
                            pass
    return ""


def undated(machine: core.Machine) -> str:
    """An instant from outside on which the times of the machine hang."""
    read = read_instants(machine)
    looked: list[core.Expr] = [
        each
        for each in comparisons_in(behaviour(machine))
        if machine.kind != "scan" or not is_due(each)
    ]
    looked += [
        each.value
        for body in bodies(machine)
        for each in body_sets(body)
        if each.field in read
    ]
    for expr in looked:
        for part in walk(expr):
            match part:
                case core.Bound(name=name) | core.Member(name=name) if is_instant(
                    part.type
                ):
                    return name
                case core.Read(scope="given", name=name) if is_instant(part.type):
                    return name
                case _:
                    pass
    return ""
