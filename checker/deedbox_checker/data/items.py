"""How many items a list from outside has, of which something is asked.

Up to two: none, one, and one before another.  What holds a number of items against
more than that has cases which no such list comes to, and is not explored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from deedbox_dsl import core

from ..expressions.bodies import comparisons, sets
from ..expressions.endless import Endless, name_of
from ..expressions.trees import walk
from ..expressions.types import is_int

MOST: Final = 2
TOO_MANY: Final = (
    f"a number of items is held against more than {MOST - 1}, and lists from outside"
    f" have at most {MOST} here: bring the number in a field of its own"
)


def refuse_long_lists(machine: core.Machine) -> None:
    """Raise `Endless` where more than two items would make a difference."""
    read: set[str] = set()
    for found in comparisons(machine):
        for side, other in ((found.left, found.right), (found.right, found.left)):
            if is_int(side.type):
                read |= {
                    part.name
                    for part in walk(side)
                    if isinstance(part, core.Read | core.Side)
                }
                for number in numbers_of_items(side):
                    if number != side or not is_few(other):
                        raise Endless(name_of(number), TOO_MANY)
    for each in sets(machine):
        if each.field in read:
            for number in numbers_of_items(each.value):
                raise Endless(name_of(number), TOO_MANY)


def numbers_of_items(expr: core.Expr) -> Iterator[core.Expr]:
    for part in walk(expr):
        match part:
            case core.Call(function="len") | core.Over(function="count" | "sum"):
                yield part
            case _:
                pass


def is_few(expr: core.Expr) -> bool:
    return isinstance(expr, core.Constant) and expr.value in range(MOST)
