"""What people often write where it cannot stand, and what to tell them: one line of advice each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from .lexemes import Lexeme
from .slices import OWN_HEADS

_NO_LOOPS: Final = (
    "There are no loops: a block does one thing and ends. A `scan` goes through a list,"
    " item by item, and a deadline comes back."
)
_OTHERWISE: Final = (
    "What happens otherwise is the last clause of that event, without `when`."
)
_USE: Final = "Names of another module: `use other.module { Name }`, before all else."
_CONSTANT: Final = (
    "There are no constants: a `policy` names waits, and `let` stands in a block."
)
_CHECK: Final = "What is explored is said in `check { … }`."

_SLIPS: Final[dict[tuple[str, str], str]] = {
    ("=", "COLON"): "A field is given its value with `:`.",
    ("=", "COMPARE"): "Equality is written `==`.",
    ("==", "EQUAL"): "A name is given its value with one `=`.",
    ("->", "WHEN"): "What happens stands in braces: `{ goto State }`.",
    ("when", "GOTO"): "`when` stands before the block: `on Message when … { … }`.",
    (
        "goto",
        "NEXT",
    ): "A rule ends with an action; what state that leads to follows from it.",
    ("then", "ESCALATE"): "`forever` never ends, so nothing comes after it.",
    ("after", "FATARROW"): "Only `silence` has a time: `silence after 30s => …`.",
    (
        "undo",
        "DO",
    ): "A step says first what it does (`do … -> … => next`), then how it is undone.",
    (
        "(",
        "WHEN",
    ): "A clause names its message without parentheses: `on Message as m { … }`.",
    ("->", "FATARROW"): "`->` says what may come of it, `=>` what to do then.",
    ("=>", "ARROW"): "`->` says what may come of it, `=>` what to do then.",
    ("=>", "WHEN"): "What happens stands in braces: `{ goto State }`.",
    ("goto", "WHEN"): "What happens stands in braces: `{ goto State }`.",
    ("(", "LBRACE"): "Fields stand in braces: `{ name: … }`.",
    ("<", "LSQB"): "A list is written with its item in brackets: `list[text]`.",
    ("due", "BY"): "`by` comes first, then `due`.",
    (",", "VBAR"): "Alternatives are separated by `|`.",
    ("]", "NAME"): "A list is written with its item: `list[text]`.",
    ("{", "VERSION"): "Every kind states the version of its stored shape: `version 1`.",
    (":", "EQUAL"): "A type is declared with `=`.",
    (
        ",",
        "AS",
    ): "A clause is for one event: write one for each; only `ignore A, B` takes several.",
    ("for", "GOTO"): _NO_LOOPS,
    ("while", "GOTO"): _NO_LOOPS,
    ("loop", "GOTO"): _NO_LOOPS,
    ("await", "GOTO"): "`do` asks, and the state that `awaits` it takes the answer.",
    ("[", "PLUS"): "There is no index: `head(items)`, `last(items)`, `take(items, n)`.",
    (":", "DURATION"): "A policy has neither `:` nor `,`: `first 1s factor 2`.",
    **dict.fromkeys(
        product(("else", "elif", "otherwise", "default"), ("ON", "$END")), _OTHERWISE
    ),
    ("*", "NAME"): "Names are written out, each of them.",
    (
        "every",
        "ON",
    ): "A state that comes again and again is left by a deadline that is set anew: `at due { stay { .., due: now + 1h } }`.",
    ("import", "TYPE"): _USE,
    ("from", "TYPE"): _USE,
    ("const", "TYPE"): _CONSTANT,
    ("let", "TYPE"): _CONSTANT,
    ("assume", "KEY"): _CHECK,
    ("faults", "KEY"): _CHECK,
    ("instances", "KEY"): _CHECK,
    ("messages", "KEY"): _CHECK,
    **dict.fromkeys(
        ((word, "LSQB") for word in ("where", "matching", "when", ">", ">=", "<=")),
        "A number may have a range, `type Few = int in 1..16`; other conditions are guards.",
    ),
    ("do", "RBRACE"): "The exit comes last: write `do` above it.",
    ("let", "RBRACE"): "`let` comes first in a block, then `do`, then the exit.",
    ("let", "GOTO"): "`let` comes first in a block, then `do`, then the exit.",
    (
        "goto",
        "RBRACE",
    ): "A block has one exit; two ways out are two clauses with `when`.",
    (
        "stay",
        "RBRACE",
    ): "A block has one exit; two ways out are two clauses with `when`.",
    (
        "if",
        "GOTO",
    ): "There is no `if` among statements: write two clauses, the first with `when`.",
    (
        "if",
        "RBRACE",
    ): "There is no `if` among statements: write two clauses, the first with `when`.",
    ("as", "LBRACE"): "`as` comes before `when`.",
    ("use", "TYPE"): "`module` comes first, then every `use`, then the declarations.",
    (
        "module",
        "TYPE",
    ): "`module` comes first, then every `use`, then the declarations.",
}


_COMPARISONS: Final = frozenset(("<", "<=", ">", ">=", "==", "!=", "is"))


_ACTIONS: Final = frozenset(
    ("next", "again", "rest", "continue", "done", "abort", "retry")
)


_AFTER: Final[dict[tuple[str, str], str]] = {
    ("retry", "NAME"): "`retry` names a policy: `retry ladder then …`.",
    ("start", "LBRACE"): "A start has a block: `start { goto State { … } }`.",
}
"""The word before, and what is wanted after it."""


def advice_after(before: Lexeme | None, expected: frozenset[str]) -> Iterator[str]:
    """What is known about what stands behind a word."""
    if (
        before is not None
        and before.text[:1].isupper()
        and expected == frozenset(("LBRACE",))
    ):
        yield f"Names stand in braces: `{{ {before.text} }}`."
    yield from (
        advice
        for (word, terminal), advice in _AFTER.items()
        if before is not None and word == before.text and terminal in expected
    )


def advice(
    here: Lexeme,
    expected: frozenset[str],
    before: Lexeme | None = None,
    after: Lexeme | None = None,
) -> Iterator[str]:
    """What is known about a word or sign that people often write here."""
    yield from advice_after(before, expected)
    block = after is not None and after.text == "{"
    if here.sort == "word" and here.text[:1].isupper() and block and "IN" in expected:
        yield f"What happens in a state stands in `in {here.text} {{ … }}`."
    yield from (
        advice
        for (sign, terminal), advice in _SLIPS.items()
        if sign == here.text and terminal in expected
    )
    if expected == frozenset(("ALL",)):
        yield "Faults are left out by name: `faults all except crash, raise`."
    if before is not None and before.text == "[" and "RSQB" in expected:
        yield "Only the empty list is written, `[]`; others come from outside."
    if (
        here.text == "|"
        and after is not None
        and after.text in ("none", "None", "null")
    ):
        yield "What may be missing is a `T?`: `by: text?`."
    if here.sort == "number" and "DOTDOT" in expected:
        yield f"A range is written with two dots: `{here.text.replace('.', '..')}`."
    if expected == frozenset(("START",)):
        yield "`on` stands here only in `on start again`; `wake on` takes a message."
    if here.text in _COMPARISONS and "AND" in expected:
        yield "Comparisons do not chain: write `a < b and b < c`."
    if here.text in _ACTIONS and "GOTO" in expected:
        yield f"`{here.text}` belongs to `retry`, `scan` and `saga`; here a block ends with `goto`, `stay` or `reject`."
    if "KEY" in expected:
        homes = [kind for kind, heads in OWN_HEADS.items() if here.text in heads]
        if homes:
            yield f"`{here.text}` stands in a {' or a '.join(f'`{kind}`' for kind in homes)}."
