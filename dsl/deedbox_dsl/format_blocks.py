"""What happens in a state, as the formatter prints it: clauses, blocks, statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias, assert_never

from . import syntax as s
from .comments import Entry, Written, stacked
from .format_expressions import duration_text, expression, listed, type_text
from .parse import parse
from .pretty import NOTHING, SPACE, Doc, Either, Hard, Line, cat, flat, group, joined, nest, render
from .problems import Problem
from .scan import Lexeme, scan
from .source import Span, Text




