"""F21: instances of an older version, taken over by a newer one at any moment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from deedbox_checker.reports.data import as_json
from deedbox_checker.reports.text import as_text
from deedbox_checker.verdicts.verify import with_costs

from tests.versions.in_flight import (
    LEASE,
    ORDER,
    RESERVING,
    SPECS,
    Keeping,
    broken,
    counting_anew,
    draining_no_more,
    explored,
    gallery,
    losing_the_key,
    made,
    raising,
    raising_on_reserving,
    told,
    without_versions,
)
from tests.versions.made import picks

LAMP_1 = """\
module lamps

/// A lamp that is switched off by itself.
machine Lamp version 1 {
  key lamp: text

  state Burning { until: instant }
  state Dark
  final Broken

  message Press
  message Drop

  start { goto Burning { until: now + 60s } }

  in Burning {
    on Drop { goto Broken }
    on Press { stay { until: now + 60s } }
    at until { goto Dark }
  }
  in Dark {
    on Press { goto Burning { until: now + 60s } }
    on Drop { goto Broken }
  }
}
"""
LAMP_2 = """\
module lamps

/// A lamp that is switched off by itself, or never.
machine Lamp version 2 {
  key lamp: text

  state Burning { until: instant?, since: instant }
  state Dark
  final Broken

  message Press
  message Drop

  start { goto Burning { until: now + 60s, since: now } }

  in Burning {
    on Drop { goto Broken }
    on Press { stay { .., until: now + 60s } }
    at until { goto Dark }
  }
  in Dark {
    on Press { goto Burning { until: now + 60s, since: now } }
    on Drop { goto Broken }
  }

  leads goes_out: phase is Burning to phase is Dark | Broken

  migrate from 1 {
    MIGRATE
  }
}
"""


def lamp(migrate: str) -> str:
    return LAMP_2.replace("MIGRATE", migrate)


# ---- what holds ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "states", "older"),
    [(ORDER, 2957, 2350), (LEASE, 876, 80)],
)
def test_the_gallery_takes_over_what_version_1_has_begun(
    spec: str, states: int, older: int
) -> None:
    report = explored(gallery(spec))
    assert report.holds, as_text(report)
    assert report.states == states
    assert report.older == ((1, older),)
    assert "from version 1: " in as_text(report)
    assert "upgrade" in report.faults


def three(second: str) -> str:
    """Version 3: a lamp whose second light is called otherwise."""
    first = "migrate from 1 {\n    state Burning { .., since: now }"
    text = lamp("state Burning { .., since: now }").replace("version 2", "version 3")
    text = text.replace("Burning", "Lit").replace(
        "migrate from 1 {\n    state Lit { .., since: now }", first
    )
    return text.replace(first, f"{first}\n  }}\n  migrate from 2 {{\n    {second}")


def test_three_versions_are_taken_over_by_each_later_one() -> None:
    """A row of version 1 goes through version 2 or past it, and all of it holds."""
    two = lamp("state Burning { .., since: now }")
    report = explored(made(LAMP_1, two, three("drop state Burning becomes Lit { .. }")))
    assert report.holds, as_text(report)
    assert [version for version, _ in report.older] == [1, 2]


def test_what_the_second_version_lost_of_the_first_is_found_in_the_third() -> None:
    """By the way past version 2 and by the way through it; the shorter is told."""
    two = lamp("state Burning { .., since: now }")
    third = "drop state Burning becomes Lit { .., until: none }"
    report = explored(made(LAMP_1, two, three(third)))
    assert broken(report) == {"goes_out": (1, 2)}
    assert told(report, "goes_out")[0] in ("Start, in version 1", "Start, in version 2")


def test_a_version_that_cannot_be_explored_says_why() -> None:
    """A number from outside is held against another in a migration."""
    report = explored(made(*picks()))
    assert report.older == ()
    assert [version for version, _ in report.lost] == [1, 2]
    assert all("`size`" in reason for _, reason in report.lost)


def test_a_lamp_goes_out_in_the_new_version_too() -> None:
    subject = made(LAMP_1, lamp("state Burning { .., since: now }"))
    report = explored(subject)
    assert report.holds, as_text(report)


# ---- what is found, with the fewest faults and steps ------------------------------------


def test_an_empty_key_is_found_when_an_undo_is_given_it() -> None:
    """The deed of the charge is lost on the way: a refund would give back nothing."""
    report = explored(losing_the_key())
    assert broken(report) == {"keys_are_own": (1, 8)}
    assert told(report, "keys_are_own")[-2:] == [
        "UPGRADE TO VERSION 2",
        "take the answer reserve.sold_out",
    ]


def test_a_silent_charge_that_a_migration_forgets_keeps_the_money() -> None:
    """No refund was asked for, so nothing voids the key: the charge lands later."""
    forgets = f'{RESERVING}\n    drop state PaymentSilent becomes Refunded {{ cause: "silence" }}'
    report = explored(gallery(ORDER, (RESERVING, forgets)))
    assert broken(report) == {"keeps_money": (1, 6), "money_returns": (1, 6)}
    assert told(report, "keeps_money") == [
        "Start, in version 1",
        "hand out charge",
        "silent_at comes",
        "silent_at fires",
        "charge arrives late and ends paid",
        "UPGRADE TO VERSION 2",
    ]


def test_attempts_that_start_anew_exceed_the_policy() -> None:
    report = explored(counting_anew())
    assert broken(report) == {"issues_are_bounded": (1, 9)}
    assert told(report, "issues_are_bounded")[-1] == "UPGRADE TO VERSION 2"


def test_a_state_that_has_no_deadline_any_more_waits_for_ever() -> None:
    report = explored(made(LAMP_1, lamp("state Burning { until: none, since: now }")))
    assert broken(report) == {"goes_out": (1, 2)}


def test_an_upcaster_that_raises_becomes_nothing() -> None:
    """The row would be parked; the run ends in the state that it stands in."""
    report = explored(raising_on_reserving())
    assert broken(report) == {"upgrades": (1, 5)}
    assert told(report, "upgrades")[-2:] == [
        "take the answer charge.paid",
        "UPGRADE TO VERSION 2",
    ]


def test_an_owed_command_that_cannot_be_read_is_found() -> None:
    """The new state awaits it, and its row would be parked."""
    found = broken(explored(raising(gallery(ORDER), "Reserve", "command")))
    assert found["upgrades"] == (1, 5)


def test_a_command_that_nobody_awaits_is_found_when_it_cannot_be_read() -> None:
    report = explored(raising(gallery(ORDER), "PageOncall", "command"))
    assert set(broken(report)) == {"upgrades"}
    assert told(report, "upgrades")[-1].startswith("take the answer")


def test_a_command_that_is_dropped_and_not_withdrawn_stays_owed() -> None:
    subject = draining_no_more()
    assert explored(subject).holds
    found = broken(explored(subject, reads=Keeping))
    assert found["rows_are_awaited"] == (1, 4)


def notes(version: int, message: str, tells: str) -> str:
    migrate = "migrate from 1 { state Open { pages: 0 } }" * (version == 2)
    field = " { pages: int }" * (version == 2)
    sets = " { pages: 0 }" * (version == 2)
    return f"""\
module notes

/// Somebody who leaves notes.
machine Writer version {version} {{
  key writer: text
  state Open{field}
  final Gone
  message Write {{ words: text }}
  message Leave
  start {{ goto Open{sets} }}
  in Open {{
    on Write as m {{ tell Board("hall") {tells} stay }}
    on Leave {{ goto Gone }}
  }}
  {migrate}
}}

/// Where notes hang.
machine Board version 1 {{
  key board: text
  state Hanging
  message {message}
  start {{ goto Hanging }}
  in Hanging {{ on Pin {{ stay }} }}
  allow DEED406 "a board hangs for ever"
}}
"""


def test_a_message_on_its_way_to_a_machine_that_wants_more_is_found() -> None:
    """What is told is read in the words of who is told; a row without them is parked."""
    one = notes(1, "Pin { words: text }", "Pin { words: m.words }")
    same = notes(2, "Pin { words: text }", "Pin { words: m.words }")
    assert explored(made(one, same)).holds
    more = notes(
        2, "Pin { words: text, by: text }", "Pin { words: m.words, by: writer }"
    )
    report = explored(made(one, more))
    assert broken(report) == {"upgrades": (0, 2)}
    assert told(report, "upgrades") == ["Start, in version 1", "Write"]


# ---- how it is explored -----------------------------------------------------------------


def test_fewer_attempts_in_the_new_policy_are_no_fault_of_older_instances() -> None:
    """What asked three times by a policy of four has not broken one of two."""
    subject = made(errand(1, "attempts 4"), errand(2, "attempts 2"))
    report = explored(subject)
    assert report.holds, as_text(report)


def errand(version: int, attempts: str) -> str:
    migrate = "migrate from 1 { state Running { .., note: none } }" * (version == 2)
    field = ", note: text?" * (version == 2)
    sets = ", note: none" * (version == 2)
    return f"""\
module errands

policy brief {{ first 1s factor 2 max 8s {attempts} jitter none }}

/// Something is fetched.
machine Errand version {version} {{
  key errand: text
  state Running {{ attempt: int{field} }} awaits fetch
  state Waiting {{ attempt: int, due: instant }}
  final Done
  command fetch(errand: text) -> found | missing
  start {{ do fetch(errand) goto Running {{ attempt: 1{sets} }} }}
  in Running {{
    on fetch.found {{ goto Done }}
    on fetch.missing when attempt >= brief.attempts {{ goto Done }}
    on fetch.missing {{ goto Waiting {{ attempt, due: now + wait(brief, attempt) }} }}
  }}
  in Waiting {{
    at due {{ do fetch(errand) goto Running {{ attempt: attempt + 1{sets} }} }}
  }}
  {migrate}
}}
"""


def test_a_type_that_is_called_otherwise_is_explored_where_nobody_compares_it() -> None:
    """The values of a type go by its name; what was not told apart cannot be now."""
    one = (SPECS / ".shapes" / "lease.1" / "fleet" / "leases.deed").read_text("utf-8")
    two = (SPECS / "fleet" / "lease.deed").read_text("utf-8")
    carried = made(one, two.replace("ResourceId", "Thing"), spec="lease.deed")
    assert explored(carried).lost == ()
    compared = made(one, two.replace("HolderId", "Somebody"), spec="lease.deed")
    (lost,) = explored(compared).lost
    assert lost == (1, "`holder` has another type now, and is told apart by it")


def test_without_the_fault_nothing_older_is_explored() -> None:
    subject = gallery(LEASE)
    report = explored(subject, faults=["crash"])
    assert report.older == ()
    assert "upgrades" not in [verdict.name for verdict in report.verdicts]
    bounds = replace(subject.machine.bounds, excepted_faults=("upgrade",))
    excepted = replace(subject, machine=replace(subject.machine, bounds=bounds))
    assert "upgrade" not in explored(excepted).faults


def test_the_cost_of_the_fault_is_told() -> None:
    """Everything that version 1 becomes, version 2 becomes by itself, too."""
    subject = gallery(LEASE)
    report = explored(subject)
    told = with_costs(report, subject.machine, subject.module, subject.older)
    assert dict(told.costs)["upgrade"] == 0
    dropped = made(LAMP_1, lamp("state Burning { until: none, since: now }"))
    report = explored(dropped)
    told = with_costs(report, dropped.machine, dropped.module, dropped.older)
    assert dict(told.costs)["upgrade"] > 0


# ---- a version of which only the shape is there -----------------------------------------


def test_a_version_without_its_specs_is_known_by_its_shape() -> None:
    subject = gallery(ORDER)
    known = replace(subject, older=without_versions(subject))
    report = explored(known)
    assert report.holds, as_text(report)
    assert report.older == ()
    assert report.lost == ((1, "its specs are not kept"),)
    assert "from version 1: what its states may hold" in as_text(report)
    assert as_json(report)["older"] == [
        {"version": 1, "states": None, "unexplored": "its specs are not kept"}
    ]


def test_by_its_shape_a_state_that_becomes_nothing_is_found() -> None:
    subject = raising_on_reserving()
    report = explored(replace(subject, older=without_versions(subject)))
    (verdict,) = (each for each in report.verdicts if not each.holds)
    assert verdict.name == "upgrades"
    assert "a stored Reserving of version 1" in verdict.broken


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("state Dark", "state Dark { deep: bool }"), "no longer compile"),
        (
            ("instant }\n  state Dark", "instant }\n  state Dim\n  state Dark"),
            "no longer",
        ),
        (("machine Lamp", "machine Torch"), "have no Lamp"),
        (("version 1", "version 3"), "say something else than its shape"),
    ],
)
def test_specs_that_do_not_fit_the_shape_are_not_explored(
    change: tuple[str, str], why: str
) -> None:
    migrate = lamp("state Burning { .., since: now }")
    (known,) = made(LAMP_1, migrate, kept={1: LAMP_1.replace(*change)}).older
    assert known.machine is None
    assert why in known.lost
