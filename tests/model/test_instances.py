"""`instances n`: the product of equal instances, which share nothing."""

from __future__ import annotations

import pytest
from deedbox_checker.engine.several import several
from deedbox_checker.engine.tables import Tables, tables
from deedbox_checker.reports.data import as_json
from deedbox_checker.reports.text import as_text
from deedbox_checker.verdicts.verify import verify

from .specimens import small, subject


@pytest.mark.parametrize(
    ("name", "instances", "states", "orbits"),
    [("Errand", 2, 529, 276), ("Errand", 3, 12_167, 2_300), ("Launch", 2, 196, 105)],
)
def test_independent_instances_reach_every_combination(
    name: str, instances: int, states: int, orbits: int
) -> None:
    """So many states are a power of those of one, the one before its start among them."""
    each = small(name)
    report = verify(each.machine, each.module, instances=instances)
    assert report.holds, as_text(report)
    assert report.several is not None
    assert report.several.states == (report.states + 1) ** instances == states
    assert report.several.orbits == orbits


def test_the_report_says_what_several_instances_add() -> None:
    each = small("Errand")
    report = verify(each.machine, each.module, instances=2)
    line = "  2 instances: 529 states, 276 without telling them apart"
    assert line in as_text(report).splitlines()
    assert as_json(report)["several"] == {
        "instances": 2,
        "states": 529,
        "orbits": 276,
    }
    assert report.verdicts[-1].name == "instances_are_independent"


def test_a_spec_asks_for_its_instances_itself() -> None:
    rewrite = ("page 2  assume", "page 2  instances 2  assume")
    each = subject("nerudo/repository.deed", "Showcase", rewrite=rewrite)
    assert each.machine.bounds.instances == 2
    found = verify(each.machine, each.module, limit=20_000)
    assert found.incomplete.startswith("2 instances have")


def test_one_instance_is_explored_by_itself() -> None:
    each = small("Errand")
    assert verify(each.machine, each.module).several is None


def hands_over() -> Tables:
    """One token: who has it gives it back, and nobody takes it meanwhile."""
    rows = [[(3, 0)], [], [], [(0, 0)]]
    return tables(2, 2, 0, rows, bytes([0]))


def test_instances_that_share_something_are_said_to() -> None:
    found = several(hands_over(), 2)
    assert not isinstance(found, str)
    assert found.states == 3
    assert not found.independent


def test_a_product_without_room_is_not_explored() -> None:
    found = several(hands_over(), 8, room=500)
    assert found == "8 instances have 512 possible states, more than 500"
