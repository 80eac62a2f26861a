"""A spec file of the core as the plan of its package."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from deedbox_dsl import core
from deedbox_dsl.types import ChoiceType

from . import plan
from .declared import declared
from .expressions import variant_name
from .machines import machine
from .quoting import doc_of


def package(module: core.Module, spec_hash: str, *, nested: bool) -> plan.Package:
    """`nested`: the output folder is itself a package, so imports are relative."""
    aliases, records = declared((each.type, doc_of(each.doc)) for each in module.types)
    available = frozenset(
        {each.type for each in module.types} | {each for each, _ in module.imported}
    )
    return plan.Package(
        name=name_of(module.path),
        source=module.path,
        spec_hash=spec_hash,
        module=module.name,
        imports=tuple(_imports(module, nested=nested)),
        aliases=aliases,
        records=records,
        machines=tuple(machine(each, available) for each in module.machines),
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
