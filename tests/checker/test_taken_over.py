"""What an upgrade does to a command in flight, as the explorer takes it to be."""

from __future__ import annotations

import pytest
from deedbox_checker.reports.text import as_text

from tests.versions.in_flight import broken, explored, made
from tests.versions.test_upgrade_in_flight import LAMP_1, lamp

BELL_1 = """\
module bells

machine Bell version 1 {
  key bell: text
  state Ringing { silent: instant } awaits ring
  final Rung
  final Unknown
  unrepeatable command ring(bell: text) -> rang
  start { do ring(bell) goto Ringing { silent: now + 60s } }
  in Ringing {
    on ring.rang { goto Rung }
    at silent { goto Unknown }
  }
}
"""
BELL_2 = BELL_1.replace("version 1", "version 2").replace(
    "  in Ringing", "  migrate from 1 { }\n  in Ringing"
)


def test_what_may_be_asked_for_once_is_not_asked_for_again_by_a_newer_version() -> None:
    """R4, R12: the answer that an older process had in hand is given back, and that is all."""
    report = explored(made(BELL_1, BELL_2))
    assert report.holds, as_text(report)
    assert report.older[0][0] == 1


@pytest.mark.parametrize(
    ("pred", "holds"),
    [
        ("count(ring.rang) > 1", True),
        ("phase is Unknown and count(ring.rang) > 0", False),
    ],
)
def test_a_hand_out_of_an_older_version_goes_on_alone(pred: str, holds: bool) -> None:
    """It ends at the far side at most once, and it may when nobody waits any more."""
    stated = BELL_2.replace("  migrate", f"  never stated: {pred}\n  migrate")
    report = explored(made(BELL_1, stated))
    assert ("stated" not in broken(report)) == holds


def test_what_was_met_before_an_upgrade_is_owed_no_more() -> None:
    """F21: an older lamp has burnt; that it is taken over in the dark owes nothing."""
    two = lamp("state Burning { .., since: now }").replace(
        "leads goes_out: phase is Burning to phase is Dark | Broken",
        "eventually burns: phase is Burning",
    )
    report = explored(made(LAMP_1, two))
    assert report.holds, as_text(report)


FETCH_1 = """\
module fetches

policy ladder { first 1s factor 2 max 8s attempts 6 jitter none }

machine Fetch version 1 {
  key fetch: text
  state Asking { attempt: int } awaits ask
  final Got
  final Lost
  command ask(fetch: text) -> got | missing
  start { do ask(fetch) goto Asking { attempt: 1 } }
  in Asking {
    on ask.got { goto Got }
    on ask.missing when attempt < ladder.attempts {
      do ask(fetch)
      goto Asking { attempt: attempt + 1 }
    }
    on ask.missing { goto Lost }
  }
}
"""


@pytest.mark.parametrize(("compared", "holds"), [("<", True), ("<=", False)])
def test_what_an_older_version_may_ask_excuses_no_instance_of_this_one(
    compared: str, holds: bool
) -> None:
    """F21: six times then, three now; four are too many for what begins now."""
    two = FETCH_1.replace("version 1", "version 2").replace("attempts 6", "attempts 3")
    two = two.replace("attempt <", f"attempt {compared}")
    two = two.replace("  in Asking", "  migrate from 1 { }\n  in Asking")
    report = explored(made(FETCH_1, two))
    assert ("issues_are_bounded" not in broken(report)) == holds, as_text(report)
