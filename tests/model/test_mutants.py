"""Machines with one mistake: each is found, with the fewest faults and steps it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from deedbox import Due, Refused
from deedbox.step import AnyMachine, Step, step
from deedbox_checker.environment import Undo
from deedbox_checker.subjects import Subject
from deedbox_checker.verify import Report, verify
from msgspec.structs import replace

from .specimens import lease, order, subject, with_machine


def broken(report: Report) -> dict[str, tuple[int, int] | None]:
    """What does not hold, and the faults and steps of its run."""
    return {
        verdict.name: None
        if verdict.trace is None
        else (verdict.trace.faults, len(verdict.trace.lines))
        for verdict in report.verdicts
        if not verdict.holds
    }


def explored(each: Subject) -> dict[str, tuple[int, int] | None]:
    return broken(verify(each.machine, each.module))


Reduce: TypeAlias = Callable[[Any, Any], Any]


def phase(state: object) -> str:
    return type(state).__name__


def mutant(each: Subject, change: Callable[[Reduce], Reduce]) -> Subject:
    """The subject with another reducer around its own."""
    return with_machine(each, reduce=change(each.module.machine.reduce))


def test_a_new_key_for_every_issue_charges_twice() -> None:
    """Asking again after silence under a new key: two charges, without any fault."""

    def always_new(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            result = reduce(state, message)
            if phase(state) == "PaymentSilent" and not isinstance(result, Refused):
                new, (charge,) = result
                if phase(new) == "PaymentRunning":
                    key = charge.idempotency_key.rsplit("/", 1)[0] + f"/{new.ticket}"
                    charge = replace(charge, idempotency_key=key)
                    return replace(new, deed_number=new.ticket), (charge,)
            return result

        return reduced

    found = explored(mutant(order(), always_new))
    assert found["one_charge"] == (0, 9)
    assert found["keeps_money"] is not None


def test_an_undo_that_does_not_void_keeps_the_money() -> None:
    """The refund comes before the silent charge: nothing to give back, then it lands."""
    each = order()
    report = verify(each.machine, each.module, undo=Undo.NOTHING)
    assert broken(report)["keeps_money"] == (0, 9)


def test_one_issue_more_than_the_policy_says_is_found() -> None:
    """Off by one: five issues under a policy of four; a crash makes no issue."""
    code = ("state.attempt >= LADDER_ATTEMPTS", "state.attempt > LADDER_ATTEMPTS")
    found = explored(subject("shop/orders.deed", "Order", code=code))
    assert found["issues_are_bounded"] == (0, 17)


def test_silence_taken_for_a_failure_keeps_the_money() -> None:
    rewrite = ("=> retry ladder then abort with undo", "=> retry ladder then abort")
    found = explored(subject("shop/orders.deed", "Order", rewrite=rewrite))
    assert "keeps_money" in found


def test_an_answer_to_an_earlier_issue_that_is_believed() -> None:
    def credulous(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            if phase(message) == "ReserveReserved" and phase(state) == "StockRunning":
                message = replace(message, ticket=state.ticket)
            return reduce(state, message)

        return reduced

    found = explored(mutant(order(), credulous))
    assert found["late_answers_change_nothing"] is not None
    assert found["late_answers_change_nothing"][0] == 1


def test_a_retry_before_its_time() -> None:
    def impatient(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            if isinstance(message, Due) and phase(state) == "PaymentBackoff":
                message = Due(max(message.at, state.due))
            return reduce(state, message)

        return reduced

    found = explored(mutant(order(), impatient))
    assert found["no_early_wake"] is not None
    assert found["no_early_wake"][0] == 1


def test_a_deadline_that_nobody_wakes_for() -> None:
    each = order()
    wake = each.module.machine.wake

    def forgetful(state: Any) -> Any:
        return None if phase(state) == "PaymentBackoff" else wake(state)

    found = explored(with_machine(each, wake=forgetful))
    assert found["wakes_at_the_soonest_deadline"] is not None
    assert found["ends"] is not None


def test_an_undo_that_is_left_out_keeps_the_money() -> None:
    """The stock is released, and the payment is forgotten."""
    each = order()
    refunded = next(s for s in each.module.machine.states if s.__name__ == "Refunded")

    def forgetful(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            result = reduce(state, message)
            if phase(message) == "ReleaseReleased" and not isinstance(result, Refused):
                names = refunded.__struct_fields__
                return refunded(**{name: getattr(state, name) for name in names}), ()
            return result

        return reduced

    found = explored(mutant(each, forgetful))
    assert found["keeps_money"] is not None
    assert found["as_specified"] is not None


def test_a_reducer_that_raises() -> None:
    def fragile(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            if phase(state) == "StockBackoff":
                raise ValueError("not thought of")
            return reduce(state, message)

        return reduced

    assert explored(mutant(order(), fragile))["no_exception"] is not None


def test_a_reducer_that_reads_something_else() -> None:
    calls = iter(range(10**9))

    def fickle(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            result = reduce(state, message)
            if isinstance(result, Refused):
                return result
            new, commands = result
            if phase(new) == "StockRunning":
                new = replace(new, attempt=1 + next(calls) % 2)
            return new, commands

        return reduced

    assert explored(mutant(order(), fickle))["deterministic"] is not None


def test_a_final_state_that_goes_on() -> None:
    each = order()
    states = each.module.machine.states
    backoff = next(state for state in states if state.__name__ == "PaymentBackoff")

    def restless(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            if phase(state) == "Refunded" and phase(message) == "Cancel":
                own = {
                    name: getattr(state, name)
                    for name in backoff.__struct_fields__
                    if hasattr(state, name)
                }
                return backoff(**own, attempt=1, due=message.at), ()
            return reduce(state, message)

        return reduced

    assert explored(mutant(each, restless))["finals_stay"] is not None


def test_a_lease_that_ends_earlier_by_a_renewal() -> None:
    def short(reduce: Reduce) -> Reduce:
        def reduced(state: Any, message: Any) -> Any:
            result = reduce(state, message)
            if phase(message) == "Renew" and not isinstance(result, Refused):
                new, commands = result
                until = min(state.expires, message.at + message.ttl)
                return replace(new, expires=until), commands
            return result

        return reduced

    assert explored(mutant(lease(), short))["only_later"] is not None


def test_a_deadline_that_comes_too_late_for_the_property() -> None:
    rewrite = ("deadline: now + 30s", "deadline: now + 31s")
    found = explored(subject("fleet/lease.deed", "Lease", rewrite=rewrite))
    assert found["drains"] == (0, 5)


def forgets_the_outbox(
    machine: AnyMachine, state: Any, message: Any
) -> Step[Any, Any] | Refused:
    result = step(machine, state, message)
    return result if isinstance(result, Refused) else replace(result, owed=())


def withdraws_nothing(
    machine: AnyMachine, state: Any, message: Any
) -> Step[Any, Any] | Refused:
    result = step(machine, state, message)
    return result if isinstance(result, Refused) else replace(result, withdrawn=None)


@pytest.mark.parametrize(
    ("interpreter", "steps"), [(forgets_the_outbox, 1), (withdraws_nothing, 3)]
)
def test_an_interpreter_that_keeps_its_rows_badly(interpreter: Any, steps: int) -> None:
    each = order()
    found = broken(verify(each.machine, each.module, step=interpreter))
    assert found["rows_are_awaited"] == (0, steps)


def test_without_the_assumption_the_refund_may_fail_for_ever() -> None:
    rewrite = ("assume refund.refunded in the end", "")
    each = subject("shop/orders.deed", "Order", rewrite=rewrite)
    report = verify(each.machine, each.module)
    verdict = next(v for v in report.verdicts if v.name == "money_returns")
    assert verdict.trace is not None
    assert {line.step for line in verdict.trace.loop} >= {"refund ends failed"}
    assert verdict.trace.faults == 0


def test_a_property_whose_premise_never_happens_does_not_pass() -> None:
    rewrite = (
        "leads money_returns: aborted and did(payment) to",
        "leads money_returns: aborted and did(settlement) to",
    )
    each = subject("shop/orders.deed", "Order", rewrite=rewrite)
    report = verify(each.machine, each.module)
    assert not report.holds
    verdict = next(v for v in report.verdicts if v.name == "money_returns")
    assert verdict.broken.startswith("VACUOUS")


def test_a_fault_that_is_left_out_by_the_spec_must_exist() -> None:
    rewrite = (
        "check { assume refund.refunded",
        "check { faults all except lightning assume refund.refunded",
    )
    each = subject("shop/orders.deed", "Order", rewrite=rewrite)
    report = verify(each.machine, each.module)
    assert report.incomplete.startswith("there is no fault `lightning`")


def test_a_search_that_does_not_end_names_the_field_that_grows() -> None:
    """A counter that is compared with a field and not with a number has no end."""
    rewrite = ("renewals < 100", "renewals < renewals + 1")
    each = subject("fleet/lease.deed", "Lease", rewrite=rewrite)
    report = verify(each.machine, each.module, limit=2_000)
    assert not report.holds
    assert "`renewals` of `Held` has the most values" in report.incomplete


def test_a_search_that_does_not_end_holds_nothing() -> None:
    each = order()
    report = verify(each.machine, each.module, limit=100)
    assert report.incomplete
    assert not report.holds


def test_a_fault_that_is_left_out_is_not_explored() -> None:
    each = order()
    whole = verify(each.machine, each.module)
    less = verify(each.machine, each.module, faults=["late_answer", "early_wake"])
    assert less.states < whole.states
    assert less.faults == ("late_answer", "early_wake")
