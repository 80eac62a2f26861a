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
from .braces import lay_out, mended, unopened
from .lexemes import Scan, scan
from .piece import FAULTS, Fault, read_piece, worded
from .recovery import MOST_PROBLEMS, Recovered, recover, words_of
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
    found = recover(text, scanned, lay_out(text, scanned.lexemes))
    if failure is not None:
        found = _unopened(text, found) or found
        found = _by_indentation(text, scanned, found) or found
    problems = [*scanned.problems, *found.layout.problems, *found.problems]
    sound, lost = found.sound, found.lost
    if not problems and failure is not None:
        problems = [worded(text, failure)]
        sound = replace(found.module, declarations=())
        lost = words_of(scanned.lexemes)
    problems.sort(key=lambda problem: problem.span)
    return Reading(found.module, sound, lost, tuple(problems[:MOST_PROBLEMS]))


def _by_indentation(text: Text, scanned: Scan, found: Recovered) -> Recovered | None:
    """The text with its braces paired by indentation, where that explains more of it.

    Braces that are wrong may still balance: one too many closes what another lacks.
    Moving them explains more when fewer faults are left in the text that has them where
    its indentation puts them.
    """
    layout = lay_out(text, scanned.lexemes, by_indentation=True)
    if found.layout.problems or not layout.problems:
        return None
    if _faults(Text.of(text.path, mended(text, layout))) >= len(found.problems):
        return None
    return recover(text, scanned, layout)


def _unopened(text: Text, found: Recovered) -> Recovered | None:
    """The text with one `{` more, where a `}` too many would close it."""
    missing = unopened(text, found.layout)
    if missing is None:
        return None
    left = len(found.layout.problems) + len(found.problems)
    if _faults(Text.of(text.path, missing.mended)) >= left:
        return None
    layout = replace(found.layout, problems=(missing.problem,))
    inside = missing.problem.span.start, missing.closer
    others = (
        each for each in found.problems if not inside[0] <= each.span.start < inside[1]
    )
    return replace(found, layout=layout, problems=tuple(others))


def _faults(text: Text) -> int:
    scanned = scan(text)
    if not isinstance(read_piece(text, scanned, 0, text.content, "start"), FAULTS):
        return 0
    return len(recover(text, scanned, lay_out(text, scanned.lexemes)).problems) or 1
