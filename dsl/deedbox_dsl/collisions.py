"""Names that would become one in what is generated: classes, files, columns.

Names are only ever derived by the functions of `spelling`, so the generated
names of a machine can be listed and compared before a line is written.  Files
are compared without regard to case, as some disks do; SQL names as cut to 63
bytes, as PostgreSQL does.  Nothing is renamed: a collision is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from . import core
from .problems import Label, Problem
from .reserved import BUILTIN_TYPES, GENERATED_CLASSES, why_no_class
from .source import Span
from .spelling import pascal, snake, told
from .types import ChoiceType, Declared, ListOf, Maybe, RecordType, Type

SQL_LIMIT = 63
_SUFFIX = len("_started_at_index")
_Derived: TypeAlias = tuple[str, str, Span]
"""The generated name, what it stands for (for the message), and where that is."""


def collisions(machines: Mapping[str, tuple[core.Machine, ...]]) -> list[Problem]:
    """The machines of each path, compared within themselves, their file and the store."""
    problems: list[Problem] = []
    tables: list[_Derived] = []
    for found in machines.values():
        files: list[_Derived] = []
        for machine in found:
            problems += _clashes(_classes(machine), GENERATED_CLASSES | BUILTIN_TYPES)
            problems += _long_columns(machine)
            name = snake(machine.name)
            what = f"the machine `{machine.name}`"
            older = [each.older.version for each in machine.migrations]
            endings = [".py", "_sqlite.py", "_postgres.py"]
            endings += [f"_v{version}.py" for version in older]
            files += [(f"{name}{ending}", what, machine.span) for ending in endings]
            tables.append((name[: SQL_LIMIT - _SUFFIX], what, machine.span))
        problems += _clashes(files, frozenset({"types.py", "__init__.py"}))
    problems += _clashes(tables, frozenset())
    return problems


def _classes(machine: core.Machine) -> Iterator[_Derived]:
    """The classes of its module; a declared name that is reserved is reported as such."""
    for state in machine.states:
        if why_no_class(state.name) is None:
            yield state.name, f"the state `{state.name}`", state.span
    for message in machine.messages:
        if why_no_class(message.name) is None:
            yield message.name, f"the message `{message.name}`", message.span
    for command in machine.commands:
        name = pascal(command.name)
        yield name, f"the command `{command.name}`", command.span
        if command.outcomes:
            what = f"the outcomes of `{command.name}`"
            yield f"{name}Outcome", what, command.span
        for outcome in command.outcomes:
            what = f"the outcome `{command.name}.{outcome.name}`"
            yield name + pascal(outcome.name), what, outcome.span
    for each in machine.told:
        what = f"what is told to `{each.machine}`"
        yield told(each.machine, each.message), what, each.span
    for kind in sorted(name for name in _types(machine) if why_no_class(name) is None):
        yield kind, f"the type `{kind}`", machine.span


def _types(machine: core.Machine) -> set[str]:
    names: set[str] = set()
    fields = [*machine.key, *machine.given]
    for state in machine.states:
        fields += state.fields
    for message in machine.messages:
        fields += message.fields
    for command in machine.commands:
        fields += command.params
        for outcome in command.outcomes:
            fields += outcome.fields
    for each in machine.told:
        fields += each.fields
    waiting: list[Type] = [field.type for field in fields]
    while waiting:
        match waiting.pop():
            case Maybe(item=item) | ListOf(item=item):
                waiting.append(item)
            case Declared(name=name) | RecordType(name=name) | ChoiceType(name=name):
                names.add(name)
            case _:
                pass
    return names


def _clashes(derived: Iterable[_Derived], taken: frozenset[str]) -> Iterator[Problem]:
    seen: dict[str, _Derived] = {}
    for name, what, span in derived:
        folded = name.casefold() if name.endswith(".py") else name
        if name in taken:
            text = f"{what} would be called `{name}`, which the generated code needs itself"
            yield Problem("DEED208", span, text)
        elif folded in seen:
            _, other, before = seen[folded]
            if other != what or before != span:
                text = f"{what} and {other} would both be called `{name}`"
                yield Problem("DEED208", span, text, others=(Label(before, other),))
        else:
            seen[folded] = name, what, span


def _long_columns(machine: core.Machine) -> Iterator[Problem]:
    fields = [*machine.key, *machine.given]
    for state in machine.states:
        fields += state.fields
    seen: dict[str, core.Field] = {}
    for field in fields:
        cut = field.name.encode()[:SQL_LIMIT].decode()
        before = seen.setdefault(cut, field)
        if before.name != field.name:
            text = (
                f"the first {SQL_LIMIT} letters of `{field.name}` and `{before.name}` "
                "are the same, and a database column keeps no more"
            )
            yield Problem("DEED208", field.span, text, others=(Label(before.span, ""),))
