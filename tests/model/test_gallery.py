"""Every schedule of the gallery's machines, on the generated code, under all faults."""

from __future__ import annotations

import pytest
from deedbox_checker.reports.text import as_text
from deedbox_checker.verdicts.verify import verify

from .specimens import ROOT, SPECS, files, lease, machines, order, subject


@pytest.mark.parametrize(
    "spec", [path.relative_to(ROOT / "specs").as_posix() for path in SPECS]
)
def test_everything_a_spec_states_holds(spec: str) -> None:
    for name in machines(spec):
        each = subject(spec, name)
        report = verify(each.machine, each.module)
        assert report.holds, as_text(report)


def test_the_order_is_explored_as_far_as_it_goes() -> None:
    """Counts of the explored set: a change here is a change of what is covered."""
    each = order()
    report = verify(each.machine, each.module)
    assert (report.states, report.steps, report.depth) == (2957, 8876, 53)


def test_the_lease_is_explored_as_far_as_it_goes() -> None:
    each = lease()
    report = verify(each.machine, each.module)
    assert (report.states, report.steps, report.depth) == (876, 1943, 106)


def test_what_is_explored_is_what_is_built() -> None:
    texts = files("shop/orders.deed")
    assert "def reduce(state: State, msg: Msg) -> Step:" in texts["orders/order.py"]
