"""Which arguments of a command are the key of a deed, wherever it is asked for.

A field is one when all that ever sets it is `deed`, or a field that is one; so is a
parameter.  Whatever comes into such a place must be a key of this instance: an undo
that is given another gives nothing back.
"""

from __future__ import annotations

from collections import defaultdict

from deedbox_dsl import core

from ..expressions.bodies import bodies, sets
from ..expressions.filled import filled_with, is_such
from ..expressions.trees import with_lets


def key_parameters(spec: core.Machine) -> dict[str, frozenset[str]]:
    """By command, its parameters that are keys of deeds."""
    fields = key_fields(spec)
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
        if all(is_such(value, is_deed, fields) for value in values):
            found[command] = found.get(command, frozenset()) | {name}
    return found


def key_fields(spec: core.Machine) -> frozenset[str]:
    """The fields that are keys of deeds."""
    put = tuple(sets(spec))
    return filled_with(is_deed, put, (each.field for each in put))


def is_deed(value: core.Expr) -> bool:
    return isinstance(value, core.Deed)
