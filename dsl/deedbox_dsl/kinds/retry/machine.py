"""A retry as a machine: one command, asked for until it is done, and its rests.

`Running` (asked, not answered), `Waiting` (an answer is retried), `Silent`
(silence is retried, under the same deed), `Pausing` (`continue after`), `Resting`
(`rest`), and the finals that `done` names.  `again` is `retry` with the policy of
the whole, and `spent` is what stands behind its `then`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ... import syntax
from ...names import Scope
from ...problems import Problem, has_errors
from ...source import Span
from .. import asking, rules, trees, waking
from ..assembly import assembled, command, insides, of_sorts
from ..trees import Maker
from .plan import Plan, finals, plan


def lower_retry(
    retry: syntax.Retry, scope: Scope
) -> tuple[syntax.Machine | None, tuple[Problem, ...]]:
    """The machine that the retry means, when nothing is wrong with it."""
    found, problems = plan(retry, scope)
    if found is None or has_errors(problems):
        return None, tuple(problems)
    ends = finals(found, problems)
    if has_errors(problems):
        return None, tuple(problems)
    parts = list(_parts(found))
    declared: list[syntax.MachineItem] = [
        *(item for item in retry.items if isinstance(item, syntax.Message)),
        *(state for state, _ in parts),
        *ends,
        command(found.attempt),
        *of_sorts(found.common, syntax.Command),
    ]
    start = _enter(found, retry.name.span)
    machine = assembled(retry, found.common, declared, start, insides(parts))
    return machine, tuple(problems)


# ---- states ---------------------------------------------------------------------------


def _running_fields(found: Plan) -> list[syntax.Field]:
    span = found.attempt.command.span
    fields = [
        *asking.loop_fields(found.loop, span),
        *asking.silent_field(found.loop, span),
    ]
    if found.remembers:
        fields.append(trees.field("woken", "bool", span))
    return fields


def _waiting_fields(found: Plan) -> list[syntax.Field]:
    span = found.attempt.command.span
    return [
        *asking.loop_fields(found.loop, span),
        trees.field("due", "instant", span),
        trees.field("error", "text", span),
    ]


def _parts(found: Plan) -> Iterator[tuple[syntax.State, list[syntax.Clause]]]:
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
    for title, silent in found.loop.waits("Waiting", "Silent"):
        yield (
            asking.state(title, waiting, None, span),
            [_when_due(found, silent=silent), *_ignored(found)],
        )
    if found.pauses:
        yield (
            asking.state("Pausing", [trees.field("due", "instant", span)], None, span),
            [asking.at_due(_enter(found, span), span), *_ignored(found)],
        )
    if found.rests:
        yield asking.state("Resting", [], None, span), list(_at_rest(found))


# ---- clauses ----------------------------------------------------------------------------


def _enter(found: Plan, span: Span) -> syntax.Block:
    """Ask for the first time of a run of attempts."""
    values = _not_woken(found, span)
    return asking.first(found.loop, "Running", _running_fields(found), {}, values, span)


def _when_due(found: Plan, *, silent: bool) -> syntax.Clause:
    return asking.again(
        found.loop,
        "Running",
        _running_fields(found),
        _waiting_fields(found),
        {},
        _not_woken(found, found.loop.span),
        silent=silent,
    )


def _not_woken(found: Plan, span: Span) -> dict[str, syntax.Expr]:
    return {"woken": syntax.BoolLit(False, span)} if found.remembers else {}


def _answers(
    rule: syntax.Rule | syntax.SilenceRule, found: Plan
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
    found: Plan,
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
            return _pause(after, span)
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


def _pause(after: syntax.DurationLit, span: Span) -> syntax.Block:
    fields = [trees.field("due", "instant", span)]
    values = {"due": trees.later(after, span)}
    return syntax.Block((), (), trees.goto("Pausing", fields, values, span), span)


# ---- wake on ------------------------------------------------------------------------------


def _while_running(found: Plan) -> Iterator[syntax.Clause]:
    if found.remembers:
        yield from map(waking.remembered, found.wakes)
    else:
        yield from _ignored(found)


def _ignored(found: Plan) -> Iterator[syntax.Clause]:
    """The issue to come covers what was asked for, and its own deadline stands."""
    if found.wakes:
        triggers = tuple(map(waking.message, found.wakes))
        yield syntax.Ignore(triggers, found.wakes[0].span)


def _at_rest(found: Plan) -> Iterator[syntax.Clause]:
    for wake in found.wakes:
        span = wake.span
        block = _enter(found, span) if wake.after is None else _pause(wake.after, span)
        yield syntax.On(waking.message(wake), None, None, block, span)
