"""Types, fields and expressions of the parse tree, as syntax."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar, cast

from . import syntax as s
from .source import Span, Text


if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

T = TypeVar("T")



