"""How a node of the parse tree is read: by the names of its children, never by their index.

A span begins at a declaration's keyword, not at its doc comment: that is where
a reader looks.
"""

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



