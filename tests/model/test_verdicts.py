"""When a machine does not pass: nothing holds for want of a case or of time.

And what must not change a verdict: the lengths of delays, what nobody reads, the
process.  Each is something that a checker is known to have got wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from deedbox_checker.environment.prepared import prepared
from deedbox_checker.verdicts.verify import Report, verify

from .specimens import PATHS, ROOT, SMALL, lease, order, small, subject

UNUSED = "    on Pass when passed > 2 { goto Closed }"


def explored(name: str) -> Report:
    each = small(name)
    return verify(each.machine, each.module)


def test_a_number_that_grows_for_ever_does_not_hide_a_loop() -> None:
    """No concrete state comes twice, and yet it never ends."""
    report = explored("Trier")
    (verdict,) = (each for each in report.verdicts if not each.holds)
    assert verdict.name == "ends"
    assert verdict.trace is not None
    assert [line.step for line in verdict.trace.loop] == ["due comes", "due fires"]


def test_a_property_of_the_end_is_refused_where_nothing_is_bound_to_happen() -> None:
    """It would be broken by a run that does nothing, which says nothing of the machine."""
    report = explored("Lamp")
    (verdict,) = (each for each in report.verdicts if not each.holds)
    assert verdict.broken == "REFUSED: no step is bound to happen"
    assert verdict.trace is None


def test_a_rule_that_is_never_followed_does_not_pass() -> None:
    report = explored("Turnstile")
    assert all(verdict.holds for verdict in report.verdicts)
    rule = (ROOT / SMALL).read_text().splitlines().index(UNUSED) + 1
    assert report.unreached == ("state Closed", f"line {rule}")
    assert not report.holds


def test_the_length_of_a_delay_adds_no_state() -> None:
    """A deadline is a value, and time goes to the next of them: nothing is polled."""
    rewrite = ("deadline: now + 30s", "deadline: now + 400d")
    longer = subject("fleet/lease.deed", "Lease", rewrite=rewrite)
    counts = [
        (report.states, report.steps)
        for each in (longer, lease())
        for report in [verify(each.machine, each.module)]
    ]
    assert counts[0] == counts[1]


def test_what_no_property_reads_is_not_kept() -> None:
    """Errand counts what was fetched, and nothing else; Launch counts nothing."""
    counted: dict[str, tuple[tuple[str, str], ...]] = {}
    for name in ("Errand", "Launch"):
        each = small(name)
        made = prepared(each.machine, each.module)
        assert not isinstance(made, str)
        counted[name] = made.counted
    assert counted == {"Errand": (("fetch", "fetched"),), "Launch": ()}


def test_the_same_is_found_in_every_process() -> None:
    """The order of sets differs between them; runs, their names and counts do not."""
    words = ("--no-cache", "--format", "json")
    found: list[object] = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "deedbox", "verify", *words, str(ROOT / SMALL)],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join(PATHS),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        reports = json.loads(done.stdout)
        for report in reports:
            del report["seconds"]
        found.append(reports)
    assert found[0] == found[1]


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
