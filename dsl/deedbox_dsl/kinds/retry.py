"""A retry as a machine: one command, asked for until it is done, and its rests.

`Running` (asked, not answered), `Waiting` (an answer is retried), `Silent`
(silence is retried, under the same deed), `Pausing` (`continue after`), `Resting`
(`rest`), and the finals that `done` names.  `again` is `retry` with the policy of
the whole, and `spent` is what stands behind its `then`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import syntax
from ..names import Scope
from ..naming import reserved, taken, unknown
from ..policies import is_limited
from ..problems import Problem, has_errors
from ..reserved import CAPTURES
from ..source import Span
from . import asking, rules, trees
from .finals import final
from .trees import Maker


def lower_retry(
    retry: syntax.Retry, scope: Scope
) -> tuple[syntax.Machine | None, tuple[Problem, ...]]:
    """The machine that the retry means, when nothing is wrong with it."""
    found, problems = _plan(retry, scope)
    if found is None or has_errors(problems):
        return None, tuple(problems)
    ends = _finals(found, problems)
    if has_errors(problems):
        return None, tuple(problems)
    parts = list(_parts(found))
    span = retry.name.span
    items: list[syntax.MachineItem] = [
        *(item for item in found.common if isinstance(item, syntax.Key)),
        *(item for item in found.common if isinstance(item, syntax.Given)),
        *(item for item in retry.items if isinstance(item, syntax.Message)),
        *(state for state, _ in parts),
        *ends,
        rules.command(found.attempt),
        *(item for item in found.common if isinstance(item, syntax.Command)),
        syntax.Start(_enter(found, span), span),
        *(
            syntax.Inside((state.name,), tuple(clauses), state.span)
            for state, clauses in parts
            if clauses
        ),
        *rules.in_class_order(found.common),
    ]
    machine = syntax.Machine(
        retry.name, retry.version, tuple(items), retry.doc, retry.span
    )
    return machine, tuple(problems)


@dataclass(frozen=True, slots=True)
class _Plan:
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


# ---- the plan -----------------------------------------------------------------------


def _plan(retry: syntax.Retry, scope: Scope) -> tuple[_Plan | None, list[Problem]]:
    problems: list[Problem] = []
    attempts = [item for item in retry.items if isinstance(item, syntax.Attempt)]
    uses = [item for item in retry.items if isinstance(item, syntax.Uses)]
    spent = [item for item in retry.items if isinstance(item, syntax.Spent)]
    wakes = tuple(item for item in retry.items if isinstance(item, syntax.WakeOn))
    if not attempts:
        text = f"the retry `{retry.name.text}` has no `do`"
        return None, [Problem("DEED304", retry.name.span, text)]
    for word, several in (("do", attempts), ("policy", uses), ("spent", spent)):
        problems += [
            Problem("DEED202", item.span, f"`{word}` is written twice")
            for item in several[1:]
        ]
    written = attempts[0]
    for rule in written.rules:
        problems += rules.misplaced(rule.action, "retry")
    for end in spent:
        problems += rules.misplaced(end.action, "spent")
    again = _again(written, uses, spent, scope, problems)
    if has_errors(problems):
        return None, problems
    attempt = replace(
        written, rules=tuple(_written_out(rule, again) for rule in written.rules)
    )
    problems += rules.unfit(attempt, scope)
    common = rules.common(retry.items)
    own = {
        part.name.text: part.type
        for item in common
        if isinstance(item, syntax.Key | syntax.Given)
        for part in item.fields
    }
    for item in common:
        if isinstance(item, syntax.Key | syntax.Given):
            problems += [
                reserved(part.name, "a field that a retry has by itself")
                for part in item.fields
                if part.name.text in CAPTURES
            ]
    problems += rules.unbound(attempt, {*own, "attempt"})
    messages = [item for item in retry.items if isinstance(item, syntax.Message)]
    problems += rules.wakes(wakes, messages)
    found = _Plan(
        scope,
        common,
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
    """What `again` stands for, when the retry says it and can."""
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
        problems.append(unknown("DEED201", policy, text, scope.policies))
        return None
    ladder = scope.policies[policy.text]
    if ladder is None:
        return None
    if is_limited(ladder):
        if not spent:
            text = f"`{policy.text}` is limited, and nothing says what happens when it is spent"
            hint = "Add `spent => done Exhausted { … }`."
            problems.append(Problem("DEED304", policy.span, text, hints=(hint,)))
            return None
        return syntax.RetryThen(policy, None, spent[0].action, policy.span)
    problems += [
        Problem(
            "DEED504", item.span, f"`{policy.text}` is unlimited, so it is never spent"
        )
        for item in spent
    ]
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


def _finals(found: _Plan, problems: list[Problem]) -> list[syntax.State]:
    """The finals in the order of the rules; two uses of one must agree."""
    ends: dict[str, syntax.State] = {}
    for rule in found.attempt.rules:
        fields = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
        types = {**found.known, **{part.name.text: part.type for part in fields}}
        for part in rules.chain(rule.action):
            if not isinstance(part, syntax.DoneAction):
                continue
            for name in rules.unknown_in(part.init, types):
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


# ---- states ---------------------------------------------------------------------------


def _running_fields(found: _Plan) -> list[syntax.Field]:
    span = found.attempt.command.span
    fields = [
        *asking.loop_fields(found.loop, span),
        *asking.silent_field(found.loop, span),
    ]
    if found.remembers:
        fields.append(trees.field("woken", "bool", span))
    return fields


def _waiting_fields(found: _Plan) -> list[syntax.Field]:
    span = found.attempt.command.span
    return [
        *asking.loop_fields(found.loop, span),
        trees.field("due", "instant", span),
        trees.field("error", "text", span),
    ]


def _parts(found: _Plan) -> Iterator[tuple[syntax.State, list[syntax.Clause]]]:
    span = found.attempt.command.span
    running = asking.state(
        "Running", _running_fields(found), found.attempt.command, span
    )
    yield (
        replace(running, doc=found.attempt.doc),
        [
            *(c for rule in found.attempt.rules for c in _answers(rule, found)),
            *_while_running(found),
        ],
    )
    waiting = _waiting_fields(found)
    if found.loop.answer_retried:
        yield (
            asking.state("Waiting", waiting, None, span),
            [_when_due(found, silent=False), *_ignored(found)],
        )
    if found.loop.silence_retried:
        yield (
            asking.state("Silent", waiting, None, span),
            [_when_due(found, silent=True), *_ignored(found)],
        )
    if found.pauses:
        due = syntax.At(trees.name("due", span), None, _enter(found, span), span)
        yield (
            asking.state("Pausing", [trees.field("due", "instant", span)], None, span),
            [due, *_ignored(found)],
        )
    if found.rests:
        yield asking.state("Resting", [], None, span), list(_at_rest(found))


# ---- clauses ----------------------------------------------------------------------------


def _enter(found: _Plan, span: Span) -> syntax.Block:
    """Ask for the first time of a run of attempts."""
    arguments = trees.bound_arguments(found.attempt.params, {"attempt": trees.one})
    values = asking.first_values(found.loop, span)
    if found.remembers:
        values["woken"] = syntax.BoolLit(False, span)
    do = syntax.Do(found.attempt.command, arguments, span)
    exit_ = trees.goto("Running", _running_fields(found), values, span)
    return syntax.Block((), (do,), exit_, span)


def _when_due(found: _Plan, *, silent: bool) -> syntax.Clause:
    span = found.attempt.command.span
    meanings: dict[str, Maker] = {"attempt": trees.next_attempt}
    arguments = trees.bound_arguments(found.attempt.params, meanings)
    issue: syntax.Issue = syntax.Do(found.attempt.command, arguments, span)
    if silent:
        issue = syntax.Repeat(found.attempt.command, arguments, span)
    values = asking.next_values(found.loop, span)
    if found.remembers:
        values["woken"] = syntax.BoolLit(False, span)
    before = asking.names_of(_waiting_fields(found))
    exit_ = trees.goto("Running", _running_fields(found), values, span, before)
    block = syntax.Block((), (issue,), exit_, span)
    return syntax.At(trees.name("due", span), None, block, span)


def _answers(
    rule: syntax.Rule | syntax.SilenceRule, found: _Plan
) -> Iterator[syntax.Clause]:
    command, out = found.attempt.command, found.out
    for leaf in rules.leaves(rule.action, found.scope, out):
        if isinstance(leaf.action, syntax.Rest) and found.remembers:
            woken = trees.all_of((leaf.guard, trees.var("woken", rule.span)), rule.span)
            yield asking.clause(command, rule, woken, _enter(found, rule.span), out)
        block = _leaf(rule, leaf.action, found)
        yield asking.clause(command, rule, leaf.guard, block, out)


def _leaf(
    rule: syntax.Rule | syntax.SilenceRule,
    action: rules.Terminal | rules.Later,
    found: _Plan,
) -> syntax.Block:
    span = rule.span
    match action:
        case rules.Later():
            values = {
                "due": trees.later(action.wait, action.span),
                "error": rules.last_error(rule, found.out, found.scope),
            }
            title = "Silent" if isinstance(rule, syntax.SilenceRule) else "Waiting"
            before = _running_fields(found)
            fields = _waiting_fields(found)
            return asking.wait(rule, action, title, fields, values, before, found.out)
        case syntax.Continue(after=after):
            values = {"due": trees.later(after, span)}
            exit_ = trees.goto(
                "Pausing", [trees.field("due", "instant", span)], values, span
            )
        case syntax.DoneAction(state=state, init=init):
            outcome = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
            meanings: dict[str, Maker] = {
                part.name.text: trees.of(found.out, part.name.text) for part in outcome
            }
            if not found.loop.counted:
                meanings.setdefault("attempt", trees.one)
            exit_ = asking.finish(state, init, meanings, span)
        case _:
            exit_ = trees.goto("Resting", [], {}, span)
    return syntax.Block((), (), exit_, span)


# ---- wake on ------------------------------------------------------------------------------


def _message(wake: syntax.WakeOn) -> syntax.Trigger:
    return syntax.Trigger(wake.message, None, wake.message.span)


def _while_running(found: _Plan) -> Iterator[syntax.Clause]:
    if not found.remembers:
        yield from _ignored(found)
        return
    for wake in found.wakes:
        yield syntax.On(_message(wake), None, None, asking.woken(wake.span), wake.span)


def _ignored(found: _Plan) -> Iterator[syntax.Clause]:
    """The issue to come covers what was asked for, and its own deadline stands."""
    if found.wakes:
        triggers = tuple(_message(wake) for wake in found.wakes)
        yield syntax.Ignore(triggers, found.wakes[0].span)


def _at_rest(found: _Plan) -> Iterator[syntax.Clause]:
    for wake in found.wakes:
        span = wake.span
        block = _enter(found, span)
        if wake.after is not None:
            values = {"due": trees.later(wake.after, span)}
            fields = [trees.field("due", "instant", span)]
            block = syntax.Block(
                (), (), trees.goto("Pausing", fields, values, span), span
            )
        yield syntax.On(_message(wake), None, None, block, span)
