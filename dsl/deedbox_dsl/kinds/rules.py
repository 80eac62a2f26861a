"""A command with rules: what a kind does when an answer, or silence, comes.

A rule's action is a small tree (`retry P then retry Q then abort`).  `leaves`
lays it out as guarded leaves, first match wins: the form of clauses.  Every kind
has the same loop: ask, wait under a policy, ask again; `Loop` says which of its
fields a command needs.  Where an action may stand is a table, one row a kind.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from .. import core, syntax
from ..names import Scope
from ..naming import taken, unknown
from ..policies import duration_text, is_limited, waits_text
from ..problems import Problem
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


# ---- where an action may stand ----------------------------------------------------------

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
        yield unknown("DEED201", policy, text, scope.policies)
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


def unknown_in(
    init: syntax.Init | None, known: Container[str]
) -> Iterator[syntax.Name]:
    """The names that a `done` puns and nobody has."""
    for item in init.items if init is not None else ():
        if isinstance(item, syntax.Pun) and item.name.text not in known:
            yield item.name


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
    for name_text, message in messages.items():
        if name_text not in named:
            text = f"nothing says what happens on `{name_text}`"
            hint = f"Add `wake on {name_text}`; other messages need a plain `machine`."
            yield Problem("DEED401", message.name.span, text, hints=(hint,))


def command(attempt: syntax.Attempt) -> syntax.Command:
    """The command that is asked for, as a plain machine declares it."""
    outcomes = tuple(
        rule.outcome for rule in attempt.rules if isinstance(rule, syntax.Rule)
    )
    return syntax.Command(
        attempt.command,
        trees.without_values(attempt.params),
        outcomes,
        attempt.unrepeatable,
        attempt.doc,
        attempt.span,
    )


def common(items: Iterable[object]) -> list[syntax.CommonItem]:
    """The items that every kind has."""
    found: list[syntax.CommonItem] = []
    for item in items:
        match item:
            case (
                syntax.Key()
                | syntax.Given()
                | syntax.Again()
                | syntax.Command()
                | syntax.Property()
                | syntax.Migrate()
                | syntax.Check()
                | syntax.Allow()
            ):
                found.append(item)
            case _:
                pass
    return found


def in_class_order(items: Iterable[syntax.CommonItem]) -> list[syntax.MachineItem]:
    """What a kind hands on as it is, in the order in which a lowered machine shows it."""
    order = (syntax.Again, syntax.Property, syntax.Migrate, syntax.Check, syntax.Allow)
    given = list(items)
    return [item for sort in order for item in given if isinstance(item, sort)]
