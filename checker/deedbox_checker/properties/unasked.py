"""What has to hold of every machine without being asked, and what each check says.

Those of a single step are found where it is made (`reaction`, `interpreter`); those of a
state are functions of a world here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from deedbox_dsl import core

from ..expressions.bodies import body_expressions
from ..expressions.evaluate import phase
from ..expressions.trees import walk
from ..instance.identity import issued_by
from ..instance.model import Model
from ..instance.world import Row, World
from ..scans.listing import SAYS
from .stated import Test

NO_MORE: Final[Mapping[str, int]] = MappingProxyType({})

UNASKED: dict[str, str] = {
    "total": "every message is handled, ignored or rejected in every state",
    "no_exception": "the reducer raises nothing",
    "deterministic": "the reducer gives the same for the same, and changes neither",
    "finals_stay": "a final state changes only by `on start again`",
    "no_early_wake": "a wake with nothing due changes nothing",
    "late_answers_change_nothing": "an answer to an earlier issue changes nothing",
    "as_specified": "the code follows the clause whose guard holds",
    "wakes_at_the_soonest_deadline": "the wake is the soonest stored deadline",
    "awaits_as_declared": "a state awaits what it declares",
    "survives_storage": "a state, a message and a command survive being stored",
    "history_is_linear": "a commit replaces the state that it was made from",
    "keys_are_own": "every idempotency key belongs to this instance",
    "same_arguments": "asking again under one key asks for the same",
    "issues_are_bounded": "a limited policy asks no more often than it says",
    "one_issue_is_owed": "no more than one issue is owed at a time",
    "owed_is_handed_out": "what is owed is handed out, or no longer asked for",
    "handed_out_once": "what is `unrepeatable` is handed out at most once",
    "effects_are_stored": "nothing is handed out that is not stored",
    "rows_are_awaited": "an issue is owed exactly while its state awaits it",
    "waits_are_justified": "what is not at its end waits for something",
    "ends_are_clean": "what is at its end waits for nothing",
    "no_spin": "deadlines do not fire for ever in one phase at one time",
}
"""The checks that need no spec author, and what each says when it holds."""


def unasked_of(spec: core.Machine) -> dict[str, str]:
    """Those of one machine: a scan has some more."""
    return UNASKED | SAYS if spec.kind == "scan" else UNASKED


def waits_unjustified(model: Model) -> Test:
    """Neither a row, a deadline, nor a message that it is declared to wait for."""
    welcome = {
        clause.state
        for clause in model.spec.clauses
        if isinstance(clause.trigger, core.OnMessage) and moves(clause)
    }
    finals = model.machine.finals

    def test(world: World) -> bool:
        state = world.state
        return (
            state is not None
            and type(state) not in finals
            and world.row in (Row.NONE, Row.SPENT, Row.LOST)
            and (world.unarmed or model.machine.wake(state) is None)
            and phase(state) not in welcome
        )

    return test


def asks_too_often(model: Model, allowed: Mapping[str, int] = NO_MORE) -> Test:
    """More issues than the limited policy has under which a state asks again.

    `allowed`: so many were asked before, by the field that counts them.
    """
    bounds = {
        state: tuple((name, max(most, allowed.get(name, 0))) for name, most in fields)
        for state, fields in issue_bounds(model.spec).items()
    }

    def test(world: World) -> bool:
        for name, most in bounds.get(phase(world.state) or "", ()):
            if cast(int, getattr(world.state, name)) > most:
                return True
        return False

    return test


def issue_bounds(spec: core.Machine) -> dict[str, tuple[tuple[str, int], ...]]:
    """By state that awaits a command: the fields that count issues, and their bounds.

    Where a state may ask again under several policies the longest bounds it, and an
    unlimited one leaves it without a bound.
    """
    ladders = {ladder.name: ladder.attempts for ladder in spec.ladders}
    found: dict[str, dict[str, int]] = {}
    unlimited: set[str] = set()
    for clause in spec.clauses:
        for part in walk(clause.guard) if clause.guard is not None else ():
            match part:
                case core.Binary(
                    left=core.Read("state", name), right=core.Attempts(policy)
                ):
                    fields = found.setdefault(clause.state, {})
                    fields[name] = max(fields.get(name, 0), ladders[policy] or 0)
                case _:
                    pass
        for expr in body_expressions(clause.body) if clause.body is not None else ():
            unlimited |= {
                clause.state
                for part in walk(expr)
                if isinstance(part, core.Wait) and ladders[part.policy] is None
            }
    awaiting = {state.name for state in spec.states if state.awaits is not None}
    return {
        state: tuple(fields.items())
        for state, fields in found.items()
        if state in awaiting - unlimited
    }


def moves(clause: core.Clause) -> bool:
    """Whether a clause is neither a refusal nor a `stay` that sets nothing."""
    if clause.body is None:
        return False
    match clause.body.exit:
        case core.Goto():
            return True
        case core.Stay(fields=fields):
            return bool(clause.body.issues) or any(
                not (
                    isinstance(field.value, core.Read)
                    and field.value.name == field.field
                )
                for field in fields
            )
        case core.Reject():
            return False


def row_unawaited(model: Model) -> Test:
    """A row that no state awaits, or an awaited ticket without its row."""

    def test(world: World) -> bool:
        return world.state is not None and (world.row is Row.NONE) != (
            model.machine.awaited(world.state) is None
        )

    return test


def acts_unstored(world: World) -> bool:
    """The far side knows of a deed that the stored state has not asked for."""
    issued = 0 if world.state is None else issued_by(world.state)
    return any(deed.number > issued for deed in world.deeds)


def is_owed(world: World) -> bool:
    return world.row in (Row.OWED, Row.LOST)


def ends_uncleanly(model: Model) -> Test:
    machine = model.machine

    def test(world: World) -> bool:
        state = world.state
        return (
            state is not None
            and type(state) in machine.finals
            and (world.row is not Row.NONE or machine.wake(state) is not None)
        )

    return test
