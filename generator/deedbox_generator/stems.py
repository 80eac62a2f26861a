"""Names of packages: each spec file's own name, and why it may not serve as one."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Iterable

from deedbox_dsl import core
from deedbox_dsl.problems import Label, Problem

from .packages import has_output, name_of

NEEDED = frozenset({"deedbox", "msgspec"})
"""What generated code imports: a package of this name would stand in its way."""


def unfit(modules: Iterable[core.Module], *, nested: bool) -> list[Problem]:
    """The files whose names cannot be packages, or not two packages.

    Inside a package of its own (`nested`) a name hides nothing of Python's library.
    """
    problems: list[Problem] = []
    seen: dict[str, core.Module] = {}
    for module in modules:
        if not has_output(module):
            continue
        name = name_of(module.path)
        why = why_no_package(name, nested=nested)
        if why is not None:
            problems.append(
                Problem(
                    "DEED203",
                    module.span,
                    f"`{name}.deed` would become the package `{name}`: {why}",
                    hints=("Give the file another name; its `module` may stay.",),
                )
            )
        before = seen.setdefault(name.casefold(), module)
        if before is not module:
            problems.append(
                Problem(
                    "DEED208",
                    module.span,
                    f"`{module.path}` and `{before.path}` would both become the package `{name}`",
                    others=(Label(before.span, "the other one"),),
                    hints=("Give one of the files another name.",),
                )
            )
    return problems


def why_no_package(name: str, *, nested: bool) -> str | None:
    if not (name.isascii() and name.isidentifier()):
        return "that is not a name in Python"
    if keyword.iskeyword(name):
        return "that is a word of Python"
    if not nested and name in NEEDED:
        return "generated code itself imports that package"
    if not nested and name in sys.stdlib_module_names:
        return "that would hide a module of Python's own library"
    return None
