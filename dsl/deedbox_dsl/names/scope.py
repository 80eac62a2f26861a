"""What the bare names of one module mean, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .. import core
from ..problems import Problem
from ..types import (
    Type,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """What `tell` and `begin` need to know of a machine."""

    module: str
    name: str
    key: tuple[core.Field, ...]
    given: tuple[core.Field, ...]
    messages: Mapping[str, tuple[core.Field, ...]]


@dataclass(frozen=True, slots=True)
class Scope:
    """What the bare names of one module mean; a policy that makes no ladder is None.

    `sources`: its own path, then those of the modules it imports, directly or not, sorted.
    `elsewhere`: what it neither declares nor imports, and a module that declares it.
    """

    module: str
    path: str
    types: Mapping[str, Type]
    policies: Mapping[str, core.Ladder | None]
    machines: Mapping[str, Signature]
    imported: tuple[tuple[str, str], ...]
    sources: tuple[str, ...]
    elsewhere: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Resolution:
    scopes: Mapping[str, Scope]
    problems: tuple[Problem, ...]


def to_import(name: str, elsewhere: Mapping[str, str]) -> str:
    """What to write for a name that another module declares; nothing for any other."""
    if name not in elsewhere:
        return ""
    return f"`{elsewhere[name]}` declares it: `use {elsewhere[name]} {{ {name} }}`."
