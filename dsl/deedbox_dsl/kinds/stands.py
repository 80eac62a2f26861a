"""Where an action may stand: a table, one row a place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias, assert_never

from .. import syntax
from ..problems import Problem
from .rules import chain

Stand: TypeAlias = Literal["retry", "fetch", "item", "step", "undo", "spent"]


ALLOWED: Mapping[Stand, tuple[str, ...]] = {
    "retry": ("done", "again", "continue after", "rest", "retry"),
    "fetch": ("next", "rest", "retry"),
    "item": ("next", "retry"),
    "step": ("next", "abort", "abort with undo", "retry"),
    "undo": ("next", "retry … forever"),
    "spent": ("done", "rest"),
}


def word_of(action: syntax.Action) -> str:
    match action:
        case syntax.Next():
            return "next"
        case syntax.AgainAction():
            return "again"
        case syntax.Rest():
            return "rest"
        case syntax.Continue():
            return "continue after"
        case syntax.DoneAction():
            return "done"
        case syntax.Abort(with_undo=with_undo):
            return "abort with undo" if with_undo else "abort"
        case syntax.RetryThen():
            return "retry"
        case syntax.RetryForever():
            return "retry … forever"
        case _:
            assert_never(action)


def misplaced(action: syntax.Action, stand: Stand) -> Iterator[Problem]:
    """The parts of an action that may not stand here, with the list of what may."""
    allowed = ALLOWED[stand]
    for part in chain(action):
        word = word_of(part)
        if word in allowed or (word == "retry … forever" and "retry" in allowed):
            continue
        where = {"retry": "a retry's rule", "spent": "`spent`"}.get(
            stand, f"a rule of {stand}"
        )
        choices = ", ".join(f"`{each}`" for each in allowed)
        text = f"`{word}` may not stand in {where}"
        yield Problem(
            "DEED101", part.span, text, hints=(f"Here may stand: {choices}.",)
        )
