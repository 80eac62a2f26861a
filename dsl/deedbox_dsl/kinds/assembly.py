"""The lowered machine, put together: what its kind hands on as it is, and what it means."""

from __future__ import annotations

from collections.abc import Iterable

from .. import syntax
from . import trees
from .asking import Part


def command(attempt: syntax.Attempt) -> syntax.Command:
    """The command that is asked for, as a plain machine declares it."""
    outcomes = tuple(
        rule.outcome for rule in attempt.rules if isinstance(rule, syntax.Rule)
    )
    return syntax.Command(
        attempt.command,
        trees.without_values(attempt.params),
        outcomes,
        attempt.unrepeatable,
        attempt.doc,
        attempt.span,
    )


def common(items: Iterable[object]) -> list[syntax.CommonItem]:
    """The items that every kind has."""
    found: list[syntax.CommonItem] = []
    for item in items:
        match item:
            case (
                syntax.Key()
                | syntax.Given()
                | syntax.Again()
                | syntax.Command()
                | syntax.Property()
                | syntax.Migrate()
                | syntax.Check()
                | syntax.Allow()
            ):
                found.append(item)
            case _:
                pass
    return found


def key_and_given(items: Iterable[syntax.CommonItem]) -> list[syntax.Field]:
    return [
        part
        for item in items
        if isinstance(item, syntax.Key | syntax.Given)
        for part in item.fields
    ]


def assembled(
    kind: syntax.Retry | syntax.Scan | syntax.Saga,
    handed_on: Iterable[syntax.CommonItem],
    declared: Iterable[syntax.MachineItem],
    start: syntax.Block,
    insides: Iterable[syntax.Inside],
) -> syntax.Machine:
    """The machine, its items in the order in which a lowered machine shows them."""
    own = tuple(handed_on)
    items = (
        *of_sorts(own, syntax.Key, syntax.Given),
        *declared,
        syntax.Start(start, kind.name.span),
        *insides,
        *of_sorts(
            own,
            *(
                syntax.Again,
                syntax.Property,
                syntax.Migrate,
                syntax.Check,
                syntax.Allow,
            ),
        ),
    )
    return syntax.Machine(kind.name, kind.version, items, kind.doc, kind.span)


def of_sorts(
    items: Iterable[syntax.CommonItem], *sorts: type[syntax.CommonItem]
) -> list[syntax.CommonItem]:
    """The items of these sorts, all of one sort after another."""
    given = tuple(items)
    return [item for sort in sorts for item in given if isinstance(item, sort)]


def insides(parts: Iterable[Part]) -> list[syntax.Inside]:
    return [
        syntax.Inside((state.name,), tuple(clauses), state.span)
        for state, clauses in parts
        if clauses
    ]
