"""Every mistake that the explorer has to find, by the name that the page gives it.

A mistake is in the spec, in the generated code, in the interpreter or at the far side;
each says what shows it, with how many faults and steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from deedbox.codec import Codec
from deedbox.step import AnyMachine, step
from deedbox_checker.environment.far_side import Undo
from deedbox_checker.environment.promises import PROTOCOL, Promises
from deedbox_checker.subjects.subjects import Subject
from deedbox_checker.upgrades.takeover import Reads
from deedbox_checker.verdicts.verify import Report, verify

from tests.versions import in_flight

from . import reducers
from .reducers import Reduce, afterwards, beforehand, changed
from .specimens import lease, order, small, subject


@dataclass(frozen=True, slots=True)
class Mistake:
    """`found`: the properties that show it, each with the faults and the steps of its run."""

    subject: Callable[[], Subject]
    found: Mapping[str, tuple[int, int]]
    promises: Promises = PROTOCOL
    undo: Undo = Undo.VOIDS
    step: Callable[..., Any] = step
    reads: Callable[[AnyMachine], Reads] = Codec

    def report(self, faults: Iterable[str] | None = None) -> Report:
        each = self.subject()
        return verify(
            each.machine,
            each.module,
            older=each.older,
            faults=faults,
            undo=self.undo,
            promises=self.promises,
            step=self.step,
            reads=self.reads,
        )


def broken(report: Report) -> dict[str, tuple[int, int] | None]:
    """What does not hold, and the faults and steps of its run."""
    assert not report.incomplete, report.incomplete
    return {
        verdict.name: None
        if verdict.trace is None
        else (verdict.trace.faults, len(verdict.trace.lines))
        for verdict in report.verdicts
        if not verdict.holds
    }


def without(promise: str) -> Promises:
    """An interpreter that keeps every promise but this one."""
    return replace(PROTOCOL, **{promise: False})


def rewritten(spec: str, name: str, old: str, new: str) -> Callable[[], Subject]:
    return lambda: subject(spec, name, rewrite=(old, new))


def with_own(
    each: Subject, change: Callable[[Subject], Callable[[Reduce], Reduce]]
) -> Subject:
    """The subject with a reducer that knows its states and messages."""
    return changed(each, change(each))


def own(
    change: Callable[[Subject], Callable[[Reduce], Reduce]],
) -> Callable[[], Subject]:
    return lambda: with_own(order(), change)


def unsaid() -> Subject:
    """A machine that says nothing of a message in one of its states."""
    each = small("Errand")
    clauses = tuple(
        clause
        for clause in each.machine.clauses
        if (clause.state, reducers.phase(clause.trigger)) != ("Pausing", "OnMessage")
    )
    return replace(each, machine=replace(each.machine, clauses=clauses))


ORDERS: Final = "shop/orders.deed"
LEASES: Final = "fleet/lease.deed"

IN_THE_INTERPRETER: Final[dict[str, Mistake]] = {
    "stores_first": Mistake(
        lambda: small("Errand"), {"effects_are_stored": (1, 1)}, without("stores_first")
    ),
    "keeps_rows": Mistake(
        lambda: small("Errand"),
        {"rows_are_awaited": (1, 2), "ends": (1, 2)},
        without("keeps_rows"),
    ),
    "withdraws": Mistake(
        order,
        {"rows_are_awaited": (0, 3), "one_issue_is_owed": (0, 4)},
        without("withdraws"),
    ),
    "reaps": Mistake(
        lambda: small("Errand"),
        {"owed_is_handed_out": (1, 2), "ends": (1, 2)},
        without("reaps"),
    ),
    "keeps_keys": Mistake(
        lambda: small("Errand"), {"fetched_once": (1, 6)}, without("keeps_keys")
    ),
    "marks_started": Mistake(
        lambda: small("Launch"), {"handed_out_once": (1, 5)}, without("marks_started")
    ),
    "heeds_tickets": Mistake(
        lambda: small("Errand"),
        {"late_answers_change_nothing": (1, 7), "fetched_once": (1, 13)},
        without("heeds_tickets"),
    ),
    "stores_wakes": Mistake(
        lambda: small("Launch"),
        {"waits_are_justified": (1, 4)},
        without("stores_wakes"),
    ),
    "rearms": Mistake(order, {"ends": (0, 4)}, without("rearms")),
    "checks_rev": Mistake(
        lambda: small("Errand"),
        {"history_is_linear": (1, 4), "rows_are_awaited": (1, 8)},
        without("checks_rev"),
    ),
    "keeps_lives": Mistake(
        lambda: small("Errand"),
        {"history_is_linear": (0, 2), "fetched_once": (0, 7)},
        without("keeps_lives"),
    ),
    "clamps": Mistake(
        lambda: small("Diary"), {"only_later": (1, 2)}, without("clamps")
    ),
}
"""By the promise that is not kept."""

ELSEWHERE: Final[dict[str, Mistake]] = {
    "an undo that does not void": Mistake(
        order, {"keeps_money": (0, 9)}, undo=Undo.NOTHING
    ),
    "a new key for every issue": Mistake(
        lambda: changed(order(), afterwards(reducers.new_key_each_issue)),
        {"one_charge": (0, 9), "keeps_money": (0, 11)},
    ),
    "a key of another instance": Mistake(
        lambda: changed(order(), afterwards(reducers.key_of_another)),
        {"keys_are_own": (0, 5)},
    ),
    "one key for two deeds": Mistake(
        lambda: changed(order(), afterwards(reducers.key_of_the_charge)),
        {"same_arguments": (0, 4)},
    ),
    "silence taken for a failure": Mistake(
        rewritten(
            ORDERS,
            "Order",
            "=> retry ladder then abort with undo",
            "=> retry ladder then abort",
        ),
        {"keeps_money": (0, 6)},
    ),
    "an earlier answer that is believed": Mistake(
        lambda: changed(order(), beforehand(reducers.credulous)),
        {"late_answers_change_nothing": (1, 10)},
    ),
    "an answer of another step that is believed": Mistake(
        own(lambda each: beforehand(reducers.out_of_step(each))),
        {"late_answers_change_nothing": (1, 5), "keeps_money": (1, 6)},
    ),
    "one issue more than the policy says": Mistake(
        lambda: subject(
            ORDERS,
            "Order",
            code=(
                "state.attempt >= LADDER_ATTEMPTS",
                "state.attempt > LADDER_ATTEMPTS",
            ),
        ),
        {"issues_are_bounded": (0, 17)},
    ),
    "a retry before its time": Mistake(
        lambda: changed(order(), beforehand(reducers.impatient)),
        {"no_early_wake": (1, 5)},
    ),
    "a timer that fires after its state was left": Mistake(
        lambda: changed(order(), beforehand(reducers.fires_after_leaving)),
        {"no_early_wake": (1, 2)},
    ),
    "a property that wants wakes on time": Mistake(
        lambda: small("Alarm"), {"in_time": (0, 4)}
    ),
    "a message that is taken for the only one": Mistake(
        lambda: small("Meter"), {"twice": (0, 3)}
    ),
    "a deadline that nobody wakes for": Mistake(
        lambda: reducers.sleeps(order()),
        {"wakes_at_the_soonest_deadline": (0, 4), "ends": (0, 5)},
    ),
    "a deadline that is left as it was": Mistake(
        lambda: changed(small("Meter"), afterwards(reducers.stays)),
        {"no_spin": (0, 3)},
    ),
    "a deadline that goes back and forth": Mistake(
        lambda: changed(small("Meter"), afterwards(reducers.turns_round)),
        {"no_spin": (0, 4)},
    ),
    "a deadline that comes too late for the property": Mistake(
        rewritten(LEASES, "Lease", "deadline: now + 30s", "deadline: now + 31s"),
        {"drains": (0, 5)},
    ),
    "a renewal that shortens": Mistake(
        lambda: changed(lease(), afterwards(reducers.shortens)), {"only_later": (0, 3)}
    ),
    "an undo that is left out": Mistake(
        own(lambda each: afterwards(reducers.skips_an_undo(each))),
        {"as_specified": (0, 11), "keeps_money": (0, 11)},
    ),
    "undos in the wrong order": Mistake(
        lambda: with_own(
            subject(
                ORDERS,
                "Order",
                rewrite=(
                    "  never keeps_money:",
                    "  never out_of_order: phase is PaymentUndoing and did(stock)"
                    " and not undid(stock)\n  never keeps_money:",
                ),
            ),
            lambda each: afterwards(reducers.undoes_in_order(each)),
        ),
        {"out_of_order": (0, 10), "as_specified": (0, 10)},
    ),
    "a final state that goes on": Mistake(
        own(reducers.restless), {"finals_stay": (0, 6)}
    ),
    "a reducer that raises": Mistake(
        lambda: changed(order(), reducers.fragile), {"no_exception": (0, 8)}
    ),
    "a reducer that reads something else": Mistake(
        lambda: changed(order(), reducers.fickle), {"deterministic": (0, 4)}
    ),
    "a reducer that writes into its state": Mistake(
        lambda: changed(order(), reducers.meddling), {"deterministic": (0, 8)}
    ),
    "a state that cannot be read again": Mistake(
        lambda: changed(order(), afterwards(reducers.no_cause)),
        {"survives_storage": (0, 4)},
    ),
    "a message of which nothing is said": Mistake(unsaid, {"total": (0, 5)}),
    "a state that knows nothing of its issue": Mistake(
        lambda: reducers.waits_for_nothing(order()),
        {"awaits_as_declared": (0, 4), "rows_are_awaited": (0, 4)},
    ),
    "a step that forgets what it owes": Mistake(
        order, {"rows_are_awaited": (0, 1)}, step=reducers.forgets_the_outbox
    ),
    "a cursor that skips a record": Mistake(
        lambda: subject(
            "nerudo/repository.deed",
            "Showcase",
            code=("upto=mine[-1].id", "upto=msg.jobs[-1].id"),
        ),
        {"no_record_is_missed": (0, 12)},
    ),
    "an end with something left": Mistake(
        lambda: small("Errand"), {"ends_are_clean": (0, 2)}, without("withdraws")
    ),
}
"""By what is wrong."""

BETWEEN_VERSIONS: Final[Mapping[str, Mistake]] = {
    "a migration that raises": Mistake(
        in_flight.raising_on_reserving, {"upgrades": (1, 5)}
    ),
    "a migration that loses a key": Mistake(
        in_flight.losing_the_key, {"keys_are_own": (1, 8)}
    ),
    "a migration that counts attempts anew": Mistake(
        in_flight.counting_anew, {"issues_are_bounded": (1, 9)}
    ),
    "an upgrade that withdraws nothing": Mistake(
        in_flight.draining_no_more,
        {"rows_are_awaited": (1, 4)},
        reads=in_flight.Keeping,
    ),
}
"""By what the newer version does with what an older one has left."""

MISTAKES: Final[Mapping[str, Mistake]] = {
    **IN_THE_INTERPRETER,
    **ELSEWHERE,
    **BETWEEN_VERSIONS,
}
