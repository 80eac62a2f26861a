"""What the parser would have taken, in words of the language: grouped, and at most six.

No terminal's name ever reaches a message: each has an entry in `_WORDS`, or is a
keyword spelled like its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST: Final = 6


_WORDS: Final = {
    "NAME": "a name",
    "INT": "a whole number",
    "DECIMAL": "a number such as `1.5`",
    "DURATION": "a duration such as `30s`",
    "PERCENT": "a share such as `20%`",
    "STRING": 'a text in `"`',
    "DOC": "a doc comment",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "DOT": "`.`",
    "DOTDOT": "`..`",
    "VBAR": "`|`",
    "ARROW": "`->`",
    "FATARROW": "`=>`",
    "QMARK": "`?`",
    "EQUAL": "`=`",
    "COMPARE": "a comparison such as `==`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "STAR": "`*`",
}


@dataclass(frozen=True, slots=True)
class Group:
    """Terminals that go together, and one phrase for all of them."""

    core: frozenset[str]
    also: frozenset[str]
    phrase: str


def _group(core: str, also: str, phrase: str) -> Group:
    return Group(frozenset(core.split()), frozenset(also.split()), phrase)


_ANYWHERE: Final = (
    "GIVEN ON MESSAGE COMMAND MIGRATE CHECK ALLOW "
    "INVARIANT NEVER EVENTUALLY SOMETIMES ACROSS LEADS"
)


_GROUPS: Final = (
    _group(
        "TYPE RECORD CHOICE POLICY MACHINE RETRY SCAN SAGA",
        "",
        "a declaration such as `type`, `record`, `machine` or `saga`",
    ),
    _group(
        "KEY STATE FINAL START IN",
        _ANYWHERE,
        "an item of a machine such as `state`, `message`, `command` or `in`",
    ),
    _group(
        "KEY SPENT",
        f"{_ANYWHERE} POLICY DO WAKE",
        "an item of a retry such as `policy`, `do`, `spent` or `wake`",
    ),
    _group(
        "KEY FETCH",
        f"{_ANYWHERE} PAGE CURSOR EACH CONTINUE IDLE WAKE",
        "an item of a scan such as `page`, `cursor`, `fetch` or `each`",
    ),
    _group(
        "KEY STEP",
        f"{_ANYWHERE} DONE UNDONE NO",
        "an item of a saga such as `step`, `done` or `undone`",
    ),
    _group(
        "INVARIANT NEVER EVENTUALLY SOMETIMES ACROSS LEADS",
        "",
        "a property such as `invariant` or `leads`",
    ),
    _group("ON AT IGNORE", "", "a clause (`on`, `at` or `ignore`)"),
    _group("DO REPEAT TELL BEGIN LET", "", "a statement such as `do` or `let`"),
    _group("DO REPEAT TELL BEGIN", "", "a statement such as `do` or `tell`"),
    _group("GOTO STAY REJECT", "", "an exit (`goto`, `stay` or `reject`)"),
    _group(
        "NEXT AGAIN REST CONTINUE DONE ABORT RETRY",
        "",
        "an action such as `next`, `again`, `done`, `abort` or `retry`",
    ),
    _group(
        "NAME INT DURATION STRING NOW LPAR",
        "TRUE FALSE NONE MINUS LSQB NOT IF",
        "a value",
    ),
    _group("PLUS MINUS STAR", "COMPARE IS AND OR IMPLIES LPAR DOT", "an operator"),
)


def phrases_of(expected: frozenset[str], ends_with: str) -> list[str]:
    """The words for a set of terminals, groups first and the end last."""
    left = set(expected)
    if len(left) > 1:
        left.discard("DOC")
    if len(left) > 2:
        left -= {"QMARK", "LSQB"} if "COMMA" in left else set()
        left -= {"EQUAL"} if "COMMA" in left else set()
    if left & {"COMMAND", "DO", "FETCH"}:
        left.discard("UNREPEATABLE")
    phrases: list[str] = []
    for group in _GROUPS:
        if group.core <= left:
            left -= group.core | group.also
            phrases.append(group.phrase)
    words = sorted(_WORDS.get(each, f"`{each.lower()}`") for each in left - {"$END"})
    return [*phrases, *words, *([ends_with] if "$END" in left else [])]


def expectation(phrases: Sequence[str]) -> str:
    if not phrases:
        return ""
    if len(phrases) > MOST:
        return f"expected {', '.join(phrases[: MOST - 1])} or something like it"
    if len(phrases) == 1:
        return f"expected {phrases[0]}"
    return f"expected {', '.join(phrases[:-1])} or {phrases[-1]}"


def keywords(expected: frozenset[str]) -> set[str]:
    return {each for each in expected if each not in _WORDS and each != "$END"}
