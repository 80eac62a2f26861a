"""Two strangers' checkers count the states of each machine: they find as many as ours.

Spin searches depth first and rumur breadth first; neither knows anything of deedbox.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from deedbox_checker.engine import lists, walk
from deedbox_checker.engine.tables import Tables
from deedbox_checker.export.command import explored, exported
from deedbox_checker.export.moves import moves
from deedbox_checker.export.murphi import murphi
from deedbox_checker.export.promela import promela

from ..checker.money_saga import saga
from ..model.specimens import ROOT, SPECS, machines, subject
from .searches import Counts, by_rumur, by_spin

GALLERY = [
    (path.relative_to(ROOT / "specs").as_posix(), name)
    for path in SPECS
    for name in machines(path.relative_to(ROOT / "specs").as_posix())
]
Search = Callable[[str, Path], Counts]


def distinct(tables: Tables) -> int:
    """Steps of one instance that change it, each pair of states once."""
    return sum(len(moves(tables, row)) for row in range(tables.locals))


@pytest.mark.parametrize(("spec", "name"), GALLERY)
def test_spin_and_rumur_find_as_many_states(
    spec: str, name: str, tmp_path: Path
) -> None:
    found = explored(subject(spec, name))
    ours = Counts(found.explored.states, distinct(found.tables))
    assert by_spin(exported(found, "promela"), tmp_path) == ours
    assert by_rumur(exported(found, "murphi"), tmp_path) == ours


@pytest.mark.parametrize("name", ["Landing", "Indexer"])
def test_spin_and_rumur_find_as_many_states_of_two_instances(
    name: str, tmp_path: Path
) -> None:
    found = explored(subject("nerudo/repository.deed", name))
    two = lists.explore(found.tables, 2).states
    assert by_spin(exported(found, "promela", 2), tmp_path).states == two
    assert by_rumur(exported(found, "murphi", 2), tmp_path).states == two


@pytest.mark.parametrize(("write", "search"), [(promela, by_spin), (murphi, by_rumur)])
def test_a_stranger_finds_what_a_shared_state_and_a_joint_crash_reach(
    write: Callable[[Tables, int], str], search: Search, tmp_path: Path
) -> None:
    tables = saga(attempts=1, crashes=2).tables
    two = lists.explore(tables, 2)
    ours = Counts(two.states, walk.transitions(two))
    assert search(write(tables, 2), tmp_path) == ours
    assert ours == Counts(128_502, 481_234)
