"""Generated code with one mistake in it: functions of a machine around its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from deedbox import Due, Refused
from deedbox.step import AnyMachine, Step, step
from deedbox_checker.subjects.subjects import Subject
from msgspec.structs import force_setattr, replace

from .specimens import with_machine

Reduce: TypeAlias = Callable[[Any, Any], Any]


def phase(state: object) -> str:
    return type(state).__name__


def changed(each: Subject, change: Callable[[Reduce], Reduce]) -> Subject:
    """The subject with another reducer around its own."""
    return with_machine(each, reduce=change(each.module.machine.reduce))


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that the reducer has taken."""

    state: Any
    message: Any
    new: Any
    commands: Any


Change: TypeAlias = Callable[[Taken], Any]
"""What comes of a step instead: a state and commands; None leaves it as it is."""


def afterwards(change: Change) -> Callable[[Reduce], Reduce]:
    """A reducer whose steps are changed."""

    def around(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            result = reduce(state, message)
            if isinstance(result, Refused):
                return result
            return change(Taken(state, message, *result)) or result

        return reduced

    return around


def beforehand(change: Callable[[Any, Any], Any]) -> Callable[[Reduce], Reduce]:
    """A reducer that is given another message, or the same."""

    def around(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            return reduce(state, change(state, message) or message)

        return reduced

    return around


def state_of(each: Subject, name: str) -> Any:
    return next(s for s in each.module.machine.states if s.__name__ == name)


def as_state(type_: Any, state: Any, **fields: Any) -> Any:
    """A state of another type with the fields that both have."""
    own = {name for name in type_.__struct_fields__ if hasattr(state, name)}
    return type_(**{name: getattr(state, name) for name in own}, **fields)


# ---- around answers and keys -------------------------------------------------------


def new_key_each_issue(taken: Taken) -> Any:
    """Asking again after silence under a new key."""
    if phase(taken.state) == "PaymentSilent" and phase(taken.new) == "PaymentRunning":
        (charge,) = taken.commands
        key = charge.idempotency_key.rsplit("/", 1)[0] + f"/{taken.new.ticket}"
        charge = replace(charge, idempotency_key=key)
        return replace(taken.new, deed_number=taken.new.ticket), (charge,)
    return None


def key_of_another(taken: Taken) -> Any:
    if taken.commands and phase(taken.new) == "PaymentRunning":
        charge = replace(taken.commands[0], idempotency_key="Order/another/0/1")
        return taken.new, (charge,)
    return None


def key_of_the_charge(taken: Taken) -> Any:
    """The refund is asked for under the key of what it gives back."""
    if phase(taken.state) == "PaymentSilent" and phase(taken.new) == "PaymentUndoing":
        refund = replace(taken.commands[0], idempotency_key=taken.commands[0].deed)
        number = int(refund.deed.rsplit("/", 1)[1])
        return replace(taken.new, deed_number=number), (refund,)
    return None


def credulous(state: Any, message: Any) -> Any:
    """The answer to an earlier reservation is taken for the one that is awaited."""
    if phase(message) == "ReserveReserved" and phase(state) == "StockRunning":
        return replace(message, ticket=state.ticket)
    return None


def out_of_step(each: Subject) -> Callable[[Any, Any], Any]:
    """The answer of another step is taken for the one that is awaited."""
    refunded = next(
        outcome
        for command in each.module.machine.commands
        for outcome in command.outcomes
        if outcome.__name__ == "RefundRefunded"
    )

    def change(state: Any, message: Any) -> Any:
        if phase(message) == "ChargePaid" and phase(state) == "PaymentUndoing":
            return refunded(ticket=state.ticket, at=message.at)
        return None

    return change


# ---- around time -------------------------------------------------------------------


def impatient(state: Any, message: Any) -> Any:
    """A retry before its time."""
    if isinstance(message, Due) and phase(state) == "PaymentBackoff":
        return Due(max(message.at, state.due))
    return None


def fires_after_leaving(state: Any, message: Any) -> Any:
    """The timer of the backoff fires once more when the charge is asked for again."""
    if isinstance(message, Due) and phase(state) == "PaymentRunning":
        return Due(max(message.at, state.silent_at))
    return None


def sleeps(each: Subject) -> Subject:
    """A deadline that nobody wakes for."""
    wake = each.module.machine.wake

    def forgetful(state: Any) -> Any:
        return None if phase(state) == "PaymentBackoff" else wake(state)

    return with_machine(each, wake=forgetful)


def stays(taken: Taken) -> Any:
    """A deadline that has fired and is left as it was."""
    return (taken.state, ()) if isinstance(taken.message, Due) else None


def turns_round(taken: Taken) -> Any:
    """A deadline that has fired changes a number, back and forth."""
    if isinstance(taken.message, Due):
        return replace(taken.state, coins=1 - min(taken.state.coins, 1)), ()
    return None


def shortens(taken: Taken) -> Any:
    """A lease ends earlier by a renewal."""
    if phase(taken.message) == "Renew":
        until = min(taken.state.expires, taken.message.at + taken.message.ttl)
        return replace(taken.new, expires=until), taken.commands
    return None


# ---- around states -----------------------------------------------------------------


def skips_an_undo(each: Subject) -> Change:
    """The stock is released, and the payment is forgotten."""
    refunded = state_of(each, "Refunded")

    def change(taken: Taken) -> Any:
        if phase(taken.message) == "ReleaseReleased":
            return as_state(refunded, taken.state), ()
        return None

    return change


def undoes_in_order(each: Subject) -> Change:
    """The payment is given back before the stock, in the order in which they were done."""
    undoing = state_of(each, "PaymentUndoing")
    refund = next(
        command.struct
        for command in each.module.machine.commands
        if command.name == "refund"
    )

    def change(taken: Taken) -> Any:
        if (
            phase(taken.state) == "SettlementRunning"
            and phase(taken.new) == "StockUndoing"
        ):
            (release,) = taken.commands
            new = as_state(undoing, taken.new)
            own = (release.idempotency_key, release.ticket, new.order)
            return new, (refund(*own, new.ref, new.payment_deed),)
        return None

    return change


def restless(each: Subject) -> Callable[[Reduce], Reduce]:
    """A final state goes on when it is cancelled."""
    backoff = state_of(each, "PaymentBackoff")

    def around(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            if phase(state) == "Refunded" and phase(message) == "Cancel":
                own = as_state(backoff, state, attempt=1, due=message.at)
                return own, ()
            return reduce(state, message)

        return reduced

    return around


def fragile(reduce: Reduce) -> Reduce:
    def reduced(state: Any, message: Any) -> Any:
        if phase(state) == "StockBackoff":
            raise ValueError("not thought of")
        return reduce(state, message)

    return reduced


def fickle(reduce: Reduce) -> Reduce:
    """Reads something else than its state and its message."""
    calls = count()

    def change(taken: Taken) -> Any:
        if phase(taken.new) == "StockRunning":
            return replace(taken.new, attempt=1 + next(calls) % 2), taken.commands
        return None

    return afterwards(change)(reduce)


def meddling(reduce: Reduce) -> Reduce:
    """Writes into the state that it was given."""

    def reduced(state: Any, message: Any) -> Any:
        result = reduce(state, message)
        if phase(state) == "StockBackoff":
            force_setattr(state, "attempt", state.attempt + 1)
        return result

    return reduced


def no_cause(taken: Taken) -> Any:
    """A text that cannot be read again as one."""
    if phase(taken.new) == "PaymentBackoff":
        return replace(taken.new, cause=None), taken.commands
    return None


def waits_for_nothing(each: Subject) -> Subject:
    """A state that declares a command and says that it awaits none."""
    awaited = each.module.machine.awaited

    def unaware(state: Any) -> Any:
        return None if phase(state) == "StockRunning" else awaited(state)

    return with_machine(each, awaited=unaware)


# ---- around the interpreter's step -------------------------------------------------


def forgets_the_outbox(
    machine: AnyMachine, state: Any, message: Any
) -> Step[Any, Any] | Refused:
    result = step(machine, state, message)
    return result if isinstance(result, Refused) else replace(result, owed=())
