"""`release`, `diff` and `migrate` as a user runs them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deedbox.stores.sqlite import SqliteStore
from deedbox.testing import FakeClock
from lease import lease
from orders import order

from tests.versions.made import SPECS
from tests.versions.shelf import Shelf, fixture, phases, put

ROOT = Path(__file__).parents[2]


def deedbox(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deedbox", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A spec at its first version."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "specs").mkdir()
    shutil.copy(SPECS / "pick_1.deed", tmp_path / "specs" / "pick.deed")
    return tmp_path


def next_version(project: Path, number: int) -> None:
    shutil.copy(SPECS / f"pick_{number}.deed", project / "specs" / "pick.deed")


def shapes(project: Path) -> dict[str, str]:
    return {
        path.relative_to(project).as_posix(): path.read_text("utf-8")
        for path in project.rglob("*.json")
    }


# ---- release -----------------------------------------------------------------------------


def test_a_release_records_the_shape_under_its_version(project: Path) -> None:
    ran = deedbox(project, "release")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "Pick 1: recorded in specs/.shapes/pick.1.json\n"
    recorded = json.loads(shapes(project)["specs/.shapes/pick.1.json"])
    assert recorded["states"]["Packing"] == {
        "fields": {"item": "Item"},
        "awaits": "pack",
        "deed": "pack",
    }


def test_each_version_is_recorded_beside_the_others(project: Path) -> None:
    for number in (1, 2, 3):
        next_version(project, number)
        assert deedbox(project, "release").returncode == 0
    assert sorted(shapes(project)) == [
        f"specs/.shapes/pick.{number}.json" for number in (1, 2, 3)
    ]


def test_a_released_version_is_not_recorded_anew_with_another_shape(
    project: Path,
) -> None:
    deedbox(project, "release")
    before = shapes(project)
    spec = project / "specs" / "pick.deed"
    spec.write_text(spec.read_text().replace("note: text", "note: text?"))
    ran = deedbox(project, "release")
    assert ran.returncode == 1
    assert "DEED803" in ran.stderr
    assert "write `version 2`" in ran.stderr
    assert shapes(project) == before


def test_what_is_not_stored_may_change_under_a_version(project: Path) -> None:
    deedbox(project, "release")
    spec = project / "specs" / "pick.deed"
    spec.write_text(spec.read_text().replace("message Go {", "message Go { by: text,"))
    ran = deedbox(project, "release")
    assert ran.stdout == "Pick 1: updated in specs/.shapes/pick.1.json\n"
    assert deedbox(project, "release").stdout == "Pick 1: recorded already\n"


def test_two_machines_of_one_name_have_files_of_their_own(project: Path) -> None:
    """They cannot share a store, so each is released by itself."""
    other = (project / "specs" / "pick.deed").read_text()
    (project / "specs" / "more.deed").write_text(
        other.replace("module warehouse.picks", "module warehouse.more")
    )
    for spec in ("specs/pick.deed", "specs/more.deed"):
        assert deedbox(project, "release", spec).returncode == 0
    assert sorted(shapes(project)) == [
        "specs/.shapes/pick.1.json",
        "specs/.shapes/warehouse.more.pick.1.json",
    ]
    for spec in ("specs/pick.deed", "specs/more.deed"):
        assert "recorded already" in deedbox(project, "release", spec).stdout


def test_a_spec_with_an_error_releases_nothing(project: Path) -> None:
    spec = project / "specs" / "pick.deed"
    spec.write_text(spec.read_text().replace("goto Idle", "goto Ideal"))
    assert deedbox(project, "release").returncode == 1
    assert shapes(project) == {}


# ---- diff --------------------------------------------------------------------------------


def test_a_migrated_version_breaks_no_store(project: Path) -> None:
    ran = deedbox(
        project, "diff", str(SPECS / "pick_1.deed"), str(SPECS / "pick_2.deed")
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "STORE  stored states and owed commands: all migrated" in ran.stdout
    assert "migrated `Fetching` has `silent_at` now" in ran.stdout
    assert "breaks   `wrap` needs a handler" in ran.stdout
    assert "breaks   there is no class `Paused` any more" in ran.stdout


def test_a_version_without_its_migration_breaks_the_store(project: Path) -> None:
    new = project / "specs" / "new.deed"
    text = (SPECS / "pick_2.deed").read_text()
    new.write_text(text[: text.index("  migrate from")] + "}\n")
    ran = deedbox(
        project, "diff", str(SPECS / "pick_1.deed"), str(new), "--format", "json"
    )
    assert ran.returncode == 1
    (machine,) = json.loads(ran.stdout)["machines"]
    store = [each for each in machine["changes"] if each["level"] == "STORE"]
    assert {each["migrated"] for each in store} == {False}
    assert {each["what"] for each in store} >= {
        "`Fetching` has `silent_at` now",
        "there is no state `Paused` any more",
        "`Packing` awaited `pack` and awaits `wrap`",
        "`fetch` may still be owed without `urgent`",
    }
    (line,) = [each["line"] for each in store if "silent_at" in each["what"]]
    assert "state Fetching" in text.split("\n")[line - 1]


def test_a_recorded_shape_stands_for_its_spec(project: Path) -> None:
    deedbox(project, "release")
    next_version(project, 2)
    ran = deedbox(project, "diff", "specs/.shapes/pick.1.json", "specs/pick.deed")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Pick: version 1 to 2" in ran.stdout


def test_a_version_is_compatible_with_itself(project: Path) -> None:
    ran = deedbox(project, "diff", "specs/pick.deed", "specs/pick.deed")
    assert ran.returncode == 0
    assert ran.stdout.count("compatible") == 3


def test_what_is_no_spec_is_a_usage_error(project: Path) -> None:
    (project / "x.json").write_text("{}")
    assert deedbox(project, "diff", "x.json", "specs/pick.deed").returncode == 2
    assert deedbox(project, "diff", "none.deed", "specs/pick.deed").returncode == 2


# ---- migrate -----------------------------------------------------------------------------


def test_a_store_is_migrated_from_the_command_line(tmp_path: Path) -> None:
    def open_store(clock: FakeClock) -> SqliteStore:
        return SqliteStore(tmp_path / "rows.db", clock)

    shelf = Shelf(open_store)
    with shelf.open(order.machine, lease.machine):
        for phase in phases("order.1"):
            row = fixture("order.1", phase)
            row.id = f"o-{phase}"
            put(shelf.store, "Order", 1, row)
        put(shelf.store, "Lease", 1, fixture("lease.1", "Paused"))
    shelf.store.close()
    command = ["migrate", "sqlite:///rows.db", "orders.order", "lease.lease"]
    (tmp_path / "orders").symlink_to(ROOT / "tests" / "replay" / "orders")
    (tmp_path / "lease").symlink_to(ROOT / "tests" / "replay" / "lease")
    ran = deedbox(tmp_path, *command, "--page", "4")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        "Order: 11 rows, 11 brought to version 2, 0 parked",
        "Lease: 1 rows, 1 brought to version 2, 0 parked",
    ]
    again = deedbox(tmp_path, *command).stdout
    assert again.splitlines()[0] == "Order: 11 rows, 0 brought to version 2, 0 parked"


def test_a_module_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    for name, said in (("nowhere.order", "imported"), ("json", "no `machine`")):
        ran = deedbox(tmp_path, "migrate", "sqlite:///rows.db", name)
        assert ran.returncode == 2
        assert said in ran.stderr
