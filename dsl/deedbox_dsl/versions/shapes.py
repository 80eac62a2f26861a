"""The shape of a machine: what a released version stores and says.

`shape_of` takes it from a typed machine.  A type of the machine's own module is called
by its name, any other by module and name, so no two types of one shape have the same
name.
"""

from __future__ import annotations

from collections.abc import Iterable

from .. import core
from ..spelling import snake
from ..types import ChoiceType, Declared, ListOf, Maybe, RecordType, Type


def shape_of(machine: core.Machine, module: str) -> core.Shape:
    """The shape of a machine that has no error."""
    return core.Shape(
        module,
        machine.name,
        machine.version,
        _undocumented(machine.key),
        _undocumented(machine.given),
        tuple(
            core.State(
                name=each.name,
                fields=_undocumented(each.fields),
                final=each.final,
                awaits=each.awaits,
                open_deed=each.open_deed,
                deadlines=(),
                doc=None,
                span=each.span,
            )
            for each in machine.states
        ),
        tuple(
            core.Message(each.name, _undocumented(each.fields), None, each.span)
            for each in machine.messages
        ),
        tuple(
            core.Command(
                name=each.name,
                params=_undocumented(each.params),
                outcomes=tuple(
                    core.Outcome(one.name, _undocumented(one.fields), one.span)
                    for one in each.outcomes
                ),
                unrepeatable=each.unrepeatable,
                deadline=False,
                doc=None,
                span=each.span,
            )
            for each in machine.commands
        ),
    )


def file_name(shape: core.Shape, others: Iterable[core.Shape] = ()) -> str:
    """`order.1.json`; with its module in front when another module has an `Order` too."""
    name = f"{snake(shape.machine)}.{shape.version}.json"
    shared = any(
        snake(each.machine) == snake(shape.machine) and each.module != shape.module
        for each in others
    )
    return f"{shape.module}.{name}" if shared else name


def _undocumented(fields: tuple[core.Field, ...]) -> tuple[core.Field, ...]:
    return tuple(core.Field(each.name, each.type, None, each.span) for each in fields)


# ---- types by name -------------------------------------------------------------------


def types_of(shape: core.Shape) -> tuple[Declared | RecordType | ChoiceType, ...]:
    """Every declared type that the shape mentions, what it is made of first."""
    found: dict[Declared | RecordType | ChoiceType, None] = {}

    def visit(kind: Type) -> None:
        match kind:
            case ListOf(item=item) | Maybe(item=item):
                visit(item)
            case RecordType(fields=fields):
                for _, inner in fields:
                    visit(inner)
                found[kind] = None
            case ChoiceType(variants=variants):
                for _, fields in variants:
                    for _, inner in fields:
                        visit(inner)
                found[kind] = None
            case Declared():
                found[kind] = None
            case _:
                pass

    for each in fields_of(shape):
        visit(each.type)
    return tuple(found)


def fields_of(shape: core.Shape) -> Iterable[core.Field]:
    """Every field of the shape, in the order of its file."""
    yield from shape.key
    yield from shape.given
    for state in shape.states:
        yield from state.fields
    for message in shape.messages:
        yield from message.fields
    for command in shape.commands:
        yield from command.params
        for outcome in command.outcomes:
            yield from outcome.fields
