"""What a migration looks at: by each older state, the one block that it amounts to.

Over several versions the entries are put into one another, so that the block reads the
oldest state and nothing between; it is then a step like another (`looking`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from deedbox_dsl import core

from ..expressions.trees import rebuilt, walk
from ..instance.model import Model
from ..time.looking import Look, case
from ..time.places import Eye


@dataclass(frozen=True, slots=True)
class Way:
    """`at_once`: the time of the last step is looked at."""

    look: Look
    at_once: bool


NO_WAY = Way((), at_once=False)


def ways(older: Model, later: Model) -> dict[str, Way]:
    """By the states of an older version; `Endless` when one looks at too much of time."""
    names = {state.name for state in older.spec.states}
    eye = Eye(
        replace(
            older.spec,
            ladders=later.spec.ladders,
            states=(
                *older.spec.states,
                *(each for each in later.spec.states if each.name not in names),
            ),
        ),
        later.points,
        later.domain,
    )
    return {
        name: Way((case(eye, name, (), body),), any(map(looks_at_now, computed(body))))
        for name, body in blocks(older.spec.version, later.spec).items()
    }


def looks_at_now(expr: core.Expr) -> bool:
    return any(isinstance(part, core.Now) for part in walk(expr))


def computed(body: core.Body) -> Iterator[core.Expr]:
    match body.exit:
        case core.Goto(fields=fields) | core.Stay(fields=fields):
            yield from (each.value for each in fields)
        case core.Reject():
            return
    for issue in body.issues:
        if isinstance(issue, core.Do | core.Repeat):
            yield from issue.arguments


def blocks(version: int, spec: core.Machine) -> dict[str, core.Body]:
    """What becomes of each state of `version` by the migrations of `spec`."""
    chain = [each for each in spec.migrations if each.older.version >= version]
    found: dict[str, core.Body] = {}
    for entry in chain[0].states if chain else ():
        body = block(entry, {})
        for migration in chain[1:]:
            match body.exit:
                case core.Goto(state=state, fields=fields):
                    values = {each.field: each.value for each in fields}
                case core.Stay() | core.Reject():
                    break
            following = (each for each in migration.states if each.old == state)
            for each in following:
                after = block(each, values)
                body = replace(after, issues=(*body.issues, *after.issues))
        found[entry.old] = body
    return found


def block(entry: core.MigrateState, values: Mapping[str, core.Expr]) -> core.Body:
    """An entry, the fields that it reads by what they were made of."""
    read = partial(made_of, values=values)
    issues = tuple(
        replace(issue, arguments=tuple(map(read, issue.arguments)))
        for issue in entry.issues
        if isinstance(issue, core.Do | core.Repeat)
    )
    sets = tuple(
        replace(each, value=read(each.value)) for each in (*entry.given, *entry.fields)
    )
    return core.Body((), issues, core.Goto(entry.new, sets))


def made_of(expr: core.Expr, values: Mapping[str, core.Expr]) -> core.Expr:
    match expr:
        case core.Read(scope="state" | "given", name=name) if name in values:
            return values[name]
        case _:
            return rebuilt(expr, partial(made_of, values=values))
