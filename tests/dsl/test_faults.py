"""The faults that a spec may name are those that the explorer has a switch for."""

from __future__ import annotations

from deedbox_checker.environment import labels
from deedbox_dsl.check import properties


def test_a_spec_may_leave_out_what_the_explorer_can() -> None:
    assert list(labels.FAULTS) == list(properties.FAULTS)
