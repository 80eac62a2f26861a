"""Text to syntax tree, with every independent problem of the text.

A text without a fault is parsed once.  In a text with faults the pieces that can be read
apart are parsed apart (`recovery`).  The module holds whatever could be read; it is
whole when there is no problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from .. import syntax
from ..problems import Problem
from ..source import Text
from . import tree
from .braces import lay_out
from .lexemes import scan
from .piece import FAULTS, Fault, read_piece, worded
from .recovery import MOST_PROBLEMS, Recovery, damaged
from .tree_nodes import Place

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


@dataclass(frozen=True, slots=True)
class Reading:
    """`module`: whatever could be read; `sound`: its declarations without any damage.

    `lost`: the words of the damaged declarations, any of which one may have declared.
    """

    module: syntax.Module
    sound: syntax.Module
    lost: frozenset[str]
    problems: tuple[Problem, ...]


def parse(text: Text) -> tuple[syntax.Module, tuple[Problem, ...]]:
    """What `text` says, and what is wrong with how it says it."""
    reading = read(text)
    return reading.module, reading.problems


def read(text: Text) -> Reading:
    """What `text` says, what of it is sound, and what is wrong with how it says it."""
    scanned = scan(text)
    failure: Fault | None = None
    if not scanned.problems:
        whole = read_piece(text, scanned, 0, text.content, "start")
        if not isinstance(whole, FAULTS):
            module = tree.module(whole, Place(text, 0))
            return Reading(module, module, frozenset(), ())
        failure = whole
    recovery = Recovery(text, scanned, lay_out(text, scanned.lexemes))
    module, sound = damaged(recovery)
    problems = [*scanned.problems, *recovery.layout.problems, *recovery.problems]
    if not problems and failure is not None:
        problems = [worded(text, failure)]
        sound = replace(module, declarations=())
        recovery.lose(0, len(scanned.lexemes))
    problems.sort(key=lambda problem: problem.span)
    found = tuple(problems[:MOST_PROBLEMS])
    return Reading(module, sound, frozenset(recovery.lost), found)
