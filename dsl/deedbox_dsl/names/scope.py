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
    """

    module: str
    path: str
    types: Mapping[str, Type]
    policies: Mapping[str, core.Ladder | None]
    machines: Mapping[str, Signature]
    imported: tuple[tuple[str, str], ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    scopes: Mapping[str, Scope]
    problems: tuple[Problem, ...]
