# ruff: noqa: RUF001  (the confusable characters are what this module is about)
"""Words for a character that cannot stand where it stands (DEED103).

A spec is ASCII outside of texts and comments.  What word processors, chat windows
and other keyboards put in instead is named, with what to write; letters that only
look like ours are named by their Unicode names, since nobody can see them.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from .problems import Edit, Fix, Problem
from .source import Span, Text

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
_ADVICE: Final = {
    ";": "Nothing ends with `;` here: leave it out.",
    "#": "A comment begins with `//`.",
    "'": 'Text stands in double quotes: `"like this"`.',
    "`": 'Text stands in double quotes: `"like this"`.',
    "&": "`and` joins two conditions.",
    "!": "`not` turns a condition round; `!=` compares.",
    "/": "There is no division; a comment begins with `//`.",
    "%": "`%` stands only after the number of a `jitter`, as in `jitter 20%`.",
    "@": "There are no annotations; a comment begins with `//`.",
    "\\": "There are no escapes and no line continuations; a line may break anywhere.",
    "\0": "This looks like a binary file, or one in UTF-16: save it as UTF-8 text.",
    "\ufeff": "A byte order mark may only begin a file: delete this one.",
    "\ufffd": "This stands for bytes that are no UTF-8: save the file as UTF-8 text.",
    "\f": "Blanks are spaces, tabs and line ends.",
    "\v": "Blanks are spaces, tabs and line ends.",
}
_LOOKALIKES: Final = str.maketrans(
    "АВЕКМНОРСТХаеорсухіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧονı",
    "ABEKMHOPCTXaeopcyxijsABEZHIKMNOPTYXovi",
)


def strange(text: Text, start: int, word: str) -> Problem:
    """The problem of a character that begins no lexeme, or of a name that holds one."""
    char = next((each for each in word if not each.isascii()), word[0])
    span = text.span(start, start + len(word))
    if len(word) > 1 or char.isalpha():
        return _strange_name(span, word, char)
    instead = _INSTEAD.get(char)
    if instead is None:
        advice = _ADVICE.get(char, "Delete it, or write it inside a text or a comment.")
        return Problem(
            "DEED103",
            span,
            f"{describe(char)} cannot start anything",
            label="this character",
            hints=(advice,),
        )
    said = f"`{instead}`" if instead.strip() else "a plain space"
    return Problem(
        "DEED103",
        span,
        f"{describe(char)} is not the {said} of this language",
        label=f"write {said}",
        hints=("Word processors and chat windows put it in by themselves.",),
        fixes=(Fix(f"Write {said}", (Edit(span, instead),)),),
    )


def _strange_name(span: Span, word: str, char: str) -> Problem:
    plain = unicodedata.normalize("NFKC", word).translate(_LOOKALIKES)
    if plain.isascii() and plain.isidentifier():
        return Problem(
            "DEED103",
            span,
            f"{describe(char)} only looks like the letter that this name needs",
            label=f"did you mean `{plain}`?",
            hints=("Names are made of the letters a to z, digits and `_`.",),
            fixes=(Fix(f"Write `{plain}`", (Edit(span, plain),)),),
        )
    return Problem(
        "DEED103",
        span,
        f"{describe(char)} cannot stand in a name",
        label="this name",
        hints=("Names are made of the letters a to z, digits and `_`.",),
    )


def describe(char: str) -> str:
    """A character as a reader can find it: itself where it can be seen, else its name."""
    name = unicodedata.name(char, "")
    code = f"U+{ord(char):04X}"
    if char.isprintable() and not char.isspace() and not unicodedata.combining(char):
        return f"`{char}`" if char.isascii() else f"`{char}` ({name or code})"
    return f"{code} ({name})" if name else f"the control character {code}"
