"""What `resolve` knows so far.

Every question is answered once and remembered: a type, a policy or a machine may be
asked for from many modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .. import core, syntax
from ..problems import Problem
from ..types import (
    Type,
)
from .scope import Signature


@dataclass(slots=True)
class Work:
    """What is known so far; every question is answered once and remembered."""

    modules: Mapping[str, syntax.Module]
    lost: Mapping[str, frozenset[str]]
    paths: dict[str, str] = field(default_factory=dict[str, str])
    declared: dict[str, dict[str, syntax.Declaration]] = field(
        default_factory=dict[str, dict[str, syntax.Declaration]]
    )
    origin: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    types: dict[tuple[str, str], Type] = field(
        default_factory=dict[tuple[str, str], Type]
    )
    open: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    ladders: dict[tuple[str, str], core.Ladder | None] = field(
        default_factory=dict[tuple[str, str], core.Ladder | None]
    )
    signatures: dict[tuple[str, str], Signature] = field(
        default_factory=dict[tuple[str, str], Signature]
    )
    elsewhere: dict[str, dict[str, str]] = field(
        default_factory=dict[str, dict[str, str]]
    )
    problems: list[Problem] = field(default_factory=list[Problem])


def elsewhere(work: Work, path: str) -> dict[str, str]:
    """What a module neither declares nor imports, and a module that declares it."""
    if path not in work.elsewhere:
        own = {*work.declared[path], *work.origin[path]}
        work.elsewhere[path] = {
            name: module_name(other, work.modules[other])
            for other in sorted(work.modules, reverse=True)
            for name in work.declared[other]
            if name not in own
        }
    return work.elsewhere[path]


def module_name(path: str, module: syntax.Module) -> str:
    return module.name or PurePosixPath(path).stem
