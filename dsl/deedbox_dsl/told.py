"""What a machine tells others: each message and each start once, with its fields.

The generated module of the machine declares a class for each of them, so the types
of their fields must be known there under their own names: two declared types of one
name, from two modules, are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from . import core
from .names import Scope, Signature
from .problems import Problem
from .types import ChoiceType, Declared, ListOf, Maybe, RecordType, Type


def told(
    bodies: Iterable[core.Body], scope: Scope, problems: list[Problem]
) -> Iterator[core.Told]:
    """Each of them where it is first told; `problems` takes the types that clash."""
    seen: set[core.Told] = set()
    names: dict[str, Type] = dict(scope.types)
    for body in bodies:
        for issue in body.issues:
            one = _told(issue, scope.machines)
            if one is None or one in seen:
                continue
            seen.add(one)
            for kind in declared(each.type for each in one.fields):
                other = names.setdefault(kind.name, kind)
                if other != kind:
                    text = (
                        f"`{kind.name}` of `{kind.module}` is needed here, and "
                        "another type has that name already"
                    )
                    hint = "Rename one of the two types."
                    problems.append(Problem("DEED208", one.span, text, hints=(hint,)))
            yield one


def declared(types: Iterable[Type]) -> Iterator[Declared | RecordType | ChoiceType]:
    """The declared types that annotations of these types name."""
    for each in types:
        match each:
            case Maybe(item=item) | ListOf(item=item):
                yield from declared((item,))
            case Declared() | RecordType() | ChoiceType():
                yield each
            case _:
                pass


def _told(issue: core.Issue, machines: Mapping[str, Signature]) -> core.Told | None:
    match issue:
        case core.Tell(machine=name, message=message):
            target = machines[name]
            fields = target.messages[message]
            return core.Told(
                target.module, name, message, target.key, fields, issue.span
            )
        case core.Begin(machine=name):
            target = machines[name]
            fields = (*target.key, *target.given)
            return core.Told(target.module, name, None, target.key, fields, issue.span)
        case core.Do() | core.Repeat():
            return None
