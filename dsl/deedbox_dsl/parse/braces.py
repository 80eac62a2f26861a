"""The braces of a text paired, by indentation where they do not pair by themselves.

A brace that is never closed would swallow all later pieces, so it is found by the line
whose indentation contradicts it, and closed there (DEED102); a brace that closes
nothing is passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..problems import Edit, Fix, Label, Problem
from ..source import Text
from .lexemes import Lexeme


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two braces: `end` is the index after the last of it.

    `resume` is the index after the `}`; the two are equal where there is none.
    """

    end: int
    resume: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A text's lexemes, the column and line indent of each, and the block of each `{`."""

    lexemes: Sequence[Lexeme]
    columns: Sequence[int]
    blocks: Mapping[int, Block]
    problems: tuple[Problem, ...]
    flawed: frozenset[int]


def lay_out(
    text: Text, lexemes: Sequence[Lexeme], *, by_indentation: bool = False
) -> Layout:
    """Pair the braces of a text, by indentation where they do not pair by themselves."""
    columns = _columns(text, lexemes)
    indents = _indents(lexemes, columns)
    some_missing, some_extra = (True, True) if by_indentation else _balance(lexemes)
    blocks: dict[int, Block] = {}
    problems: list[Problem] = []
    flawed: set[int] = set()
    opened: list[int] = []

    def never_closed(index: int, seen_at: int) -> None:
        blocks[index] = Block(seen_at, seen_at)
        flawed.add(lexemes[index].start)
        problems.append(_unclosed(text, lexemes[index], lexemes[seen_at : seen_at + 1]))

    for index, lexeme in enumerate(lexemes):
        while (
            some_missing
            and opened
            and lexeme.first
            and _is_outside(lexeme, columns[index], indents[opened[-1]])
        ):
            never_closed(opened.pop(), index)
        if lexeme.sort != "sign":
            continue
        if lexeme.text == "{":
            opened.append(index)
        elif lexeme.text == "}":
            if not opened or (
                some_extra
                and _is_misplaced(lexemes, columns, indents, opened[-1], index)
            ):
                flawed.add(lexeme.start)
                problems.append(_closes_nothing(text, lexeme, open=bool(opened)))
            else:
                blocks[opened.pop()] = Block(index, index + 1)
    for index in reversed(opened):
        never_closed(index, len(lexemes))
    return Layout(lexemes, columns, blocks, tuple(problems), frozenset(flawed))


def mended(text: Text, layout: Layout) -> str:
    """The text with each brace that is missing written, and none that is too many."""
    pieces: list[str] = []
    done = 0
    missing = Counter(b.end for b in layout.blocks.values() if b.end == b.resume)
    for index, lexeme in enumerate(layout.lexemes):
        if missing[index]:
            before = layout.lexemes[index - 1].end
            pieces += [text.content[done:before], " }" * missing[index]]
            done = before
        if lexeme.text == "}" and lexeme.start in layout.flawed:
            pieces.append(text.content[done : lexeme.start])
            done = lexeme.end
    rest = text.content[done:]
    return "".join([*pieces, rest, "\n", "}" * missing[len(layout.lexemes)]])


@dataclass(frozen=True, slots=True)
class Unopened:
    """A `{` that is missing: the problem, the text with it, and where its `}` stands."""

    problem: Problem
    mended: str
    closer: int


def unopened(text: Text, layout: Layout) -> Unopened | None:
    """The line that the first `}` too many would close, where it opens nothing itself."""
    lexemes = layout.lexemes
    closers = (
        index
        for index, lexeme in enumerate(lexemes)
        if lexeme.text == "}" and lexeme.first and lexeme.start in layout.flawed
    )
    closer = next(closers, None)
    if closer is None:
        return None
    margin = layout.columns[closer]
    lines = [i for i in range(closer) if lexemes[i].first]
    heads = [n for n, i in enumerate(lines) if layout.columns[i] <= margin]
    if not heads or heads[-1] + 1 == len(lines):
        return None
    head, inside = lines[heads[-1]], lines[heads[-1] + 1]
    last = lexemes[inside - 1]
    if layout.columns[head] < margin or last.text in ("{", "}"):
        return None
    end = text.span(last.end, last.end)
    there = text.span(lexemes[closer].start, lexemes[closer].end)
    problem = Problem(
        "DEED101",
        end,
        f"`{{` is missing after `{last.text}`",
        label="expected `{` here",
        others=(Label(there, "this `}` would close it"),),
        fixes=(Fix("Write `{`", (Edit(end, " {"),)),),
    )
    mended = text.content[: last.end] + " {" + text.content[last.end :]
    return Unopened(problem, mended, lexemes[closer].start)


def _balance(lexemes: Sequence[Lexeme]) -> tuple[bool, bool]:
    """Whether some `}` must be missing, and whether some must be too many."""
    depth = lowest = 0
    for lexeme in lexemes:
        if lexeme.sort == "sign" and lexeme.text in "{}":
            depth += 1 if lexeme.text == "{" else -1
            lowest = min(lowest, depth)
    return depth > lowest, lowest < 0


def _is_outside(lexeme: Lexeme, column: int, indent: int) -> bool:
    """Whether a line this far out cannot stand inside a block opened at `indent`."""
    if lexeme.text == "}":
        return column < indent
    return column <= indent and lexeme.sort in ("word", "doc")


def _is_misplaced(
    lexemes: Sequence[Lexeme],
    columns: Sequence[int],
    indents: Sequence[int],
    opener: int,
    closer: int,
) -> bool:
    """Whether a `}` stands where nobody would close the block that is open."""
    if lexemes[closer].first:
        return columns[closer] > indents[opener]
    return lexemes[opener + 1].first


def _columns(text: Text, lexemes: Sequence[Lexeme]) -> list[int]:
    columns: list[int] = []
    line = 0
    for lexeme in lexemes:
        while line + 1 < len(text.lines) and text.lines[line + 1] <= lexeme.start:
            line += 1
        columns.append(lexeme.start - text.lines[line])
    return columns


def _indents(lexemes: Sequence[Lexeme], columns: Sequence[int]) -> list[int]:
    """For each lexeme the column where its line begins."""
    indents: list[int] = []
    indent = 0
    for lexeme, column in zip(lexemes, columns, strict=True):
        indent = column if lexeme.first else indent
        indents.append(indent)
    return indents


def _unclosed(text: Text, opener: Lexeme, seen_at: Sequence[Lexeme]) -> Problem:
    others = tuple(
        Label(
            text.span(there.start, min(there.end, there.start + 40)),
            "by its indentation this stands outside",
        )
        for there in seen_at
    )
    return Problem(
        "DEED102",
        text.span(opener.start, opener.end),
        "this `{` is never closed",
        label="opened here",
        others=others,
        hints=("Write the missing `}`, or indent what belongs inside.",),
    )


def _closes_nothing(text: Text, closer: Lexeme, *, open: bool) -> Problem:
    why = "by the indentation nothing ends here"
    return Problem(
        "DEED101",
        text.span(closer.start, closer.end),
        "this `}` closes nothing",
        label=why if open else "no `{` is open for it here",
        hints=("Delete it, or look for a `}` too many above.",),
    )
