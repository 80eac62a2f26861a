"""What is written so in other languages and takes more than one word to say here.

Each is a problem of its own with the words for that very slip, and where the change is
certain, with the change.  What one word of advice is enough for stands in `slips`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..problems import Edit, Fix, Problem
from ..source import Text
from ..spelling import pascal
from .lexemes import Lexeme
from .tables import Stop

_NUMBERS: Final = ("int", "duration")
_OPERATORS: Final = frozenset(("PLUS", "MINUS", "STAR"))


def foreign(
    text: Text, lexemes: Sequence[Lexeme], index: int, stop: Stop
) -> Problem | None:
    """The problem of the lexeme at `index`, where the parser stopped."""
    return (
        _range(text, lexemes, index)
        or _hyphen(text, lexemes, index)
        or _by_name(text, lexemes, index, stop)
        or _two_ways(text, lexemes, index, stop)
        or _among(text, lexemes, index, stop)
        or _fraction_of_a_wait(text, lexemes[index], stop)
    )


def _range(text: Text, lexemes: Sequence[Lexeme], index: int) -> Problem | None:
    """`age: int in 0..120` where a field is declared."""
    if lexemes[index].text != "in" or index < 3:
        return None
    name, colon, base = lexemes[index - 3 : index]
    if colon.text != ":" or base.text not in _NUMBERS:
        return None
    end = index + 1
    while end < len(lexemes) and (
        lexemes[end].sort == "number" or lexemes[end].text in ("-", "..")
    ):
        end += 1
    here = text.span(base.start, lexemes[end - 1].end)
    bounds = text.content[lexemes[index].start : lexemes[end - 1].end]
    called = pascal(name.text)
    return Problem(
        "DEED101",
        here,
        "a range needs a type of its own",
        label=f"write `{called}`",
        hints=(
            f"Write `type {called} = {base.text} {bounds}` before the machine, and here `{name.text}: {called}`.",
        ),
    )


def _hyphen(text: Text, lexemes: Sequence[Lexeme], index: int) -> Problem | None:
    """`due-date` for a name."""
    if lexemes[index].text != "-" or not 0 < index < len(lexemes) - 2:
        return None
    before, here, after, then = lexemes[index - 1 : index + 3]
    close = before.end == here.start and here.end == after.start
    if not close or before.sort != "word" or after.sort != "word" or then.text != ":":
        return None
    span = text.span(before.start, after.end)
    meant = f"{before.text}_{after.text}"
    return Problem(
        "DEED101",
        span,
        f"`{before.text}-{after.text}` is no name",
        label=f"did you mean `{meant}`?",
        hints=("Names are made of the letters a to z, digits and `_`.",),
        fixes=(Fix(f"Write `{meant}`", (Edit(span, meant),)),),
    )


def _by_name(
    text: Text, lexemes: Sequence[Lexeme], index: int, stop: Stop
) -> Problem | None:
    """`charge(amount: 5)` or `charge(amount=5)`."""
    here = lexemes[index]
    if (
        here.text not in (":", "=")
        or index < 2
        or not stop.expected >= {"RPAR", "PLUS"}
    ):
        return None
    before, opener = lexemes[index - 1], lexemes[index - 2]
    if before.sort != "word" or opener.text not in ("(", ","):
        return None
    span = text.span(before.start, here.end)
    end = lexemes[index + 1].start if index + 1 < len(lexemes) else here.end
    edit = Edit(text.span(before.start, end), "")
    return Problem(
        "DEED101",
        span,
        "arguments are given by place, not by name",
        label="leave the name out",
        fixes=(Fix("Leave the name out", (edit,)),),
    )


def _two_ways(
    text: Text, lexemes: Sequence[Lexeme], index: int, stop: Stop
) -> Problem | None:
    """`a if test else b`, and `test ? a : b`."""
    here = lexemes[index]
    if here.text not in ("if", "?") or not stop.expected >= _OPERATORS:
        return None
    return Problem(
        "DEED101",
        text.span(here.start, here.end),
        f"`{here.text}` does not belong here",
        label="expected an operator, or the end of the value",
        hints=("A value that is one of two is written `if test then a else b`.",),
    )


def _among(
    text: Text, lexemes: Sequence[Lexeme], index: int, stop: Stop
) -> Problem | None:
    """`when who in voters`, `who not in voters`, `x is not none`, `phase in A, B`."""
    if index < 1:
        return None
    here, before = lexemes[index], lexemes[index - 1]
    words = [lexeme.text for lexeme in lexemes[index : index + 2]]
    if here.text == "in" and before.text in ("phase", "old", "new"):
        hint = f"Which state it is in is asked with `{before.text} is A | B`."
    elif "LBRACE" not in stop.expected:
        return None
    elif before.text == "not" and here.text == "none":
        hint = "Whether there is a value is asked with `!= none`."
    elif here.text == "in" or words == ["not", "in"]:
        no = "not " if here.text == "not" else ""
        hint = (
            f"Whether a list has it is asked with `{no}any(each in items, each == …)`."
        )
    else:
        return None
    return Problem(
        "DEED101",
        text.span(here.start, here.end),
        f"`{here.text}` does not belong here",
        hints=(hint,),
    )


def _fraction_of_a_wait(text: Text, here: Lexeme, stop: Stop) -> Problem | None:
    """`jitter 0.2`, and a wait without its unit."""
    if here.sort != "number":
        return None
    span = text.span(here.start, here.end)
    if "PERCENT" in stop.expected and here.text.startswith("0."):
        percent = f"{round(float(here.text) * 100)}%"
        return Problem(
            "DEED101",
            span,
            "a jitter is a share in percent",
            label=f"did you mean `{percent}`?",
            fixes=(Fix(f"Write `{percent}`", (Edit(span, percent),)),),
        )
    if (
        stop.expected == frozenset(("DURATION",))
        and here.text.replace("_", "").isdecimal()
    ):
        return Problem(
            "DEED101",
            span,
            f"`{here.text}` has no unit",
            label="expected a duration such as `30s`",
            hints=(f"Write `{here.text}ms` or `{here.text}s`.",),
        )
    return None
