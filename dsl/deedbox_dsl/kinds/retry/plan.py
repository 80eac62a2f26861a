"""The parts of a retry, and whether they fit together.

`again` is `retry` with the policy of the whole, and `spent` is what stands behind its
`then`; both are written out here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ... import syntax
from ...names import Scope, to_import
from ...naming import taken, unknown
from ...policies import is_limited
from ...problems import Problem, has_errors
from ...reserved import CAPTURES
from .. import asking, rules, trees, waking
from ..assembly import common, key_and_given
from ..finals import final
from ..stands import misplaced
from ..unfit import (
    copies_nothing,
    named_like_its_own,
    twice,
    unbound,
    unfit,
    unknown_in,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """`attempt`: with `again` written out.  `out`: how clauses call an outcome."""

    scope: Scope
    common: list[syntax.CommonItem]
    own: Mapping[str, syntax.TypeExpr]
    attempt: syntax.Attempt
    loop: rules.Loop
    wakes: tuple[syntax.WakeOn, ...]
    known: Mapping[str, syntax.TypeExpr]
    out: str

    def acts(self, sort: type[syntax.Continue] | type[syntax.Rest]) -> bool:
        return any(
            isinstance(part, sort)
            for rule in self.attempt.rules
            for part in rules.chain(rule.action)
        )

    @property
    def rests(self) -> bool:
        return self.acts(syntax.Rest)

    @property
    def remembers(self) -> bool:
        """Whether a wake that comes while it runs must not be lost."""
        return self.rests and bool(self.wakes)

    @property
    def pauses(self) -> bool:
        delayed = self.rests and any(wake.after is not None for wake in self.wakes)
        return self.acts(syntax.Continue) or delayed


def plan(retry: syntax.Retry, scope: Scope) -> tuple[Plan | None, list[Problem]]:
    problems: list[Problem] = []
    attempts = [item for item in retry.items if isinstance(item, syntax.Attempt)]
    uses = [item for item in retry.items if isinstance(item, syntax.Uses)]
    spent = [item for item in retry.items if isinstance(item, syntax.Spent)]
    wakes = tuple(item for item in retry.items if isinstance(item, syntax.WakeOn))
    if not attempts:
        text = f"the retry `{retry.name.text}` has no `do`"
        return None, [Problem("DEED304", retry.name.span, text)]
    for word, several in (("do", attempts), ("policy", uses), ("spent", spent)):
        problems += twice(word, several)
    written = attempts[0]
    for rule in written.rules:
        problems += misplaced(rule.action, "retry")
    for end in spent:
        problems += misplaced(end.action, "spent")
    again = _again(written, uses, spent, scope, problems)
    if has_errors(problems):
        return None, problems
    attempt = replace(
        written, rules=tuple(_written_out(rule, again) for rule in written.rules)
    )
    problems += unfit(attempt, scope)
    handed_on = common(retry.items)
    fields = key_and_given(handed_on)
    own = {part.name.text: part.type for part in fields}
    problems += named_like_its_own(fields, "retry", CAPTURES)
    problems += unbound(attempt, {*own, "attempt"})
    messages = [item for item in retry.items if isinstance(item, syntax.Message)]
    problems += waking.wakes(wakes, messages)
    found = Plan(
        scope,
        handed_on,
        own,
        attempt,
        rules.loop(attempt, scope),
        wakes,
        {**own, "attempt": trees.type_name("int", written.span)},
        asking.unused("out", set(own)),
    )
    if found.rests and not wakes:
        text = f"nothing ever wakes `{retry.name.text}` from its rest"
        hint = "Add `message M` and `wake on M`."
        problems.append(Problem("DEED101", retry.name.span, text, hints=(hint,)))
    return found, problems


def _again(
    attempt: syntax.Attempt,
    uses: Sequence[syntax.Uses],
    spent: Sequence[syntax.Spent],
    scope: Scope,
    problems: list[Problem],
) -> syntax.Action | None:
    """What `again` stands for, when the retry says it and can.

    Of a policy that makes no ladder it is not known whether it is limited; the retry
    says so by what it says of `spent`.
    """
    said = [
        part
        for rule in attempt.rules
        for part in rules.chain(rule.action)
        if isinstance(part, syntax.AgainAction)
    ]
    if not said:
        problems += [
            Problem(
                "DEED506", item.policy.span, "no rule says `again`, which this is for"
            )
            for item in uses
        ]
        return None
    if not uses:
        text = "`again` needs a policy"
        hint = "Write `policy P` in the retry."
        problems.append(Problem("DEED304", said[0].span, text, hints=(hint,)))
        return None
    policy = uses[0].policy
    if policy.text not in scope.policies:
        text = f"there is no policy `{policy.text}`"
        instead = to_import(policy.text, scope.elsewhere)
        problems.append(
            unknown("DEED201", policy, text, scope.policies, instead=instead)
        )
        return None
    ladder = scope.policies[policy.text]
    limited = bool(spent) if ladder is None else is_limited(ladder)
    if limited and not spent:
        text = f"`{policy.text}` is limited, and nothing says what happens when it is spent"
        hint = "Add `spent => done Exhausted { … }`."
        problems.append(Problem("DEED304", policy.span, text, hints=(hint,)))
        return None
    if limited:
        return syntax.RetryThen(policy, None, spent[0].action, policy.span)
    never = f"`{policy.text}` is unlimited, so it is never spent"
    problems += [Problem("DEED504", item.span, never) for item in spent]
    return syntax.RetryForever(policy, None, policy.span)


def _written_out(
    rule: syntax.Rule | syntax.SilenceRule, again: syntax.Action | None
) -> syntax.Rule | syntax.SilenceRule:
    return replace(rule, action=_without_again(rule.action, again))


def _without_again(action: syntax.Action, again: syntax.Action | None) -> syntax.Action:
    match action:
        case syntax.AgainAction(span=span) if again is not None:
            return replace(again, span=span)
        case syntax.RetryThen(then=then):
            return replace(action, then=_without_again(then, again))
        case _:
            return action


def finals(found: Plan, problems: list[Problem]) -> list[syntax.State]:
    """The finals in the order of the rules; two uses of one must agree."""
    ends: dict[str, syntax.State] = {}
    for rule in found.attempt.rules:
        fields = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
        types = {**found.known, **{part.name.text: part.type for part in fields}}
        for part in rules.chain(rule.action):
            if not isinstance(part, syntax.DoneAction):
                continue
            problems += copies_nothing("done", part.init)
            for name in unknown_in(part.init, types):
                text = f"there is nothing called `{name.text}` here"
                problems.append(unknown("DEED201", name, text, types))
            end = final(part.state, part.init, types, found.scope, problems)
            before = ends.setdefault(part.state.text, end)
            if before.fields != end.fields:
                text = f"`{part.state.text}` has other fields here than before"
                problems.append(
                    taken(part.state.text, part.state.span, before.span, text)
                )
    order = [*_direct_ends(found.attempt), *ends]
    return [ends[name] for name in dict.fromkeys(order)]


def _direct_ends(attempt: syntax.Attempt) -> Iterator[str]:
    """Finals that a rule names first; those behind a spent policy come after them."""
    for rule in attempt.rules:
        if isinstance(rule.action, syntax.DoneAction):
            yield rule.action.state.text
