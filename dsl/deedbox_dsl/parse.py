"""Text to syntax tree, with every independent problem of the text.

A text without a fault is parsed once.  In a text with faults the pieces that can
be read apart are parsed apart (`slices.py`): a declaration that fails is read item by
item, an `in` that fails clause by clause, and each piece that fails is one problem.
The module holds whatever could be read; it is whole when there is no problem.

Nothing here recurses over what a user wrote: depth is bounded (DEED106) before
`tree.py` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from . import syntax, tree
from .problems import Problem
from .repairs import Piece
from .scan import DEPTH, Lexeme, Scan, scan, too_deep
from .slices import Layout, cut, lay_out
from .source import Text
from .tables import Start, Stop, tree_of
from .tree_nodes import Place
from .unexpected import unexpected

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

MOST_PROBLEMS: Final = 100

_ITEM: Final[dict[str, Start]] = {
    "machine": "machine_item",
    "retry": "retry_item",
    "scan": "scan_item",
    "saga": "saga_item",
    "inside": "clause",
}
_ENDS: Final[dict[Start, str]] = {
    "start": "the end of the file",
    "decl": "the next declaration",
    "machine_item": "the next item",
    "retry_item": "the next item",
    "scan_item": "the next item",
    "saga_item": "the next item",
    "clause": "the next clause",
}


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
    failure: _Fault | None = None
    if not scanned.problems:
        whole = _read(text, scanned, 0, text.content, "start")
        if not isinstance(whole, _FAULTS):
            module = tree.module(whole, Place(text, 0))
            return Reading(module, module, frozenset(), ())
        failure = whole
    recovery = _Recovery(text, scanned, lay_out(text, scanned.lexemes))
    module, sound = _damaged(recovery)
    problems = [*scanned.problems, *recovery.layout.problems, *recovery.problems]
    if not problems and failure is not None:
        problems = [_worded(text, failure)]
        sound = replace(module, declarations=())
        recovery.lose(0, len(scanned.lexemes))
    problems.sort(key=lambda problem: problem.span)
    found = tuple(problems[:MOST_PROBLEMS])
    return Reading(module, sound, frozenset(recovery.lost), found)


# ---- one piece --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Failure:
    """A piece that cannot be read; it is put into words only when it is reported."""

    lexemes: Sequence[Lexeme]
    stop: Stop
    piece: Piece


_Fault: TypeAlias = Problem | _Failure
_FAULTS: Final = (Problem, _Failure)


def _worded(text: Text, fault: _Fault) -> Problem:
    if isinstance(fault, Problem):
        return fault
    return unexpected(
        text,
        fault.lexemes,
        fault.stop,
        fault.piece,
        ends_with=_ENDS[fault.piece.start],
    )


def _read(
    text: Text, scanned: Scan, base: int, piece: str, start: Start, high: int = -1
) -> Node | _Fault:
    """The tree of a piece of `text` that begins at offset `base`, or what is wrong."""
    node = tree_of(piece, start)
    if isinstance(node, Stop):
        lexemes = scanned.lexemes if high < 0 else scanned.lexemes[:high]
        return _Failure(lexemes, node, Piece(piece, base, start))
    deep = _deepest(node)
    if deep is not None:
        at = base + deep.meta.start_pos
        return too_deep(text, at, at + 1)
    return node


_NESTING: Final = frozenset(
    (
        *("implies", "conditional", "either", "both", "negation", "compare", "is_a"),
        *("plus", "minus", "times", "negate", "member", "call", "binder"),
        *("base_type", "optional_type", "act_retry_then"),
    )
)


def _deepest(root: Node) -> Node | None:
    """A node that stands more than `DEPTH` deep in an expression, type or action."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        depth = depth + 1 if node.data in _NESTING else 0
        if depth > DEPTH:
            return node
        stack.extend(
            (child, depth) for child in node.children if not isinstance(child, str)
        )
    return None


# ---- a damaged text -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Recovery:
    """What is known of a damaged text, and the problems found so far."""

    text: Text
    scanned: Scan
    layout: Layout
    problems: list[Problem] = field(default_factory=list[Problem])
    lost: set[str] = field(default_factory=set[str])

    def is_flawed(self, low: int, high: int) -> bool:
        flawed = self.scanned.flawed | self.layout.flawed
        return any(lexeme.start in flawed for lexeme in self.scanned.lexemes[low:high])

    def first_word(self, low: int, high: int) -> str:
        words = (
            lexeme.text
            for lexeme in self.scanned.lexemes[low:high]
            if lexeme.sort != "doc"
        )
        return next(words, "")

    def read(self, low: int, high: int, start: Start) -> Node | _Fault | None:
        """The tree of a piece; None where a problem inside it is already known."""
        if self.is_flawed(low, high) or len(self.problems) >= MOST_PROBLEMS:
            return None
        lexemes = self.scanned.lexemes
        base = lexemes[low].start
        piece = self.text.content[base : lexemes[high - 1].end]
        return _read(self.text, self.scanned, base, piece, start, high)

    def read_shell(
        self, low: int, high: int, opener: int, start: Start
    ) -> Node | _Fault | None:
        """The tree of a piece without what stands in the block that begins at `opener`."""
        block = self.layout.blocks[opener]
        unclosed = block.end == block.resume
        if self.is_flawed(low, opener) or self.is_flawed(block.resume, high):
            return None
        lexemes = self.scanned.lexemes
        base = lexemes[low].start
        head = self.text.content[base : lexemes[opener].end]
        if unclosed:
            return _read(self.text, self.scanned, base, head + "}", start, opener + 1)
        gap = lexemes[block.end].start - lexemes[opener].end
        tail = self.text.content[lexemes[block.end].start : lexemes[high - 1].end]
        piece = head + " " * gap + tail
        return _read(self.text, self.scanned, base, piece, start, high)

    def lose(self, low: int, high: int) -> None:
        """Remember the words of a piece that is not understood."""
        self.lost.update(
            lexeme.text
            for lexeme in self.scanned.lexemes[low:high]
            if lexeme.sort == "word"
        )

    def report(self, fault: _Fault) -> None:
        self.problems.append(_worded(self.text, fault))

    def place(self, low: int) -> Place:
        return Place(self.text, self.scanned.lexemes[low].start)


def _damaged(recovery: _Recovery) -> tuple[syntax.Module, syntax.Module]:
    """Read a damaged text declaration by declaration: all of it, and what is sound."""
    name: str | None = None
    uses: list[syntax.Use] = []
    declarations: list[syntax.Declaration] = []
    sound: list[syntax.Declaration] = []
    lexemes = recovery.scanned.lexemes
    for low, high in cut(recovery.layout, 0, len(lexemes), "module"):
        word = recovery.first_word(low, high)
        found = len(recovery.problems)
        if word in ("module", "use"):
            node = recovery.read(low, high, "start")
            if isinstance(node, _FAULTS):
                recovery.report(node)
            elif node is not None:
                place = recovery.place(low)
                name = tree.module_name(node) or name
                uses.extend(tree.uses(node, place))
                continue
        else:
            part = _part(recovery, low, high, "decl", word if word in _ITEM else "")
            whole = len(recovery.problems) == found and not recovery.is_flawed(
                low, high
            )
            if part is not None:
                declaration = cast("syntax.Declaration", part)
                declarations.append(declaration)
                if whole:
                    sound.append(declaration)
                    continue
        recovery.lose(low, high)
    span = recovery.text.span(0, len(recovery.text.content))
    module = syntax.Module(name, tuple(uses), tuple(declarations), span)
    return module, replace(module, declarations=tuple(sound))


def _part(
    recovery: _Recovery, low: int, high: int, start: Start, within: str
) -> tree.Part | None:
    """One piece; where it fails and holds items (`within` says which), those apart."""
    node = recovery.read(low, high, start)
    if node is not None and not isinstance(node, _FAULTS):
        return tree.part(node, recovery.place(low))
    opener = next(
        (index for index in range(low, high) if index in recovery.layout.blocks), None
    )
    if not within or opener is None:
        if node is not None:
            recovery.report(node)
        return None
    found = len(recovery.problems)
    shell = recovery.read_shell(low, high, opener, start)
    if isinstance(shell, _FAULTS):
        recovery.report(shell)
    block = recovery.layout.blocks[opener]
    items = _items(recovery, opener + 1, min(block.end, high), within)
    if len(recovery.problems) == found and node is not None:
        recovery.report(node)
    if shell is None or isinstance(shell, _FAULTS):
        return None
    return _filled(tree.part(shell, recovery.place(low)), items)


def _items(
    recovery: _Recovery, low: int, high: int, within: str
) -> tuple[tree.Part, ...]:
    parts: list[tree.Part] = []
    for first, after in cut(recovery.layout, low, high, within):
        inside = within == "machine" and recovery.first_word(first, after) == "in"
        part = _part(recovery, first, after, _ITEM[within], "inside" if inside else "")
        if part is not None:
            parts.append(part)
    return tuple(parts)


def _filled(shell: tree.Part, items: tuple[tree.Part, ...]) -> tree.Part:
    """A kind or an `in` with the items that could be read."""
    match shell:
        case syntax.Machine():
            return replace(shell, items=cast("tuple[syntax.MachineItem, ...]", items))
        case syntax.Retry():
            return replace(shell, items=cast("tuple[syntax.RetryItem, ...]", items))
        case syntax.Scan():
            return replace(shell, items=cast("tuple[syntax.ScanItem, ...]", items))
        case syntax.Saga():
            return replace(shell, items=cast("tuple[syntax.SagaItem, ...]", items))
        case syntax.Inside():
            return replace(shell, clauses=cast("tuple[syntax.Clause, ...]", items))
        case _:
            return shell
