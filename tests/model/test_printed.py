"""What is printed of a counterexample: by itself it says what went wrong, and the way out."""

from __future__ import annotations

import re
from functools import cache

from deedbox_checker.counterexample.printed import failure
from deedbox_checker.subjects.subjects import Subject, subjects
from deedbox_checker.verdicts.verify import verify
from deedbox_dsl.problems import has_errors
from deedbox_dsl.program import compile

from tests.versions.in_flight import losing_the_key, raising_on_reserving

from .mistakes import MISTAKES
from .specimens import subject

PAYER = """\
module pay

/// It asks for a payment until it has an answer.
machine Payer version 1 {
  key payer: text
  state Asking { silent_at: instant } awaits pay
  state Waiting { due: instant }
  state Stuck
  final Paid
  final Failed
  message Stop
  command pay(payer: text) -> paid | refused
  start { do pay(payer) goto Asking { silent_at: now + 30s } }
  in Asking {
    on pay.paid { goto Paid }
    on pay.refused { goto Failed }
    on Stop { goto Stuck }
    at silent_at { goto Waiting { due: now + 10s } }
  }
  in Waiting {
    on Stop { goto Failed }
    at due { do pay(payer) goto Asking { silent_at: now + 30s } }
  }
  in Stuck { ignore Stop }
  invariant once: count(pay.paid) <= 1
  leads ends: phase is Waiting to phase is Paid | Failed
  eventually pays: phase is Paid
  allow DEED406 "it may be stuck"
}
"""


@cache
def payer() -> Subject:
    program = compile({"pay.deed": PAYER})
    assert not has_errors(program.problems), program.problems
    return subjects(program)[0]


def printed(each: Subject, name: str) -> list[str]:
    report = verify(each.machine, each.module, older=each.older)
    verdict = next(v for v in report.verdicts if v.name == name)
    assert not verdict.holds, name
    return list(failure(verdict, each.path, each.text))


def joined(each: Subject, name: str) -> str:
    return " ".join(" ".join(printed(each, name)).split())


def decided(lines: list[str], step: str) -> str:
    """The line of the spec beside a step."""
    row = next(line for line in lines if f"  {step}  " in f"{line}  ")
    found = re.search(rf"{re.escape(step)}\s+(\d+)$", row)
    return "" if found is None else PAYER.splitlines()[int(found[1]) - 1].strip()


def test_the_property_is_quoted_as_it_stands_in_the_spec() -> None:
    assert printed(payer(), "ends")[:2] == [
        "pay.deed:26: leads ends  BROKEN",
        "    leads ends: phase is Waiting to phase is Paid | Failed",
    ]


def test_a_property_of_several_lines_is_quoted_in_its_lines() -> None:
    each = subject(
        "nerudo/repository.deed",
        "Showcase",
        rewrite=("implies new.due >= now + 60s", "implies new.due >= now + 61s"),
    )
    assert printed(each, "rests_at_end")[1:3] == [
        "    across rests_at_end: old is Fetching and new is Resting and not old.woken",
        "      implies new.due >= now + 61s",
    ]


def test_a_step_that_the_machine_decided_has_the_line_that_decided_it() -> None:
    lines = printed(payer(), "once")
    assert (
        decided(lines, "silent_at fires")
        == "at silent_at { goto Waiting { due: now + 10s } }"
    )
    assert decided(lines, "due fires").startswith("at due {")
    assert decided(lines, "hand out pay") == ""


def test_the_parts_of_a_property_are_told_at_the_end() -> None:
    said = joined(payer(), "once")
    assert "after step 9: false count(pay.paid) <= 1" in said


def test_what_is_said_of_two_states_says_how_far_instants_lie_apart() -> None:
    each = subject(
        "nerudo/repository.deed",
        "Landing",
        rewrite=(
            "on Resumed   { stay { due: earliest(due, now + 25ms) } }",
            "on Resumed   { stay { due: now + 25ms } }",
        ),
    )
    assert "false new.due <= old.due (1ms later)" in joined(each, "only_earlier")


# ---- the way out -------------------------------------------------------------------------


def test_an_answer_that_was_not_waited_for_is_pointed_at() -> None:
    said = joined(payer(), "once")
    assert (
        "In step 9 a pay ends paid that an earlier step had stopped waiting for" in said
    )
    assert "Ask again under the same key (`repeat`)" in said


def test_a_step_that_forgets_what_has_been_done_is_pointed_at() -> None:
    said = joined(
        subject(
            "shop/orders.deed",
            "Order",
            rewrite=(
                "=> retry ladder then abort with undo",
                "=> retry ladder then abort",
            ),
        ),
        "keeps_money",
    )
    assert "Step 6 goes on without the answer of charge, which has ended paid" in said


def test_a_deadline_that_is_always_faster_is_pointed_at() -> None:
    said = joined(payer(), "ends")
    assert (
        "Round after round a deadline is faster than the answer of pay; ruled out by"
        " `assume pay.paid in the end` or `assume pay.refused in the end`."
    ) in said


def test_a_target_that_comes_too_late_says_by_how_much() -> None:
    each = subject("fleet/lease.deed", "Lease", rewrite=("within 30s", "within 20s"))
    said = joined(each, "drains")
    assert "owed since step 3: phase is Draining" in said
    assert "not there 30s later, and 20s are allowed: phase is Free | Retired" in said
    assert "or allow more time (`within`)" in said


def test_a_run_that_stays_says_where_and_why() -> None:
    said = joined(payer(), "pays")
    assert re.search(r"It stays in (Failed for ever, a final|Stuck for ever \()", said)
    stuck = joined(payer(), "waits_are_justified")
    assert "Give the state an `at` with a deadline" in stuck


def test_an_end_that_is_not_the_one_is_called_an_end() -> None:
    each = subject(
        "computer/sync.deed",
        "SyncRetry",
        rewrite=("Complete | Lost | Exhausted\n", "Complete | Lost\n"),
    )
    said = joined(each, "settles")
    assert "It stays in Exhausted for ever, a final state" in said
    assert (
        "Exhausted is an end: do not go there before, or name it in the property."
        in said
    )


def test_what_a_later_version_cannot_read_is_told_in_its_words() -> None:
    said = joined(raising_on_reserving(), "upgrades")
    assert "version 2 says: ValueError: not thought of" in said
    assert "Say in the `migrate` block what becomes of that state" in said


def test_a_key_that_a_migration_loses_is_seen_to_go() -> None:
    assert "payment_deed: key 1 -> no key of a deed" in joined(
        losing_the_key(), "keys_are_own"
    )


def test_a_spin_is_shown_all_the_way_round() -> None:
    each = MISTAKES["a deadline that goes back and forth"].subject()
    said = joined(each, "no_spin")
    assert "coins: 0 -> 1" in said
    assert "coins: 1 -> 0" in said


def test_a_fault_is_in_capitals_whichever_it_is() -> None:
    each = MISTAKES["a timer that fires after its state was left"].subject()
    assert "A WAKE COMES EARLY" in joined(each, "no_early_wake")
