"""The kept machines of the gallery are those that made the stored rows of version 1."""

from __future__ import annotations

import msgspec
import pytest
from deedbox_checker.environment.environment import environment
from deedbox_checker.environment.labels import FAULTS
from deedbox_checker.environment.prepared import prepared
from deedbox_checker.environment.reaction import reactions
from deedbox_checker.instance.abstraction import explored_state
from deedbox_checker.search.searching import search
from msgspec import Struct

from tests.versions.in_flight import LEASE, ORDER, gallery
from tests.versions.shelf import document, fixture, phases


@pytest.mark.parametrize(("spec", "version"), [(ORDER, "order.1"), (LEASE, "lease.1")])
def test_every_stored_row_is_a_state_that_its_machine_reaches(
    spec: str, version: str
) -> None:
    (kept,) = gallery(spec).older
    assert kept.machine is not None
    assert kept.module is not None
    made = prepared(kept.machine, kept.module)
    assert not isinstance(made, str)
    steps = environment(made, reactions(made), frozenset(FAULTS.values()))
    worlds = search(steps, 100_000, lambda _: None).closure.states
    reached = {world.state for world in worlds}
    types: dict[str, type[Struct]] = {
        state.__name__: state for state in made.machine.states
    }
    for phase in phases(version):
        row = fixture(version, phase)
        state = msgspec.json.decode(document(row.doc), type=types[phase])
        assert explored_state(made, state, row.at) in reached, phase
