"""A scan over every list that changes as it likes: what a pass owes, and passes that fail it.

NE-20 to NE-23 of the page, C13 of a last page that is exactly full.
"""

from __future__ import annotations

import pytest
from deedbox_checker.environment.prepared import prepared
from deedbox_checker.instance.limits import long_page
from deedbox_checker.instance.model import Model
from deedbox_checker.reports.text import as_text
from deedbox_checker.scans.pages import longest, paged
from deedbox_checker.subjects.subjects import Subject
from deedbox_checker.verdicts.verify import verify
from deedbox_dsl import roles

from .specimens import files, program, subject

REPOSITORY = "nerudo/repository.deed"


def showcase(
    *,
    rewrite: tuple[str, str] | tuple[()] = (),
    code: tuple[str, str] | tuple[()] = (),
) -> Subject:
    return subject(REPOSITORY, "Showcase", rewrite=rewrite, code=code)


def broken(each: Subject) -> dict[str, tuple[int, int]]:
    """What does not hold, with the faults and the steps that show it."""
    report = verify(each.machine, each.module)
    assert not report.incomplete
    return {
        verdict.name: (
            verdict.trace.faults,
            len(verdict.trace.lines) + len(verdict.trace.loop),
        )
        for verdict in report.verdicts
        if verdict.trace is not None
    }


def test_the_report_says_how_long_a_page_was() -> None:
    each = showcase()
    report = verify(each.machine, each.module)
    assert report.holds, as_text(report)
    assert report.page == 2
    assert "pages of 2 records, lists of up to 5" in as_text(report)


def test_a_page_is_replaced_in_the_clauses_and_in_the_code() -> None:
    """NE-20: a page of 2 asks for 3."""
    found = roles.scan(showcase().machine)
    assert isinstance(found, roles.Scan)
    assert (found.page, longest(found)) == (2, 5)
    text = files(REPOSITORY)["repository/showcase.py"]
    assert ("None, 3)" in text, "None, 33)" in text) == (True, False)
    assert ("msg.jobs[:2]" in text, "msg.jobs[:32]" in text) == (True, False)


def test_a_page_that_is_asked_for_as_it_is_changes_nothing() -> None:
    machine = showcase().machine
    assert paged(machine) is machine


def test_a_page_too_long_to_explore_is_refused() -> None:
    machine = next(
        machine
        for module in program(REPOSITORY).modules
        for machine in module.machines
        if machine.name == "Showcase"
    )
    assert "a page of 32" in long_page(machine)


# ---- mistakes ----------------------------------------------------------------------


def test_asking_for_no_more_than_a_page_stops_after_the_first() -> None:
    """NE-23 the other way round: the look-ahead record is what shows that there is more."""
    assert broken(showcase(code=(", 3)", ", 2)")))["no_record_is_missed"] == (0, 4)


def test_a_cursor_moved_to_the_look_ahead_record_skips_it() -> None:
    """NE-21."""
    code = ("upto=mine[-1].id", "upto=msg.jobs[-1].id")
    assert broken(showcase(code=code)) == {"no_record_is_missed": (0, 12)}


def test_a_full_last_page_taken_for_more_is_found() -> None:
    """C13, NE-22: a list of exactly two records is one page."""
    code = ("len(msg.jobs) > 2", "len(msg.jobs) >= 2")
    assert broken(showcase(code=code))["another_page_only_if_seen"] == (0, 4)


def test_a_cursor_that_stays_takes_records_twice() -> None:
    code = ("upto=mine[-1].id", "upto=state.after")
    found = broken(showcase(code=code))
    assert found == {"no_record_is_taken_twice": (0, 12), "finishes": (0, 18)}


def test_a_record_passed_over_is_missed() -> None:
    code = ("todo=ready[1:]", "todo=ready[2:]")
    assert broken(showcase(code=code)) == {"no_record_is_missed": (0, 7)}


def test_a_record_that_fails_for_ever_holds_the_scan() -> None:
    """NE-25: a record that cannot be done is given up, and the pass goes on."""
    old = "       | failed { error: text } => retry brief then next"
    rewrite = (old, old.replace("brief then next", "steady forever"))
    assert "finishes" in broken(showcase(rewrite=rewrite))


def test_a_list_that_cannot_be_read_is_assumed_to_come_back() -> None:
    rewrite = ("check { page 2  assume list_jobs.page in the end }", "check { page 2 }")
    assert "finishes" in broken(showcase(rewrite=rewrite))


# ---- the list ----------------------------------------------------------------------


@pytest.fixture(name="made", scope="module")
def made_model() -> Model:
    each = showcase()
    found = prepared(each.machine, each.module)
    assert not isinstance(found, str)
    return found


@pytest.mark.parametrize("watched", range(6))
@pytest.mark.parametrize("after", range(6))
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_page_is_in_order_and_shows_the_watched_record(
    made: Model, after: int, limit: int, watched: int
) -> None:
    assert made.listing is not None
    windows = made.listing.windows(after, limit, watched)
    assert windows
    for places in windows:
        assert list(places) == sorted(set(places))
        assert len(places) <= limit
        assert all(after < place <= 5 for place in places)
        if after < watched and watched not in places:
            assert len(places) == limit
            assert max(places) < watched


def test_a_list_may_be_empty_and_may_have_more_than_two_pages(made: Model) -> None:
    assert made.listing is not None
    assert () in made.listing.windows(0, 3, 0)
    assert (5,) in made.listing.windows(4, 3, 5)
