"""Declared types as plans: an alias of its base, a record's struct, a choice's variants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from deedbox_dsl import core
from deedbox_dsl.types import ChoiceType, Declared, RecordType, Type

from . import plan
from .annotations import annotation, is_ranged
from .expressions import variant_name


def declared(
    types: Iterable[tuple[core.TypeDeclaration, str | None]],
) -> tuple[tuple[plan.Alias, ...], tuple[plan.Struct | plan.Choice, ...]]:
    """Aliases, then records and choices, each with its docstring."""
    aliases: list[plan.Alias] = []
    records: list[plan.Struct | plan.Choice] = []
    for type_, doc in types:
        match type_:
            case Declared():
                aliases.append(_alias(type_, doc))
            case RecordType():
                records.append(_struct(type_.name, None, type_.fields, doc))
            case ChoiceType():
                records.append(_choice(type_, doc))
            case _:
                assert_never(type_)
    return tuple(aliases), tuple(records)


def _alias(type_: Declared, doc: str | None) -> plan.Alias:
    base = annotation(type_.base)
    if not is_ranged(type_):
        return plan.Alias(type_.name, base, doc, new_type=True)
    limits = ", ".join(
        f"{word}={bound:_}"
        for word, bound in (("ge", type_.low), ("le", type_.high))
        if bound is not None
    )
    value = f"Annotated[{base}, Meta({limits})]"
    return plan.Alias(type_.name, value, doc, new_type=False)


def _struct(
    name: str,
    tag: str | None,
    fields: tuple[tuple[str, Type], ...],
    doc: str | None,
) -> plan.Struct:
    return plan.Struct(
        name,
        tag,
        doc,
        tuple(
            plan.Field(field, annotation(type_, outside=True))
            for field, type_ in fields
        ),
    )


def _choice(type_: ChoiceType, doc: str | None) -> plan.Choice:
    return plan.Choice(
        type_.name,
        doc,
        tuple(
            _struct(variant_name(type_, variant), variant, fields, None)
            for variant, fields in type_.variants
        ),
    )
