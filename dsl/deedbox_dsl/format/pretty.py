"""Documents that lay themselves out within a width.

After Wadler, *A prettier printer* (2003), in the strict form of Lindig (2000): a
group is printed on one line if it fits there, else every one of its own lines is
broken.  Added to it are comments at the end of a line, which break what they stand in.
Layout is a loop over a stack, so a document may be of any depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A line end, or `flat` where its group fits on one line."""

    flat: str


@dataclass(frozen=True, slots=True)
class Hard:
    """A line end that is always one; `blank` leaves a line empty before the next."""

    blank: bool = False


@dataclass(frozen=True, slots=True)
class Either:
    """One text where the group is on one line, another where it is broken."""

    flat: str
    broken: str


@dataclass(frozen=True, slots=True)
class Trail:
    """A comment that ends the line on which it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    indent: int
    item: Doc


@dataclass(frozen=True, slots=True)
class Group:
    item: Doc
    broken: bool


@dataclass(frozen=True, slots=True)
class Cat:
    items: tuple[Doc, ...]
    broken: bool


Doc: TypeAlias = str | Line | Either | Hard | Trail | Nest | Group | Cat

SPACE: Final = Line(" ")
NOTHING: Final = Line("")


def cat(*items: Doc) -> Cat:
    return Cat(items, any(map(is_broken, items)))


def group(*items: Doc, broken: bool = False) -> Group:
    inner = cat(*items)
    return Group(inner, broken or inner.broken)


def nest(*items: Doc, indent: int = 2) -> Nest:
    return Nest(indent, cat(*items))


def joined(items: Iterable[Doc], separator: Doc) -> Cat:
    parts: list[Doc] = []
    for item in items:
        parts.extend([separator, item] if parts else [item])
    return cat(*parts)


def is_broken(doc: Doc) -> bool:
    """Whether a document cannot stand on one line."""
    match doc:
        case str() | Line() | Either():
            return False
        case Hard() | Trail():
            return True
        case Nest():
            return is_broken(doc.item)
        case Group() | Cat():
            return doc.broken


def flat(doc: Doc) -> str | None:
    """A document on one line, or None where it cannot be."""
    return None if is_broken(doc) else render(doc, width=None)


_Task: TypeAlias = tuple[int, bool, Doc]


def render(doc: Doc, width: int | None = WIDTH) -> str:
    """The text of a document; `width` None means one line of any length."""
    out: list[str] = []
    column = 0
    trailing = ""
    stack: list[_Task] = [(0, width is None, doc)]
    while stack:
        indent, is_flat, item = stack.pop()
        match item:
            case str():
                out.append(item)
                column += len(item)
            case Either():
                chosen = item.flat if is_flat else item.broken
                out.append(chosen)
                column += len(chosen)
            case Line() if is_flat:
                out.append(item.flat)
                column += len(item.flat)
            case Line() | Hard():
                blank = isinstance(item, Hard) and item.blank
                out.append(trailing + ("\n\n" if blank else "\n") + " " * indent)
                trailing = ""
                column = indent
            case Trail():
                trailing += f"  {item.text}"
            case Nest():
                stack.append((indent + item.indent, is_flat, item.item))
            case Cat():
                stack.extend((indent, is_flat, each) for each in reversed(item.items))
            case Group():
                one_line = is_flat or (
                    not item.broken
                    and (width is None or _fits(item.item, stack, width - column))
                )
                stack.append((indent, one_line, item.item))
    out.append(trailing)
    lines = "".join(out).split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _fits(item: Doc, rest: Sequence[_Task], room: int) -> bool:
    """Whether `item` on one line, with what follows up to the next line end, has room."""
    stack: list[tuple[bool, Doc]] = [(True, item)]
    following = len(rest)
    while room >= 0:
        if not stack:
            if following == 0:
                return True
            following -= 1
            _, was_flat, doc = rest[following]
            stack.append((was_flat, doc))
        is_flat, doc = stack.pop()
        match doc:
            case str():
                room -= len(doc)
            case Either():
                room -= len(doc.flat if is_flat else doc.broken)
            case Line() if is_flat:
                room -= len(doc.flat)
            case Line() | Hard():
                return True
            case Trail():
                continue
            case Nest() | Group():
                stack.append((is_flat, doc.item))
            case Cat():
                stack.extend((is_flat, each) for each in reversed(doc.items))
    return False
