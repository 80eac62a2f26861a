"""What does not fit in a command with rules.

Policies against `then` and `forever`, waits, outcomes that have two rules, silence, and
parameters that are bound to nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence, Set
from typing import Protocol

from .. import core, syntax
from ..names import Scope, to_import
from ..naming import reserved, taken, unknown
from ..policies import is_limited, waits_text
from ..problems import Problem
from ..source import Span
from . import trees
from .rules import chain, is_retried


class HasSpan(Protocol):
    @property
    def span(self) -> Span: ...


def unfit(attempt: syntax.Attempt, scope: Scope) -> Iterator[Problem]:
    """Policies that are unknown, or that do not fit `then` or `forever`; waits that are no field."""
    for rule in attempt.rules:
        for part in chain(rule.action):
            if isinstance(part, syntax.RetryThen | syntax.RetryForever):
                yield from _policy(part, scope)
            if isinstance(part, syntax.RetryThen) and part.after is not None:
                yield from _asked_wait(part.after, rule)
    yield from _distinct(attempt)
    yield from _silences(attempt)


def _policy(
    action: syntax.RetryThen | syntax.RetryForever, scope: Scope
) -> Iterator[Problem]:
    policy = action.policy
    if policy.text not in scope.policies:
        text = f"there is no policy `{policy.text}`"
        instead = to_import(policy.text, scope.elsewhere)
        yield unknown("DEED201", policy, text, scope.policies, instead=instead)
        return
    found = scope.policies[policy.text]
    if found is None:
        return
    yield from _ladder_fits(action, policy, found)


def _ladder_fits(
    action: syntax.RetryThen | syntax.RetryForever,
    policy: syntax.Name,
    found: core.Ladder,
) -> Iterator[Problem]:
    limited = is_limited(found)
    waits = f"Its waits: {waits_text(found) or 'none, it asks once'}."
    if isinstance(action, syntax.RetryThen) and not limited:
        text = (
            f"`{policy.text}` is unlimited, so what stands after `then` never happens"
        )
        hint = f"Write `retry {policy.text} forever`."
        yield Problem("DEED504", policy.span, text, hints=(hint, waits))
    elif isinstance(action, syntax.RetryForever) and limited:
        text = f"`{policy.text}` is limited, so it does not go on forever"
        hint = f"Write `retry {policy.text} then …`."
        yield Problem("DEED504", policy.span, text, hints=(hint, waits))


def _asked_wait(
    after: syntax.Name, rule: syntax.Rule | syntax.SilenceRule
) -> Iterator[Problem]:
    fields = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
    known = [part.name.text for part in fields]
    if after.text not in known:
        text = f"this outcome has no field `{after.text}` to wait by"
        yield unknown("DEED303", after, text, known)


def _distinct(attempt: syntax.Attempt) -> Iterator[Problem]:
    """Each outcome has one rule."""
    seen: dict[str, Span] = {}
    for rule in attempt.rules:
        if isinstance(rule, syntax.Rule):
            name = rule.outcome.name
            if name.text in seen:
                yield taken(name.text, name.span, seen[name.text])
            seen.setdefault(name.text, name.span)


def _silences(attempt: syntax.Attempt) -> Iterator[Problem]:
    rules = [rule for rule in attempt.rules if isinstance(rule, syntax.SilenceRule)]
    for again in rules[1:]:
        text = "`silence` has a rule already"
        yield Problem("DEED202", again.span, text, label="declared again here")
    if not rules:
        if attempt.unrepeatable:
            text = (
                f"`{attempt.command.text}` is unrepeatable and may never answer, "
                "and no rule says what happens then"
            )
            hint = "Add `| silence after 30s => …`."
            yield Problem("DEED451", attempt.command.span, text, hints=(hint,))
        return
    silence = rules[0]
    if not is_retried(silence.action):
        return
    if attempt.unrepeatable:
        text = f"`{attempt.command.text}` is unrepeatable, so its silence cannot be retried"
        yield Problem("DEED101", silence.action.span, text)
    for param in attempt.params:
        read = trees.params_read((param,))
        if "attempt" in read:
            text = (
                f"`{param.name.text}` changes with each attempt, but after silence the "
                "same is asked again, word for word"
            )
            yield Problem("DEED308", param.span, text)


def unbound(attempt: syntax.Attempt, known: Set[str]) -> Iterator[Problem]:
    """Parameters that are bound to nothing by their name."""
    for param in attempt.params:
        name = param.name.text
        if param.value is None and name not in known:
            text = (
                f"there is nothing called `{name}` to bind `{attempt.command.text}` to"
            )
            yield unknown("DEED201", param.name, text, known, repairs=False)


def twice(word: str, items: Sequence[HasSpan]) -> Iterator[Problem]:
    """What may stand once in a kind, and stands there again."""
    for item in items[1:]:
        yield Problem("DEED202", item.span, f"`{word}` is written twice")


def named_like_its_own(
    fields: Iterable[syntax.Field], kind: str, own: Container[str]
) -> Iterator[Problem]:
    """Fields that are called like one that the kind has by itself."""
    for part in fields:
        if part.name.text in own:
            yield reserved(part.name, f"a field that a {kind} has by itself")


def copies_nothing(what: str, init: syntax.Init | None) -> Iterator[Problem]:
    """A `..` where there is no state to copy from: `done X { .. }`."""
    for item in init.items if init is not None else ():
        if isinstance(item, syntax.CarryOver):
            text = f"`{what}` names the fields of its state; `..` has nothing to copy"
            yield Problem("DEED304", item.span, text)


def unknown_in(
    init: syntax.Init | None, known: Container[str]
) -> Iterator[syntax.Name]:
    """The names that a `done` puns and nobody has."""
    for item in init.items if init is not None else ():
        if isinstance(item, syntax.Pun) and item.name.text not in known:
            yield item.name
