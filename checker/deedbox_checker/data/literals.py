"""The texts of a spec that a compared value may be.

A literal is held against something where it is compared, and where it was put into a
field that is: what comes from outside has to be tried with it, or the two never meet.
A text that is made of others has no end of values, and is not compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from deedbox_dsl import core
from deedbox_dsl.types import Base, Type

from ..expressions.bodies import comparisons, sets
from ..expressions.endless import Endless, name_of
from ..expressions.trees import walk
from ..expressions.types import bare, base_of


def literals(machine: core.Machine, compared: Collection[Type]) -> Iterator[str]:
    """With repetitions; `compared`: the types of which values are."""
    for root in held_against(machine, compared):
        for part in walk(root):
            match part:
                case core.Constant(value=str(text)):
                    yield text
                case core.Deed():
                    raise Endless(
                        "deed",
                        "an idempotency key is compared, and keys are told apart by what"
                        " they are for: give the command a text of your own, and"
                        " compare that",
                    )
                case core.Binary(operator="+") | core.Call(function="text") if (
                    base_of(part.type) is Base.TEXT
                ):
                    raise Endless(
                        name_of(part),
                        "a text that is made of others is compared: compare what it is"
                        " made of",
                    )
                case _:
                    pass


def held_against(
    machine: core.Machine, compared: Collection[Type]
) -> Iterator[core.Expr]:
    """What is compared, and what is put into fields that are."""
    for found in comparisons(machine):
        yield from (found.left, found.right)
    held = {
        field.name
        for state in machine.states
        for field in state.fields
        if bare(field.type) in compared
    }
    yield from (each.value for each in sets(machine) if each.field in held)
