"""A command with rules: what a kind does when an answer, or silence, comes.

A rule's action is a small tree (`retry P then retry Q then abort`).  `leaves`
lays it out as guarded leaves, first match wins: the form of clauses.  Every kind
has the same loop: ask, wait under a policy, ask again; `Loop` says which of its
fields a command needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .. import syntax
from ..names import Scope
from ..policies import duration_text
from ..source import Span
from ..types import Base, Declared
from . import trees

Terminal: TypeAlias = (
    syntax.Next
    | syntax.AgainAction
    | syntax.Rest
    | syntax.Continue
    | syntax.DoneAction
    | syntax.Abort
)


@dataclass(frozen=True, slots=True)
class Later:
    """Wait under the policy, then ask again; `told` sends word of it first."""

    wait: syntax.Expr
    escalate: syntax.Escalate | None
    span: Span


@dataclass(frozen=True, slots=True)
class Leaf:
    """`guard` None: in every case that is left."""

    guard: syntax.Expr | None
    action: Terminal | Later


@dataclass(frozen=True, slots=True)
class Loop:
    """The fields that asking again needs, and how it is entered."""

    attempt: syntax.Attempt
    silence: syntax.SilenceRule | None
    answer_retried: bool
    silence_retried: bool
    since: bool
    told: bool

    @property
    def counted(self) -> bool:
        return self.answer_retried or self.silence_retried

    @property
    def span(self) -> Span:
        return self.attempt.command.span

    def waits(self, answered: str, silent: str) -> Iterator[tuple[str, bool]]:
        """The states that wait to ask again, by these names, and whether after silence."""
        if self.answer_retried:
            yield answered, False
        if self.silence_retried:
            yield silent, True


def loop(attempt: syntax.Attempt, scope: Scope) -> Loop:
    """How often, and after what, the command is asked for again."""
    silence = next(
        (rule for rule in attempt.rules if isinstance(rule, syntax.SilenceRule)), None
    )
    answers = [rule for rule in attempt.rules if isinstance(rule, syntax.Rule)]
    every = [step for rule in attempt.rules for step in chain(rule.action)]
    escalates = any(
        isinstance(step, syntax.RetryForever) and step.escalate is not None
        for step in every
    )
    budgets = any(
        isinstance(step, syntax.RetryThen)
        and _within(step.policy.text, scope) is not None
        for step in every
    )
    return Loop(
        attempt,
        silence,
        answer_retried=any(is_retried(rule.action) for rule in answers),
        silence_retried=silence is not None and is_retried(silence.action),
        since=escalates or budgets,
        told=escalates,
    )


def chain(action: syntax.Action) -> Iterator[syntax.Action]:
    """The action, and what stands behind each `then`."""
    yield action
    while isinstance(action, syntax.RetryThen):
        action = action.then
        yield action


def is_retried(action: syntax.Action) -> bool:
    return isinstance(action, syntax.RetryThen | syntax.RetryForever)


def _within(policy: str, scope: Scope) -> int | None:
    found = scope.policies.get(policy)
    return None if found is None else found.within


# ---- the leaves of an action ------------------------------------------------------


def leaves(action: syntax.Action, scope: Scope, bound: str) -> list[Leaf]:
    """The action as guarded leaves; `bound` names the outcome (for `after w`)."""
    match action:
        case syntax.RetryThen(policy=policy, after=after, then=then, span=span):
            wait = _wait(policy.text, after, bound, span)
            spent = _spent(policy.text, wait, scope, span)
            first = [
                Leaf(trees.all_of((spent, leaf.guard), span), leaf.action)
                for leaf in leaves(then, scope, bound)
            ]
            return [*first, Leaf(None, Later(wait, None, span))]
        case syntax.RetryForever(policy=policy, escalate=escalate, span=span):
            wait = _wait(policy.text, None, bound, span)
            plain = Leaf(None, Later(wait, None, span))
            if escalate is None:
                return [plain]
            return [Leaf(_overdue(escalate), Later(wait, escalate, span)), plain]
        case _:
            return [Leaf(None, action)]


def _wait(
    policy: str, after: syntax.Name | None, bound: str, span: Span
) -> syntax.Expr:
    ladder = trees.call(
        "wait", trees.var(policy, span), trees.var("attempt", span), span=span
    )
    if after is None:
        return ladder
    return trees.call(
        "max", trees.member(bound, after.text, after.span), ladder, span=span
    )


def _spent(
    policy: str, wait: syntax.Expr, scope: Scope, span: Span
) -> syntax.Expr | None:
    found = scope.policies.get(policy)
    tests: list[syntax.Expr] = []
    if found is None or found.attempts is not None:
        limit = trees.member(policy, "attempts", span)
        tests.append(trees.binary(">=", trees.var("attempt", span), limit, span))
    if found is not None and found.within is not None:
        budget = syntax.DurationLit(found.within, duration_text(found.within), span)
        end = trees.binary("+", trees.var("since", span), budget, span)
        tests.append(trees.binary(">", trees.later(wait, span), end, span))
    if len(tests) == 2:
        return trees.binary("or", tests[0], tests[1], span)
    return tests[0] if tests else None


def _overdue(escalate: syntax.Escalate) -> syntax.Expr:
    """`not told and now - since >= d`."""
    span = escalate.span
    told = syntax.Unary("not", trees.var("told", span), span)
    passed = trees.binary("-", syntax.Now(span), trees.var("since", span), span)
    late = trees.binary(">=", passed, escalate.after, span)
    return trees.binary("and", told, late, span)


# ---- the words of an outcome ---------------------------------------------------------


def first_text(outcome: syntax.Outcome, scope: Scope) -> syntax.Field | None:
    """Its first field of text, which says why."""
    for part in outcome.fields:
        if isinstance(part.type, syntax.TypeName):
            kind = scope.types.get(part.type.name.text)
            declared = isinstance(kind, Declared) and kind.base is Base.TEXT
            if declared or part.type.name.text == "text":
                return part
    return None


def reason(
    prefix: str, rule: syntax.Rule | syntax.SilenceRule, bound: str, scope: Scope
) -> syntax.Expr:
    """`"payment.declined: " + out.reason`."""
    if isinstance(rule, syntax.SilenceRule):
        return trees.text(f"{prefix}.silence", rule.span)
    span, outcome = rule.outcome.span, rule.outcome
    why = first_text(outcome, scope)
    said = f"{prefix}.{outcome.name.text}"
    if why is None:
        return trees.text(said, span)
    return trees.binary(
        "+",
        trees.text(f"{said}: ", span),
        trees.member(bound, why.name.text, span),
        span,
    )


def last_error(
    rule: syntax.Rule | syntax.SilenceRule, bound: str, scope: Scope
) -> syntax.Expr:
    """What is kept of the failure while waiting: its text, or else its name."""
    if isinstance(rule, syntax.SilenceRule):
        return trees.text("silence", rule.span)
    span, outcome = rule.outcome.span, rule.outcome
    why = first_text(outcome, scope)
    if why is None:
        return trees.text(outcome.name.text, span)
    said = trees.member(bound, why.name.text, span)
    plain = isinstance(why.type, syntax.TypeName) and why.type.name.text == "text"
    return said if plain else trees.call("text", said, span=span)
