"""The classes of data of one machine, read off what it compares and opens (`domain`)."""

from __future__ import annotations

from collections.abc import Iterable

from deedbox_dsl import core
from deedbox_dsl.types import Base, ChoiceType, ListOf, RecordType, Type

from ..expressions.bodies import comparisons, expressions, sets
from ..expressions.trees import walk
from ..expressions.types import bare, is_int, is_length
from .domain import Domain
from .items import MOST, refuse_long_lists
from .literals import literals
from .numbers import counter_caps, numbers_from_outside


def domain(machine: core.Machine) -> Domain:
    """The classes of data of one machine."""
    if machine.kind != "scan":  # whose list is read by pages (`scans.listing`)
        refuse_long_lists(machine)
    compared, dense = numbers_from_outside(machine)
    for found in comparisons(machine):
        for side in (found.left, found.right):
            if not is_int(side.type):
                compared.add(bare(side.type))
    opened: set[Type] = set()
    ints: set[int] = set()
    longest = max(
        (max(ladder.delays, default=0) for ladder in machine.ladders), default=0
    )
    for expr in expressions(machine):
        match expr:
            case core.Member(target=target) | core.VariantIs(target=target):
                opened.add(bare(target.type))
            case core.Call(arguments=arguments):
                opened.update(a.type for a in arguments if isinstance(a.type, ListOf))
            case core.Over(source=source):
                opened.add(source.type)
            case core.Constant(value=int(number), type=Base.DURATION):
                longest = max(longest, number)
            case core.Constant(value=int(number)) if not isinstance(expr.value, bool):
                ints.add(number)
            case _:
                pass
    spare = {type: different(machine, type) - 1 for type in compared}
    return Domain(
        frozenset(compared),
        frozenset(opened),
        tuple(sorted(set(literals(machine, compared)))),
        tuple(sorted(ints)),
        longest,
        spare,
        counter_caps(machine),
        frozenset(dense),
        cuts(machine),
        frozenset(signed(machine)),
    )


def different(machine: core.Machine, type: Type) -> int:
    """How many values of a type may all be different in one step.

    Those that an instance has stored, and those that one message brings.
    """
    begun = [*machine.key, *machine.given]
    brought = [begun]
    brought += [[*message.fields] for message in machine.messages]
    brought += [[*o.fields] for command in machine.commands for o in command.outcomes]
    stored = [[*begun, *state.fields] for state in machine.states]
    return held(stored, type) + max(held(brought, type), 1)


def held(groups: Iterable[Iterable[core.Field]], type: Type) -> int:
    """The most values of a type that one of the groups of fields has."""
    return max(
        (sum(many(f.type, type) for f in fields) for fields in groups), default=0
    )


def many(kind: Type, type: Type) -> int:
    """How many values of a type one value of another kind has."""
    match bare(kind):
        case ListOf(item):
            return MOST * many(item, type)
        case RecordType(fields=fields):
            return sum(many(inner, type) for _, inner in fields)
        case ChoiceType(variants=variants):
            return max(
                sum(many(inner, type) for _, inner in fields) for _, fields in variants
            )
        case known:
            return int(known == type)


def cuts(machine: core.Machine) -> dict[Type, tuple[int, ...]]:
    """By type, the constants that its lengths of time are compared with."""
    found: dict[Type, set[int]] = {}
    for compared in comparisons(machine):
        for one, other in (
            (compared.left, compared.right),
            (compared.right, compared.left),
        ):
            if isinstance(other, core.Constant) and isinstance(other.value, int):
                while isinstance(one, core.Known):
                    one = one.target
                if isinstance(
                    one, core.Read | core.Bound | core.Member | core.Side
                ) and is_length(one.type):
                    found.setdefault(bare(one.type), set()).add(other.value)
    for type in signed(machine):
        found.setdefault(type, set()).add(0)
    return {type: tuple(sorted(known)) for type, known in found.items()}


def signed(machine: core.Machine) -> set[Type]:
    """The types of lengths that are stored as a difference."""
    declared = {
        field.name: bare(field.type)
        for state in machine.states
        for field in state.fields
        if is_length(field.type)
    }
    return {
        declared[each.field]
        for each in sets(machine)
        if each.field in declared
        for part in walk(each.value)
        if isinstance(part, core.Negative)
        or (isinstance(part, core.Binary) and part.operator == "-")
    }
