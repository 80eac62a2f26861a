"""`wake on M`: the messages that end a rest, or are remembered until it comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import syntax
from ..naming import taken, unknown
from ..problems import Problem
from ..source import Span
from . import trees


def message(wake: syntax.WakeOn) -> syntax.Trigger:
    return syntax.Trigger(wake.message, None, wake.message.span)


def remembered(wake: syntax.WakeOn) -> syntax.Clause:
    """Remember that a wake came, until the work at hand is done."""
    span = wake.span
    true = syntax.Set(trees.name("woken", span), syntax.BoolLit(True, span), span)
    stay = syntax.Stay(syntax.Init((syntax.CarryOver(span), true), span), span)
    return syntax.On(message(wake), None, None, syntax.Block((), (), stay, span), span)


def wakes(
    found: Sequence[syntax.WakeOn], declared: Sequence[syntax.Message]
) -> Iterator[Problem]:
    """Every declared message wakes it, once; only such messages may be declared."""
    messages = {item.name.text: item for item in declared}
    named: dict[str, Span] = {}
    for wake in found:
        name = wake.message
        if name.text not in messages:
            text = f"there is no message `{name.text}`"
            yield unknown("DEED201", name, text, messages)
        elif name.text in named:
            text = f"`{name.text}` wakes it already"
            yield taken(name.text, name.span, named[name.text], text)
        named.setdefault(name.text, name.span)
    understood = named.keys() <= messages.keys()
    for name_text, message in messages.items():
        if name_text not in named and understood:
            text = f"nothing says what happens on `{name_text}`"
            hint = f"Add `wake on {name_text}`; other messages need a plain `machine`."
            yield Problem("DEED401", message.name.span, text, hints=(hint,))
