"""A damaged text, read piece by piece.

A declaration that fails is read item by item, an `in` that fails clause by clause, and
each piece that fails is one problem.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from .. import syntax
from ..problems import Edit, Fix, Problem
from ..source import Text
from . import tree
from .braces import Layout
from .lexemes import Lexeme, Scan
from .piece import FAULTS, Fault, read_piece, worded
from .slices import OWN_HEADS, cut
from .tables import Start, Stop, tree_of
from .tree_nodes import Place

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

    def read(self, low: int, high: int, start: Start) -> Node | Fault | None:
        """The tree of a piece; None where a problem inside it is already known."""
        if self.is_flawed(low, high) or len(self.problems) >= MOST_PROBLEMS:
            return None
        lexemes = self.scanned.lexemes
        base = lexemes[low].start
        piece = self.text.content[base : lexemes[high - 1].end]
        return read_piece(self.text, self.scanned, base, piece, start, high)

    def read_shell(
        self, low: int, high: int, opener: int, start: Start
    ) -> Node | Fault | None:
        """The tree of a piece without what stands in the block that begins at `opener`."""
        block = self.layout.blocks[opener]
        unclosed = block.end == block.resume
        if self.is_flawed(low, opener) or self.is_flawed(block.resume, high):
            return None
        lexemes = self.scanned.lexemes
        base = lexemes[low].start
        head = self.text.content[base : lexemes[opener].end]
        if unclosed:
            return read_piece(
                self.text, self.scanned, base, head + "}", start, opener + 1
            )
        gap = lexemes[block.end].start - lexemes[opener].end
        tail = self.text.content[lexemes[block.end].start : lexemes[high - 1].end]
        piece = head + " " * gap + tail
        return read_piece(self.text, self.scanned, base, piece, start, high)

    def lose(self, low: int, high: int) -> None:
        """Remember the words of a piece that is not understood."""
        self.lost.update(words_of(self.scanned.lexemes[low:high]))

    def report(self, fault: Fault) -> None:
        self.problems.append(worded(self.text, fault))

    def place(self, low: int) -> Place:
        return Place(self.text, self.scanned.lexemes[low].start)


@dataclass(frozen=True, slots=True)
class Recovered:
    """`module`: whatever could be read; `sound`: what of it has no damage.

    `lost`: the words of what could not be read.  `problems`: those of the pieces, apart
    from what the layout has said.
    """

    module: syntax.Module
    sound: syntax.Module
    lost: frozenset[str]
    layout: Layout
    problems: tuple[Problem, ...]


def words_of(lexemes: Iterable[Lexeme]) -> frozenset[str]:
    return frozenset(lexeme.text for lexeme in lexemes if lexeme.sort == "word")


def recover(text: Text, scanned: Scan, layout: Layout) -> Recovered:
    """Read a damaged text declaration by declaration: all of it, and what is sound."""
    recovery = _Recovery(text, scanned, layout)
    name: str | None = None
    uses: list[syntax.Use] = []
    declarations: list[syntax.Declaration] = []
    sound: list[syntax.Declaration] = []
    for low, high in cut(layout, 0, len(scanned.lexemes), "module"):
        word = recovery.first_word(low, high)
        found = len(recovery.problems)
        if word in ("module", "use"):
            node = recovery.read(low, high, "start")
            if isinstance(node, FAULTS):
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
    span = text.span(0, len(text.content))
    module = syntax.Module(name, tuple(uses), tuple(declarations), span)
    return Recovered(
        module,
        replace(module, declarations=tuple(sound)),
        frozenset(recovery.lost),
        layout,
        tuple(recovery.problems),
    )


def _part(
    recovery: _Recovery, low: int, high: int, start: Start, within: str
) -> tree.Part | None:
    """One piece; where it fails and holds items (`within` says which), those apart."""
    node = recovery.read(low, high, start)
    if node is not None and not isinstance(node, FAULTS):
        return tree.part(node, recovery.place(low))
    opener = next(
        (index for index in range(low, high) if index in recovery.layout.blocks), None
    )
    if not within or opener is None:
        if node is not None:
            recovery.report(node)
        return None
    shell = recovery.read_shell(low, high, opener, start)
    if isinstance(shell, FAULTS):
        recovery.report(shell)
    block = recovery.layout.blocks[opener]
    other = _another_kind(recovery, low, high, opener, within)
    if other is not None:
        recovery.report(other)
        return None
    items = _items(recovery, opener + 1, min(block.end, high), within)
    if shell is None or isinstance(shell, FAULTS):
        return None
    return _filled(tree.part(shell, recovery.place(low)), items)


def _another_kind(
    recovery: _Recovery, low: int, high: int, opener: int, within: str
) -> Problem | None:
    """A kind whose items are those of another, as which all of it can be read."""
    if within not in OWN_HEADS:
        return None
    lexemes, block = recovery.scanned.lexemes, recovery.layout.blocks[opener]
    pieces = cut(recovery.layout, opener + 1, min(block.end, high), within)
    heads = {recovery.first_word(*piece) for piece in pieces}
    word = next(each for each in lexemes[low:opener] if each.text == within)
    base, end = lexemes[low].start, lexemes[high - 1].end
    for other, own in OWN_HEADS.items():
        if len(heads & own - OWN_HEADS[within]) < 2:
            continue
        before = recovery.text.content[base : word.start]
        piece = before + other + recovery.text.content[word.end : end]
        if isinstance(tree_of(piece, "decl"), Stop):
            continue
        span = recovery.text.span(word.start, word.end)
        return Problem(
            "DEED101",
            span,
            f"what stands in this `{within}` are items of a `{other}`",
            label=f"did you mean `{other}`?",
            fixes=(Fix(f"Write `{other}`", (Edit(span, other),)),),
        )
    return None


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
        case unknown:
            raise AssertionError(unknown)
