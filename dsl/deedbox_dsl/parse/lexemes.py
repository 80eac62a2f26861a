"""A first look at a text: its lexemes, and what no parser needs to see to be wrong.

It finds characters that start nothing (DEED103), texts that do not end (DEED104),
numbers that are no durations (DEED105), brackets nested past the limit (DEED106)
and texts too long to be a spec, each with words for that very slip.  It knows the
shapes of lexemes, not the grammar.

A lexeme that carries a problem is `flawed`: what contains it is not parsed, so one
slip is one problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from ..problems import Edit, Fix, Problem
from ..source import Span, Text
from . import characters

DEPTH: Final = 64
LEXEMES: Final = 100_000
LARGEST: Final = 2**63 - 1

Sort: TypeAlias = Literal["doc", "comment", "text", "number", "word", "sign", "other"]


@dataclass(frozen=True, slots=True)
class Lexeme:
    sort: Sort
    text: str
    start: int
    end: int
    first: bool
    """Nothing but blanks stands before it on its line."""


@dataclass(frozen=True, slots=True)
class Scan:
    """`lexemes` without comments; `flawed` holds the offsets of those with a problem."""

    lexemes: tuple[Lexeme, ...]
    comments: tuple[Lexeme, ...]
    problems: tuple[Problem, ...]
    flawed: frozenset[int]


_LEXEME: Final = re.compile(
    r"""
      (?P<space>[ \t\n]+)
    | (?P<doc>///(?!/)[^\n]*)
    | (?P<comment>//[^\n]*)
    | (?P<foreign>~>|&&?|\|\||<>|=<|[=!]==|\+\+|[+*-]=|:=|/\*|'[^'\n]*')
    | (?P<text>"[^"\n]*"?)
    | (?P<number>[0-9][0-9_]*(?:\.[0-9]+)?(?:%|\w*))
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>\.\.|->|=>|[=!<>]=|[{}()\[\],:.|?=<>+*-])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBER: Final = re.compile(r"[0-9][0-9_]*(ms|[smhd])?|[0-9]+%|[0-9]+\.[0-9]+")
_OPENERS: Final = frozenset("([{")
_CLOSERS: Final = frozenset(")]}")


def scan(text: Text) -> Scan:
    lexemes: list[Lexeme] = []
    comments: list[Lexeme] = []
    problems: list[Problem] = []
    flawed: set[int] = set()
    strange: dict[str, list[Span]] = {}
    strange_lines: set[int] = set()
    last_close = text.content.rfind("*/")
    depth = 0
    line_end = -1
    end = 0
    while found := _LEXEME.match(text.content, end):
        sort = found.lastgroup
        if sort == "foreign":
            sort = "other"
        start, end = found.span()
        if sort == "space":
            if "\n" in found.group():
                line_end = -1
            continue
        if found.group() == "/*" and end <= last_close:
            end = text.content.index("*/", end) + 2
        unfinished = sort == "text" and (
            end == start + 1 or text.content[end - 1] != '"'
        )
        if unfinished:
            end = start + max(1, len(found.group().rstrip(" \t})],")))
        first = line_end == -1
        line_end = end
        lexeme = Lexeme(cast("Sort", sort), text.content[start:end], start, end, first)
        if sort == "comment":
            comments.append(lexeme)
            continue
        if len(lexemes) == LEXEMES:
            problems.append(_too_long(text, lexeme))
            return Scan((), (), tuple(problems), frozenset((start,)))
        lexemes.append(lexeme)
        problem: Problem | None = None
        if sort == "sign":
            if lexeme.text in _OPENERS:
                depth += 1
                if depth == DEPTH + 1:
                    problem = too_deep(text, lexeme.start, lexeme.end)
            elif lexeme.text in _CLOSERS:
                depth = max(0, depth - 1)
        elif sort == "other" or (sort == "word" and not lexeme.text.isascii()):
            flawed.add(start)
            span = text.span(start, end)
            if (
                lexeme.text in strange
                or span.line not in strange_lines
                or characters.is_foreign(lexeme.text)
            ):
                strange.setdefault(lexeme.text, []).append(span)
            strange_lines.add(span.line)
        elif unfinished:
            problem = _unfinished(text, lexeme)
        elif sort == "number":
            problem = _number(text, lexeme)
        if problem is not None:
            problems.append(problem)
            flawed.add(start)
    problems += [characters.strange(text, places) for places in strange.values()]
    return Scan(tuple(lexemes), tuple(comments), tuple(problems), frozenset(flawed))


def too_deep(text: Text, start: int, end: int) -> Problem:
    return Problem(
        "DEED106",
        text.span(start, end),
        f"this is nested more than {DEPTH} deep",
        label="too many levels begin here",
        hints=(
            "Give its parts names with `let`, or write fewer operators in one expression.",
        ),
    )


def _too_long(text: Text, lexeme: Lexeme) -> Problem:
    return Problem(
        "DEED101",
        text.span(lexeme.start, lexeme.end),
        f"this file has more than {LEXEMES:,} words and signs",
        label="reading stopped here",
        hints=("Split it into modules; `use other.module { Name }` brings names in.",),
    )


# ---- text and numbers ---------------------------------------------------------------


def _unfinished(text: Text, lexeme: Lexeme) -> Problem:
    place = text.span(lexeme.end, lexeme.end)
    hint = 'A text stands between two `"` on one line.'
    if '\\"' in text.line_text(place.line):
        hint = 'There are no escapes: a text cannot hold a `"`.'
    return Problem(
        "DEED104",
        text.span(lexeme.start, lexeme.end),
        "this text does not end on its line",
        label='no closing `"` before the end of the line',
        hints=(hint,),
        fixes=(Fix('Close the text with `"`', (Edit(place, '"'),)),),
    )


_UNITS: Final = {
    **dict.fromkeys(("msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("sec", "secs", "second", "seconds", "S"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "M"), "m"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours", "H"), "h"),
    **dict.fromkeys(("day", "days", "D"), "d"),
}
_WEEKS: Final = ("w", "wk", "week", "weeks", "W")
_NO_LENGTH: Final = re.compile(r"[0-9]+ *(y|yr|years?|mo|months?)", re.IGNORECASE)
_NOT_DECIMAL: Final = re.compile(r"0[xob][0-9a-f_]+|[0-9]+e[0-9]+", re.IGNORECASE)
_MILLISECONDS: Final = {
    "ms": 1,
    "s": 1000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
}
_COMPOUND: Final = re.compile(r"(?:[0-9]+(?:ms|[smhd]))+")


def _number(text: Text, lexeme: Lexeme) -> Problem | None:
    shape = _NUMBER.fullmatch(lexeme.text)
    if shape is None:
        return not_a_duration(text, lexeme.start, lexeme.end)
    unit = shape.group(1) or ""
    digits = lexeme.text.removesuffix(unit).rstrip("%").replace("_", "")
    largest = LARGEST // _MILLISECONDS.get(unit, 1)
    if len(digits) <= 30 and ("." in digits or int(digits) <= largest):
        return None
    span = text.span(lexeme.start, lexeme.end)
    if unit:
        return Problem(
            "DEED105",
            span,
            "this duration does not fit in 64 bits",
            label="as milliseconds it is too long",
            hints=("The longest is about 292 million years.",),
        )
    return Problem(
        "DEED101",
        span,
        "this number does not fit in 64 bits",
        label=f"the largest `int` is {LARGEST:_}",
    )


def not_a_duration(text: Text, start: int, end: int) -> Problem:
    """The problem of a number with letters after it: `30sec`, `1.5s`, `1h30m`, `30 s`."""
    written = text.content[start:end]
    if _NOT_DECIMAL.fullmatch(written):
        return _not_decimal(text, start, end)
    meant = _meant(written)
    hints = ("The units are `ms`, `s`, `m`, `h` and `d`, each after a whole number.",)
    if _NO_LENGTH.fullmatch(written):
        hints = (
            "Months and years have no fixed length: count days, or let a message or an answer bring the instant.",
        )
    span = text.span(start, end)
    return Problem(
        "DEED105",
        span,
        f"`{_short(written)}` is not a duration",
        label="" if meant is None else f"did you mean `{meant}`?",
        hints=hints,
        fixes=() if meant is None else (Fix(f"Write `{meant}`", (Edit(span, meant),)),),
    )


def _not_decimal(text: Text, start: int, end: int) -> Problem:
    """`0xff` and `1e6`."""
    return Problem(
        "DEED101",
        text.span(start, end),
        f"`{_short(text.content[start:end])}` is not a decimal number",
        hints=("Numbers are written in decimal, and `_` may group them: `1_000_000`.",),
    )


def _meant(written: str) -> str | None:
    close = "".join(written.split())
    if len(close) > 40:
        return None
    if _COMPOUND.fullmatch(close):
        parts = re.findall(r"([0-9]+)(ms|[smhd])", close)
        return _spelled(
            sum(int(digits) * _MILLISECONDS[unit] for digits, unit in parts)
        )
    shape = re.fullmatch(r"([0-9][0-9_]*)(?:\.([0-9]{1,9}))?([A-Za-z]+)", close)
    if shape is None:
        return None
    whole, fraction, word = shape.groups()
    if word in _WEEKS and fraction is None:
        return f"{int(whole) * 7}d"
    unit = word if word in _MILLISECONDS else _UNITS.get(word, _UNITS.get(word.lower()))
    if unit is None:
        return None
    if fraction is None:
        return f"{whole}{unit}"
    scaled = int(whole.replace("_", "") + fraction) * _MILLISECONDS[unit]
    exact, rest = divmod(scaled, 10 ** len(fraction))
    return _spelled(exact) if rest == 0 else None


def _spelled(milliseconds: int) -> str:
    for unit in ("d", "h", "m", "s"):
        if milliseconds % _MILLISECONDS[unit] == 0:
            return f"{milliseconds // _MILLISECONDS[unit]}{unit}"
    return f"{milliseconds}ms"


def _short(written: str) -> str:
    return written if len(written) <= 40 else written[:37] + "..."
