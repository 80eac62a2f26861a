"""The finals of a saga: `done` knows what every step brought, `undone` the cause."""

from __future__ import annotations

from ... import syntax
from ...naming import taken
from ...problems import Problem
from .. import trees
from ..finals import final
from .plan import Plan


def finals(found: Plan) -> tuple[list[syntax.State], list[Problem]]:
    """The final states, `done` first."""
    problems: list[Problem] = []
    own = {part.name.text: part.type for part in (*found.key, *found.given)}
    brought = {n: kind for step in found.steps for n, kind in step.captured.items()}
    cause = {"cause": trees.type_name("text", found.undone.span)}
    done = final(
        found.done.state, found.done.init, {**own, **brought}, found.scope, problems
    )
    undone = final(
        found.undone.state, found.undone.init, {**own, **cause}, found.scope, problems
    )
    if done.name == undone.name:
        if done.fields != undone.fields:
            text = (
                f"`{done.name.text}` has other fields here than where the saga is done"
            )
            problems.append(taken(done.name.text, undone.span, done.span, text))
        return [done], problems
    return [done, undone], problems
