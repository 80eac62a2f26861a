"""Which arguments of a command are the key of a deed, wherever it is asked for.

A field is one when all that ever sets it is `deed`, or a field that is one; so is a
parameter.  Whatever comes into such a place must be a key of this instance: an undo
that is given another gives nothing back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from deedbox_dsl import core

from ..expressions.bodies import bodies, body_sets
from ..expressions.trees import with_lets


def key_parameters(spec: core.Machine) -> dict[str, frozenset[str]]:
    """By command, its parameters that are keys of deeds."""
    fields = _key_fields(spec)
    params = {each.name: each.params for each in spec.commands}
    given: dict[tuple[str, str], list[core.Expr]] = defaultdict(list)
    for body in bodies(spec):
        lets = {let.name: let.value for let in body.lets}
        for issue in body.issues:
            if isinstance(issue, core.Do | core.Repeat):
                for param, value in zip(
                    params[issue.command], issue.arguments, strict=True
                ):
                    place = issue.command, param.name
                    given[place].append(with_lets(value, lets))
    found: dict[str, frozenset[str]] = {}
    for (command, name), values in given.items():
        if all(_is_key(value, fields) for value in values):
            found[command] = found.get(command, frozenset()) | {name}
    return found


def _key_fields(spec: core.Machine) -> frozenset[str]:
    """Those that are left when every field which is set to something else is gone."""
    found = frozenset(name for name, _ in _sets(spec))
    while True:
        other = {name for name, value in _sets(spec) if not _is_key(value, found)}
        if found.isdisjoint(other):
            return found
        found -= other


def _sets(spec: core.Machine) -> Iterator[tuple[str, core.Expr]]:
    for body in bodies(spec):
        for each in body_sets(body):
            yield each.field, each.value


def _is_key(value: core.Expr, fields: frozenset[str]) -> bool:
    match value:
        case core.Deed():
            return True
        case core.Read("state", name):
            return name in fields
        case core.Known(target=target):
            return _is_key(target, fields)
        case core.Conditional(yes=yes, no=no):
            return _is_key(yes, fields) and _is_key(no, fields)
        case _:
            return False
