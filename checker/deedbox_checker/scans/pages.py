"""A scan with a smaller page, so that every list that its pass may meet can be explored.

What a page is, the lowering of scans has fixed (`roles`).  It is replaced in the core,
so the generated code and the clauses that it is held against are smaller in the same
way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from deedbox_dsl import core
from deedbox_dsl.roles import Scan, scan

from ..expressions.trees import rewritten

LARGEST: Final = 3
"""The largest page that is explored."""


def longest(found: Scan) -> int:
    """How many records a list has at most, where every list is explored."""
    return 2 * found.page + 1


def is_due(expr: core.Expr) -> bool:
    """Whether it asks if a record of the list is due now."""
    match expr:
        case core.Binary("<=", core.Member(target=core.Read("item")), core.Now()):
            return True
        case _:
            return False


def paged(spec: core.Machine) -> core.Machine:
    """The machine with the page that its `check` block asks for."""
    found = scan(spec)
    page = spec.bounds.page
    if page is None or not isinstance(found, Scan) or page == found.page:
        return spec
    params = next(each.params for each in spec.commands if each.name == found.fetch)
    limit = [param.name for param in params].index(found.limit)
    listed, before = found.listed, found.page

    def smaller(node: object) -> object | None:
        match node:
            case core.Call(
                function="take",
                arguments=(
                    core.Bound(name=name) as source,
                    core.Constant(value) as many,
                ),
            ) if (name, value) == (listed, before):
                return replace(node, arguments=(source, replace(many, value=page)))
            case core.Binary(
                ">",
                core.Call(function="len", arguments=(core.Bound(name=name),)),
                core.Constant(value) as many,
            ) if (name, value) == (listed, before):
                return replace(node, right=replace(many, value=page))
            case core.Do(found.fetch, arguments) | core.Repeat(found.fetch, arguments):
                asked = list(arguments)
                asked[limit] = smaller_limit(asked[limit], before, page)
                return replace(node, arguments=tuple(asked))
            case _:
                return None

    return replace(
        spec,
        start=rewritten(spec.start, smaller),
        again=rewritten(spec.again, smaller),
        clauses=rewritten(spec.clauses, smaller),
    )


def smaller_limit(expr: core.Expr, before: int, page: int) -> core.Expr:
    """One record more than a page."""
    match expr:
        case core.Constant(value) if value == before + 1:
            return replace(expr, value=page + 1)
        case _:
            return expr
