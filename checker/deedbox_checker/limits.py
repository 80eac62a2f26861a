"""What the explorer cannot do: a machine that needs it is not explored, and says why."""

from __future__ import annotations

from collections.abc import Iterator

from deedbox_dsl import core, roles

from .domain import bodies, body_sets, expressions, is_instant
from .evaluate import walk
from .points import Points, is_timely
from .scanning import LARGEST, is_due


def unexplored(machine: core.Machine, points: Points) -> str:
    """Why a search of this machine would not be a search of all; empty: it would."""
    found = roles.scan(machine)
    if isinstance(found, str):
        return found
    if found is not None and found.page > LARGEST:
        return (
            f"a page of {found.page} is too long to explore: write `check {{ page 2 }}`"
        )
    for expr in expressions(machine):
        if is_timely(expr) and not (found is not None and is_due(expr)):
            for part in outside_instants(expr):
                return f"an instant from outside (`{part}`) is compared with others"
    tracked = points.offsets.keys() | points.loose
    for body in bodies(machine):
        for field in body_sets(body):
            if field.field in tracked:
                for part in outside_instants(field.value):
                    return f"`{field.field}` is set from an instant from outside (`{part}`)"
    return ""


def outside_instants(expr: core.Expr) -> Iterator[str]:
    """The instants in `expr` that are not the machine's own."""
    for part in walk(expr):
        if is_instant(part.type):
            match part:
                case core.Bound(name=name) | core.Member(name=name):
                    yield name
                case core.Read(scope="key" | "given" | "item", name=name):
                    yield name
                case _:
                    pass
