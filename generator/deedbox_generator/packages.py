"""A spec file of the core as the plan of its package."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import assert_never

from deedbox_dsl import core
from deedbox_dsl.types import ChoiceType, Declared, RecordType, Type

from . import plan
from .annotations import annotation, is_ranged
from .expressions import variant_name
from .machines import machine
from .quoting import doc_of


def package(module: core.Module, spec_hash: str, *, nested: bool) -> plan.Package:
    """`nested`: the output folder is itself a package, so imports are relative."""
    aliases: list[plan.Alias] = []
    records: list[plan.Struct | plan.Choice | plan.Alias] = []
    for each in module.types:
        doc = doc_of(each.doc)
        match each.type:
            case Declared():
                aliases.append(_alias(each.type, doc))
            case RecordType():
                records.append(_struct(each.type.name, None, each.type.fields, doc))
            case ChoiceType():
                records.append(_choice(each.type, doc))
            case _:
                assert_never(each.type)
    return plan.Package(
        name=name_of(module.path),
        source=module.path,
        spec_hash=spec_hash,
        module=module.name,
        imports=tuple(_imports(module, nested=nested)),
        aliases=tuple(aliases),
        records=tuple(records),
        machines=tuple(machine(each) for each in module.machines),
    )


def name_of(path: str) -> str:
    """`specs/shop/orders.deed` is the package `orders`."""
    return PurePosixPath(path).stem


def has_output(module: core.Module) -> bool:
    """A file of nothing but policies needs no package."""
    return bool(module.types or module.machines)


def _imports(module: core.Module, *, nested: bool) -> Iterable[plan.Import]:
    for type_, path in module.imported:
        prefix = ".." if nested else ""
        origin = f"{prefix}{name_of(path)}.types"
        if isinstance(type_, ChoiceType):
            for variant, _ in type_.variants:
                yield plan.Import(origin, variant_name(type_, variant))
        yield plan.Import(origin, type_.name)


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
