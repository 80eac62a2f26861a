"""Fields of which something holds because it holds of all that is ever put into them.

The largest such set, as a greatest fixed point: every field to begin with, and those go
into which something is put that is neither such a value nor another of the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from deedbox_dsl import core

Holds = Callable[[core.Expr], bool]


def filled_with(
    holds: Holds, sets: Iterable[core.Set], fields: Iterable[str]
) -> frozenset[str]:
    """Those of `fields` that are only set to what `holds`, and to one another."""
    found, put = frozenset(fields), tuple(sets)
    while True:
        other = {each.field for each in put if not is_such(each.value, holds, found)}
        if found.isdisjoint(other):
            return found
        found -= other


def is_such(value: core.Expr, holds: Holds, fields: frozenset[str]) -> bool:
    """Whether `holds` says so of a value, whichever way it is taken."""
    match value:
        case core.Read("state", name):
            return name in fields
        case core.Known(target=target):
            return is_such(target, holds, fields)
        case core.Conditional(yes=yes, no=no):
            return is_such(yes, holds, fields) and is_such(no, holds, fields)
        case _:
            return holds(value)
