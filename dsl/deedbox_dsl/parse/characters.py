# ruff: noqa: RUF001  (the confusable characters are what this module is about)
"""Words for a character that cannot stand where it stands (DEED103).

A spec is ASCII outside of texts and comments.  What word processors, chat windows
and other keyboards put in instead is named, with what to write; letters that only
look like ours are named by their Unicode names, since nobody can see them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..problems import Edit, Fix, Label, Problem
from ..source import Span, Text

_INSTEAD: Final = {
    **dict.fromkeys("“”„‟«»‘’‚", '"'),
    **dict.fromkeys("–—−‒", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", " "),
    "→": "->",
    "⇒": "=>",
    "…": "..",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "×": "*",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "；": "",
    "，": ",",
    "：": ":",
    "（": "(",
    "）": ")",
    "｛": "{",
    "｝": "}",
}
_OPERATORS: Final = {
    "&&": "and",
    "&": "and",
    "||": "or",
    "!": "not ",
    "<>": "!=",
    "=<": "<=",
    "===": "==",
    "!==": "!=",
    ":=": "=",
    "~>": "to",
    "#": "//",
}
"""What other languages write, and how it is written here."""
_ADVICE: Final = {
    "'": 'Text stands in double quotes: `"like this"`.',
    "`": 'Text stands in double quotes: `"like this"`.',
    "/": "There is no division; a comment begins with `//`.",
    "/*": "A comment begins with `//` and goes on to the end of its line.",
    "%": "There is no remainder; `%` stands only after the number of a `jitter`, as in `jitter 20%`.",
    "@": "There are no annotations; a comment begins with `//`.",
    "\\": "There are no escapes and no line continuations; a line may break anywhere.",
    "\0": "This looks like a binary file, or one in UTF-16: save it as UTF-8 text.",
    "\ufeff": "A byte order mark may only begin a file: delete this one.",
    "\ufffd": "This stands for bytes that are no UTF-8: save the file as UTF-8 text.",
    "\f": "Blanks are spaces, tabs and line ends.",
    "\v": "Blanks are spaces, tabs and line ends.",
    "++": "A field gets its new value on the way out: `stay { .., n: n + 1 }`.",
    "+=": "A field gets its new value on the way out: `stay { .., n: n + 1 }`.",
    "-=": "A field gets its new value on the way out: `stay { .., n: n - 1 }`.",
    "*=": "A field gets its new value on the way out: `stay { .., n: n * 2 }`.",
}
_LOOKALIKES: Final = str.maketrans(
    "АВЕКМНОРСТХаеорсухіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧονı",
    "ABEKMHOPCTXaeopcyxijsABEZHIKMNOPTYXovi",
)
MOST_SHOWN: Final = 3


def is_foreign(word: str) -> bool:
    """Whether other languages use the sign, so that each of them is a slip of its own."""
    return word in _OPERATORS or word in _ADVICE or word == ";"


def strange(text: Text, places: Sequence[Span]) -> Problem:
    """The problem of a sign or name that cannot stand at these places, all the same one."""
    first, *rest = places
    word = text.content[first.start : first.end]
    found = _of(text, first, word)
    others = tuple(Label(each, "and here") for each in rest[:MOST_SHOWN])
    more = len(rest) - len(others)
    places_left = "1 more place" if more == 1 else f"{more} more places"
    hints = (*found.hints, f"And at {places_left}.") if more else found.hints
    fixes = tuple(
        Fix(
            fix.title,
            tuple(Edit(each, edit.text) for each in places for edit in fix.edits),
        )
        for fix in found.fixes
    )
    return replace(found, others=others, hints=hints, fixes=fixes)


def _of(text: Text, span: Span, word: str) -> Problem:
    char = next((each for each in word if not each.isascii()), word[0])
    if word == ";":
        fix = Fix("Delete `;`", (Edit(span, ""),))
        return Problem(
            "DEED103",
            span,
            "`;` is not needed: nothing ends with it",
            label="leave it out",
            fixes=(fix,),
        )
    if word.startswith("/*") or (len(word) > 1 and word.startswith("'")):
        return _quoted_or_commented(text, span, word)
    if word in _OPERATORS:
        return _exchanged(span, f"`{word}`", _OPERATORS[word])
    if word in _ADVICE and len(word) > 1:
        return Problem(
            "DEED103",
            span,
            f"there is no `{word}` in this language",
            label="nothing is assigned here",
            hints=(_ADVICE[word],),
        )
    if len(word) > 1 or char.isalpha():
        return _strange_name(span, word, char)
    instead = _INSTEAD.get(char)
    if instead is not None:
        hint = "Word processors and chat windows put it in by themselves."
        return replace(_exchanged(span, describe(char), instead), hints=(hint,))
    advice = _ADVICE.get(char, "Delete it, or write it inside a text or a comment.")
    return Problem(
        "DEED103",
        span,
        f"{describe(char)} cannot start anything",
        label="this character",
        hints=(advice,),
    )


def _exchanged(span: Span, called: str, instead: str) -> Problem:
    said = f"`{instead.strip()}`" if instead.strip() else "a plain space"
    if not instead:
        said = "nothing"
    fix = Fix(f"Write {said}", (Edit(span, instead),))
    return Problem(
        "DEED103",
        span,
        f"{called} is written {said} here",
        label=f"write {said}",
        fixes=(fix,),
    )


def _quoted_or_commented(text: Text, span: Span, word: str) -> Problem:
    if word.startswith("'"):
        instead = f'"{word[1:-1]}"'
        whole = '"' not in word
        message, title = "a text stands in double quotes", "Write it in double quotes"
    else:
        lines = [line.strip(" \t*") for line in word[2:-2].split("\n")]
        instead = "\n".join(f"// {line}".rstrip() for line in lines if line)
        line = text.line_text(text.span(span.end, span.end).line)
        rest = line[text.span(span.end, span.end).column - 1 :]
        whole = word.endswith("*/") and bool(instead)
        instead += "\n" if rest.strip() else ""
        message, title = "`/*` begins no comment here", "Make it a comment with `//`"
    return Problem(
        "DEED103",
        span,
        message,
        label=f"write `{instead}`" if whole and "\n" not in instead else "",
        hints=(_ADVICE[word[:2] if word.startswith("/*") else "'"],),
        fixes=(Fix(title, (Edit(span, instead),)),) if whole else (),
    )


def _strange_name(span: Span, word: str, char: str) -> Problem:
    plain = unicodedata.normalize("NFKC", word).translate(_LOOKALIKES)
    hint = "Names are made of the letters a to z, digits and `_`."
    if plain.isascii() and plain.isidentifier():
        return Problem(
            "DEED103",
            span,
            f"{describe(char)} only looks like the letter that this name needs",
            label=f"did you mean `{plain}`?",
            hints=(hint,),
            fixes=(Fix(f"Write `{plain}`", (Edit(span, plain),)),),
        )
    return Problem(
        "DEED103",
        span,
        f"{describe(char)} cannot stand in a name",
        label="this name",
        hints=(hint,),
    )


def describe(char: str) -> str:
    """A character as a reader can find it: itself where it can be seen, else its name."""
    name = unicodedata.name(char, "")
    code = f"U+{ord(char):04X}"
    if char.isprintable() and not char.isspace() and not unicodedata.combining(char):
        return f"`{char}`" if char.isascii() else f"`{char}` ({name or code})"
    return f"{code} ({name})" if name else f"the control character {code}"
