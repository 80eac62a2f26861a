"""Released versions of a machine: what they stored as structs, and the ways out of them.

Each older version becomes a module of its own (`order_v1`) that declares what its
documents hold; the machine's module has one function from each version to the next.
A type that the package still declares is imported from there; one that only the
older version had is declared beside its states, and called `order_v1.Line` where
the machine's module speaks of it.

Hidden fields are copied here and nowhere else: `born` and `issued` always, ticket and
deed where the issue stays owed; a `do` takes the next number of `issued` for both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from deedbox_dsl import core
from deedbox_dsl.spelling import snake
from deedbox_dsl.types import Type

from . import plan
from .annotations import annotation
from .declared import declared
from .expressions import Place, items_of, typed
from .gone_types import Home, Homes, Named, homes_of, mentioned_in, retyped
from .lines import reference
from .naming import LOCALS, Names, command_class
from .owing import key_prefix
from .quoting import docstring


def older(
    machine: core.Machine, available: frozenset[Named], place: Place
) -> tuple[plan.Older, ...]:
    """`available`: the types that the package declares or imports; `place`: of the machine."""
    modules = {
        each.older.version: f"{snake(machine.name)}_v{each.older.version}"
        for each in machine.migrations
    }
    homes: dict[Type, Home] = {}
    found: list[plan.Older] = []
    for migration in reversed(machine.migrations):
        module = modules[migration.older.version]
        own = _stored(migration)
        mentioned = mentioned_in(own, available)
        homes |= homes_of(own, mentioned, homes, available, module)
        found.append(
            _older(
                _Step(machine, migration, own, modules, homes, mentioned, place),
                {each for each in mentioned if each not in available},
            )
        )
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _Step:
    """One migration: `own` is what may still be read of its older version."""

    machine: core.Machine
    migration: core.Migration
    own: core.Shape
    modules: Mapping[int, str]
    homes: Homes
    mentioned: tuple[Named, ...]
    place: Place

    @property
    def here(self) -> str:
        return f"{self.modules[self.own.version]}."

    @property
    def there(self) -> str:
        module = self.modules.get(self.migration.target.version)
        return f"{module}." if module else ""


def _older(step: _Step, gone: set[Named]) -> plan.Older:
    version = step.own.version
    module = step.modules[version]
    inside: dict[Type, Type] = {
        each: dataclasses.replace(each, name=step.homes[each].name) for each in gone
    }
    outside: dict[Type, Type] = {
        each: dataclasses.replace(
            cast("Named", each), name=f"{home.module}.{home.name}"
        )
        for each, home in step.homes.items()
    }
    told = retyped(step.migration, outside)
    aliases, records = declared(
        (retyped(each, inside), None)
        for each in step.mentioned
        if each in gone and step.homes[each].module == module
    )
    own = retyped(step.own, inside)
    return plan.Older(
        version=version,
        module=module,
        doc=docstring(
            f"What version {version} of `{step.machine.name}` stored, and owed."
        ),
        imports=tuple(
            plan.Import(f".{step.homes[each].module}", step.homes[each].name)
            for each in step.mentioned
            if each in gone and step.homes[each].module != module
        ),
        aliases=aliases,
        records=records,
        states=tuple(_state(own, each) for each in own.states),
        commands=tuple(_command(each) for each in own.commands),
        function=f"_from_{version}",
        command_function=f"_command_from_{version}",
        target=step.migration.target.version,
        state_type=f"{step.there}State",
        command_type=f"{step.there}Command",
        cases=tuple(_case(step, told, each) for each in told.states),
        calls=tuple(_call(step, told, each) for each in told.commands),
        methods=tuple(each.command for each in told.commands),
    )


def _stored(migration: core.Migration) -> core.Shape:
    """What may still be read of the older version: its states, and commands that go on."""
    kept = {each.command for each in migration.commands}
    shape = migration.older
    commands = tuple(each for each in shape.commands if each.name in kept)
    return dataclasses.replace(shape, messages=(), commands=_silent(commands))


def _silent(commands: Iterable[core.Command]) -> tuple[core.Command, ...]:
    return tuple(dataclasses.replace(each, outcomes=()) for each in commands)


# ---- what was stored ---------------------------------------------------------------------


def _fields(fields: Iterable[core.Field], *, outside: bool) -> list[plan.Field]:
    return [
        plan.Field(each.name, annotation(each.type, outside=outside)) for each in fields
    ]


def _state(shape: core.Shape, state: core.State) -> plan.Struct:
    hidden = [plan.Field("born", "Instant"), plan.Field("issued", "int")]
    if state.awaits is not None:
        hidden.append(plan.Field("ticket", "int"))
    if state.open_deed is not None:
        hidden.append(plan.Field("deed_number", "int"))
    common = _fields((*shape.key, *shape.given), outside=True)
    own = _fields(state.fields, outside=False)
    return plan.Struct(state.name, state.name, None, (*common, *hidden, *own))


def _command(command: core.Command) -> plan.Struct:
    name = command_class(command.name)
    head = (plan.Field("idempotency_key", "str"), plan.Field("ticket", "int"))
    params = _fields(command.params, outside=False)
    return plan.Struct(name, name, None, (*head, *params))


# ---- the ways out --------------------------------------------------------------------------


def _case(
    step: _Step, migration: core.Migration, entry: core.MigrateState
) -> plan.Case:
    """The case of one older state: the state it becomes, and what is owed anew."""
    shape, target = migration.older, migration.target
    new = next(each for each in target.states if each.name == entry.new)
    keyed = dataclasses.replace(step.machine, key=shape.key)
    prefix = f"{key_prefix(keyed, 'state')}/{{state.born}}"
    place = dataclasses.replace(
        step.place,
        holder="state",
        now="at",
        deed=f'f"{prefix}/{{state.deed_number}}"',
        seed=f'f"{prefix}/{{state.issued}}"',
        locals={item: item for item in _items(entry)},
    )
    asked = [each for each in entry.issues if isinstance(each, core.Do | core.Repeat)]
    types = {each.name: each.type for each in (*target.given, *new.fields)}
    values = [f"{each.name}=state.{each.name}" for each in target.key]
    values += [
        f"{each.field}={typed(each.value, types[each.field], place)}"
        for each in entry.given
    ]
    values += [f"{name}={value}" for name, value in _hidden(new, asked).items()]
    values += [
        f"{each.field}={typed(each.value, types[each.field], place)}"
        for each in entry.fields
    ]
    commands = {each.name: each for each in target.commands}
    made = [
        _made(each, at, commands[each.command], prefix, step.there, place)
        for at, each in enumerate(asked)
    ]
    owed = f"({', '.join(made)}{',' if len(made) == 1 else ''})"
    lines = ["n = state.issued + 1"] if asked else []
    local = Names({*LOCALS, "n"}).unique(snake(new.name))
    lines.append(f"{local} = {step.there}{new.name}({', '.join(values)})")
    lines.append(f"return {local}, {owed}")
    line = reference(entry.span) if entry.written else ""
    return plan.Case((f"{step.here}{entry.old}",), tuple(lines), line)


def _hidden(new: core.State, asked: list[core.Do | core.Repeat]) -> dict[str, str]:
    """`born`, `issued`, and ticket and deed where the new state has them."""
    places = {each.command: at for at, each in enumerate(asked)}
    repeated = {each.command for each in asked if isinstance(each, core.Repeat)}
    values = {
        "born": "state.born",
        "issued": _numbered(len(asked) - 1) if asked else "state.issued",
    }
    if new.awaits is not None:
        at = places.get(new.awaits)
        values["ticket"] = "state.ticket" if at is None else _numbered(at)
    if new.open_deed is not None:
        at = None if new.open_deed in repeated else places.get(new.open_deed)
        values["deed_number"] = "state.deed_number" if at is None else _numbered(at)
    return values


def _made(
    issue: core.Do | core.Repeat,
    at: int,
    command: core.Command,
    prefix: str,
    there: str,
    place: Place,
) -> str:
    number = _numbered(at)
    deed = "state.deed_number" if isinstance(issue, core.Repeat) else number
    arguments = [
        typed(value, param.type, place)
        for value, param in zip(issue.arguments, command.params, strict=True)
    ]
    made = ", ".join([f'f"{prefix}/{{{deed}}}"', number, *arguments])
    return f"{there}{command_class(command.name)}({made})"


def _numbered(at: int) -> str:
    return f"n + {at}" if at else "n"


def _call(
    step: _Step, migration: core.Migration, entry: core.MigrateCommand
) -> plan.Case:
    """The case of one owed command: the same key and ticket, its parameters of today."""
    shape, target = migration.older, migration.target
    old = next(each for each in shape.commands if each.name == entry.command)
    new = next(each for each in target.commands if each.name == entry.command)
    place = dataclasses.replace(
        step.place,
        locals={each.name: f"command.{each.name}" for each in old.params}
        | {item: item for item in _items(entry)},
    )
    types = {each.name: each.type for each in new.params}
    values = ["command.idempotency_key", "command.ticket"]
    values += [
        f"{each.field}={typed(each.value, types[each.field], place)}"
        for each in entry.fields
    ]
    name = command_class(entry.command)
    line = f"return {step.there}{name}({', '.join(values)})"
    return plan.Case((f"{step.here}{name}",), (line,))


def _items(entry: core.MigrateState | core.MigrateCommand) -> list[str]:
    """The names that `any`, `filter` and their like bind."""
    sets = entry.fields
    if isinstance(entry, core.MigrateState):
        sets = (*entry.given, *entry.fields)
    return [item for each in sets for item in items_of(each.value)]
