"""What an upgrade does to a command in flight, as the explorer takes it to be."""

from __future__ import annotations

import pytest
from deedbox_checker.reports.text import as_text

from tests.versions.in_flight import broken, explored, made

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
