"""What to say where the parser stops: the words for DEED101, and for DEED105 and 107.

It turns the terminals which the parser would have taken into words of the language,
grouped and at most six, and knows the slips that people make most often.  No
terminal's name ever reaches a message: each has an entry in `_WORDS`, or is
a keyword spelled like its name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from ..problems import Edit, Fix, Label, Problem
from ..source import Text
from ..suggest import nearest
from .foreign import foreign
from .lexemes import Lexeme, not_a_duration
from .phrases import expectation, keywords, phrases_of
from .repairs import Piece, repair
from .slices import HEADS
from .slips import advice, advice_after
from .tables import Stop

_UNDOCUMENTED: Final = frozenset(
    (*(word for heads in HEADS.values() for word in heads), "in")
)
_NO_VALUES: Final = frozenset(
    (
        *("goto", "stay", "reject", "do", "repeat", "tell", "begin", "let", "on", "at"),
        *("ignore", "when", "in", "is", "and", "or", "not", "implies", "if", "then"),
        *("else", "as", "to", "within"),
    )
)


def unexpected(
    text: Text, lexemes: Sequence[Lexeme], stop: Stop, piece: Piece, *, ends_with: str
) -> Problem:
    """The problem of `lexemes`, of which `piece` was parsed and stopped at `stop`.

    `ends_with` says what may follow them: the end of the file, or the next piece.
    """
    index = len(lexemes)
    if stop.position is not None:
        at = piece.base + stop.position
        index = bisect_right(lexemes, at, key=lambda each: each.start) - 1
    expected = phrases_of(stop.expected, ends_with)
    before = lexemes[index - 1] if index > 0 else None
    if index < len(lexemes):
        here = lexemes[index]
        return (
            _documentation(text, before, here)
            or _apart(text, before, here)
            or _apart(text, here, *lexemes[index + 1 : index + 2])
            or _no_name(text, before, stop)
            or _no_undo(text, lexemes[: index + 1], stop)
            or foreign(text, lexemes, index, stop)
            or _no_fraction(text, here, stop.expected)
            or _assignment(text, lexemes[index : index + 2], stop)
            or _no_do(text, lexemes[index : index + 2], stop)
            or _mended(text, lexemes, index, stop, piece)
            or _misplaced(text, lexemes, index, stop, expected)
        )
    if before is not None and before.sort == "doc":
        return _documents_nothing(text, before)
    return _unfinished(text, before, expected, stop)


def _mended(
    text: Text, lexemes: Sequence[Lexeme], index: int, stop: Stop, piece: Piece
) -> Problem | None:
    """The problem in the words of the one change that repairs it."""
    here, before = lexemes[index], lexemes[index - 1] if index > 0 else None
    after = lexemes[index + 1 : index + 3]
    found = repair(piece, before, here, after, stop)
    if found is None:
        return None
    span = text.span(here.start, here.end)
    written = f"`{found.written}`"
    hints = [*advice(here, stop.expected)][:1]
    others: tuple[Label, ...] = ()
    match found.sort:
        case "insert":
            message = f"{written} is missing before {_quoted(here)}"
            title, label = f"Write {written}", f"expected {written} before this"
            if found.written in (")", "]"):
                others = _opened(text, lexemes[: index + 1])
        case "delete" if hints:
            message, title, label = f"{_quoted(here)} does not belong here", "", ""
        case "delete":
            message = f"this {written} is one too many"
            title, label = f"Delete {written}", "nothing that needs it stands here"
        case _:
            message = f"{_quoted(here)} does not belong here"
            title, label = f"Write {written}", f"did you mean {written}?"
            hints = [each for each in hints if f"`{found.written}" in each]
    edit = Edit(text.span(found.low, found.high), found.text)
    return Problem(
        "DEED101",
        span,
        message,
        label=label,
        others=others,
        hints=tuple(hints),
        fixes=(Fix(title, (edit,)),) if title else (),
    )


def _assignment(text: Text, ahead: Sequence[Lexeme], stop: Stop) -> Problem | None:
    """`hits = hits + 1` among statements."""
    assigns = len(ahead) == 2 and ahead[1].text == "=" and ahead[0].sort == "word"
    if not assigns or "GOTO" not in stop.expected:
        return None
    name = ahead[0].text
    return Problem(
        "DEED101",
        text.span(ahead[0].start, ahead[1].end),
        f"`{name}` cannot be set among statements",
        label="nothing is assigned here",
        hints=(
            f"A field gets its value on the way out: `stay {{ .., {name}: … }}`.\n"
            f"A value gets a name with `let`: `let {name} = …`.",
        ),
    )


def _no_do(text: Text, ahead: Sequence[Lexeme], stop: Stop) -> Problem | None:
    """`evict(resource)` among statements."""
    calls = len(ahead) == 2 and ahead[1].text == "(" and ahead[0].sort == "word"
    if not calls or not stop.expected >= {"DO", "GOTO"}:
        return None
    here = ahead[0]
    return Problem(
        "DEED101",
        text.span(here.start, here.end),
        f"`do` is missing before {_quoted(here)}",
        label="a command is asked for with `do`",
        fixes=(Fix("Write `do`", (Edit(text.span(here.start, here.start), "do "),)),),
    )


def _no_fraction(text: Text, here: Lexeme, expected: frozenset[str]) -> Problem | None:
    """`0.5`, which only the `factor` of a policy may be."""
    if here.sort != "number" or "." not in here.text or "DOTDOT" in expected:
        return None
    return Problem(
        "DEED101",
        text.span(here.start, here.end),
        f"{_quoted(here)} is not a whole number",
        label="expected a whole number",
        hints=(
            "Only the `factor` of a policy takes a fraction; count cents or milliseconds.",
        ),
    )


def _misplaced(
    text: Text,
    lexemes: Sequence[Lexeme],
    index: int,
    stop: Stop,
    phrases: Sequence[str],
) -> Problem:
    """The problem of the lexeme at `index`."""
    read, here = lexemes[: index + 1], lexemes[index]
    before = lexemes[index - 1] if index > 0 else None
    after = lexemes[index + 1] if index + 1 < len(lexemes) else None
    expected = stop.expected
    span = text.span(here.start, here.end)
    hints: list[str] = []
    fixes: tuple[Fix, ...] = ()
    if here.sort == "word":
        meant = nearest(here.text, (each.lower() for each in keywords(expected)))
        if meant is not None:
            hints.append(f"Did you mean `{meant}`?")
            fixes = (Fix(f"Write `{meant}`", (Edit(span, meant),)),)
    hints.extend([*advice(here, expected, before, after)][:1])
    if len(read) > 1 and read[-2].text == "at" and expected == frozenset(("NAME",)):
        hints.append(
            "`at` waits for a field: declare `due: instant` in the state, set it on "
            f"the way in (`due: now + {here.text}`), and write `at due {{ … }}`."
        )
    complete = bool(expected & {"RBRACE", "$END"}) or stop.position == 0
    others: tuple[Label, ...] = ()
    if expected & {"RPAR", "RSQB"}:
        others = _opened(text, read)
    elif len(read) > 1 and here.first and not (complete or fixes):
        end = text.span(read[-2].end - 1, read[-2].end)
        others = (Label(end, "what ends here may be unfinished"),)
    return Problem(
        "DEED101",
        span,
        f"{_quoted(here)} does not belong here",
        label=expectation(phrases),
        others=others,
        hints=tuple(hints),
        fixes=fixes,
    )


def _unfinished(
    text: Text, before: Lexeme | None, phrases: Sequence[str], stop: Stop
) -> Problem:
    end = 0 if before is None else before.end
    after = "" if before is None else f" after {_quoted(before)}"
    return Problem(
        "DEED101",
        text.span(end, end),
        f"something is missing{after}",
        label=expectation(phrases),
        hints=tuple(advice_after(before, stop.expected)),
    )


def _apart(
    text: Text, before: Lexeme | None, here: Lexeme | None = None
) -> Problem | None:
    """A number and its unit with a blank between: `30 s`, `5 minutes`."""
    if before is None or before.sort != "number":
        return None
    if here is None or here.sort != "word" or here.first:
        return None
    problem = not_a_duration(text, before.start, here.end)
    return problem if problem.fixes else None


def _opened(text: Text, read: Sequence[Lexeme]) -> tuple[Label, ...]:
    """The bracket that is still open at the end of `read`."""
    opened: list[Lexeme] = []
    for lexeme in read[:-1]:
        if lexeme.text in ("(", "["):
            opened.append(lexeme)
        elif lexeme.text in (")", "]"):
            del opened[-1:]
    return tuple(
        Label(text.span(lexeme.start, lexeme.end), "opened here")
        for lexeme in opened[-1:]
    )


def _no_name(text: Text, before: Lexeme | None, stop: Stop) -> Problem | None:
    """A statement's word where only a name or a value could stand: `1 + goto Done`."""
    if before is None or stop.after != "NAME" or before.text not in _NO_VALUES:
        return None
    return Problem(
        "DEED101",
        text.span(before.start, before.end),
        f"{_quoted(before)} does not belong here",
        label="expected a name or a value",
        hints=(
            "What stands before it is unfinished, or this word was meant as a name.",
        ),
    )


def _no_undo(text: Text, read: Sequence[Lexeme], stop: Stop) -> Problem | None:
    """A step that ends after its `do`: the one rule of sagas that the grammar holds."""
    if read[-1].text != "}" or not stop.expected >= {"UNDO", "NO"}:
        return None
    step = max(at for at, each in enumerate(read) if each.text == "step")
    name, end = read[step + 1], read[-1]
    return Problem(
        "DEED601",
        text.span(name.start, name.end),
        f"the step `{name.text}` has no undo",
        label="what takes it back?",
        others=(Label(text.span(end.start, end.end), "expected before this"),),
        hints=(
            f"Add one of:   undo cancel_{name.text}(…) -> cancelled => next\n"
            '              no undo "why it need not be taken back"',
        ),
    )


def _documentation(text: Text, before: Lexeme | None, here: Lexeme) -> Problem | None:
    """A doc comment where nothing can be documented, or before what cannot be."""
    if here.sort == "doc":
        return _documents_nothing(text, here)
    known = here.sort != "word" or here.text in _UNDOCUMENTED
    if before is not None and before.sort == "doc" and known:
        return _documents_nothing(text, before, here)
    return None


def _documents_nothing(
    text: Text, comment: Lexeme, after: Lexeme | None = None
) -> Problem:
    span = text.span(comment.start, comment.end)
    slashes = text.span(comment.start, comment.start + 3)
    others: tuple[Label, ...] = ()
    if after is not None:
        there = text.span(after.start, after.end)
        others = (Label(there, "this takes no documentation"),)
    return Problem(
        "DEED107",
        span,
        "this documentation comment documents nothing",
        label="no declaration follows it",
        others=others,
        hints=("Move it before a declaration, or make it a comment with `//`.",),
        fixes=(Fix("Make it a comment", (Edit(slashes, "//"),)),),
    )


def _quoted(lexeme: Lexeme) -> str:
    said = lexeme.text if len(lexeme.text) <= 40 else lexeme.text[:37] + "..."
    return f"`{said}`"
