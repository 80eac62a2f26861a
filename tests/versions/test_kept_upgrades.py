"""A counterexample that an older version has begun, kept as a test of the newer code.

The test begins with the row that the older version would have stored; a project has no
code of it any more.  It fails as long as the migration is wrong, in memory and on SQLite.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from deedbox_checker.counterexample.command import written
from deedbox_checker.counterexample.unmapped import Unmapped
from deedbox_checker.subjects.subjects import Subject
from deedbox_dsl import Program, compile
from deedbox_generator.emit import emit

from tests.versions.in_flight import (
    ORDER,
    RESERVING,
    ROOT,
    SPECS,
    Keeping,
    counting_anew,
    draining_no_more,
    explored,
    gallery,
    losing_the_key,
    made,
    raising_on_reserving,
)
from tests.versions.made import compiled
from tests.versions.test_upgrade_in_flight import LAMP_1, lamp, notes, three

PATHS = [str(ROOT / name) for name in ("checker", "dsl", "generator", "runtime")]
CARRIED = "state Burning { .., since: now }"
LOST = "state Burning { until: none, since: now }"
FORGETS = (
    RESERVING,
    f'{RESERVING}\n    drop state PaymentSilent becomes Refunded {{ cause: "silence" }}',
)
"""Nobody asks for a refund of what fell silent in version 1."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """A property that a migration breaks; `wrong` and `right` are the later version."""

    property: str
    subject: Callable[[], Subject]
    wrong: Callable[[], Mapping[str, str]]
    right: Callable[[], Mapping[str, str]]


def package(program: Program, path: str) -> Mapping[str, str]:
    return emit(program.modules, program.texts, nested=True)[path]


def orders(*rewrite: tuple[str, str]) -> Mapping[str, str]:
    """The order of the gallery, its text changed."""
    folder = SPECS / ".shapes"
    shapes = {path.name: path.read_text("utf-8") for path in folder.glob("*.json")}
    texts = {
        f"specs/{path}": (SPECS / path).read_text("utf-8")
        for path in (ORDER, "shop/policies.deed")
    }
    for old, new in rewrite:
        texts[f"specs/{ORDER}"] = texts[f"specs/{ORDER}"].replace(old, new)
    return package(compile(texts, shapes), f"specs/{ORDER}")


def lamps(*texts: str) -> Mapping[str, str]:
    return package(compiled(*texts), "specs/made.deed")


def loses() -> Mapping[str, str]:
    return orders(
        (RESERVING, RESERVING.replace("attempt: 1,", 'attempt: 1, payment_deed: "",'))
    )


def anew() -> Mapping[str, str]:
    backoff = 'state PaymentBackoff { .., cause: "declined before version 2" }'
    return orders((backoff, backoff.replace("..,", "attempt: 1, due,")))


RAISES = """

import dataclasses


def _raises(*_):
    raise ValueError("not thought of")


machine = dataclasses.replace(
    machine, older=(dataclasses.replace(machine.older[0], state=_raises),)
)
"""


def raising() -> Mapping[str, str]:
    texts = dict(orders())
    return {**texts, "orders/order.py": texts["orders/order.py"] + RAISES}


SPECIMENS = {
    "a row that becomes nothing": Specimen(
        "upgrades", raising_on_reserving, raising, orders
    ),
    "a key that is lost": Specimen("keys_are_own", losing_the_key, loses, orders),
    "attempts that start anew": Specimen(
        "issues_are_bounded", counting_anew, anew, orders
    ),
    "a silence that is forgotten": Specimen(
        "keeps_money",
        lambda: gallery(ORDER, FORGETS),
        lambda: orders(FORGETS),
        orders,
    ),
    "money that never returns": Specimen(
        "money_returns",
        lambda: gallery(ORDER, FORGETS),
        lambda: orders(FORGETS),
        orders,
    ),
    "a deadline that is lost": Specimen(
        "goes_out",
        lambda: made(LAMP_1, lamp(LOST)),
        lambda: lamps(LAMP_1, lamp(LOST)),
        lambda: lamps(LAMP_1, lamp(CARRIED)),
    ),
    "a deadline that is lost two versions later": Specimen(
        "goes_out",
        lambda: made(
            LAMP_1,
            lamp(CARRIED),
            three("drop state Burning becomes Lit { .., until: none }"),
        ),
        lambda: lamps(
            LAMP_1,
            lamp(CARRIED),
            three("drop state Burning becomes Lit { .., until: none }"),
        ),
        lambda: lamps(
            LAMP_1, lamp(CARRIED), three("drop state Burning becomes Lit { .. }")
        ),
    ),
}


def kept(subject: Subject, property: str, **options: object) -> str:
    report = explored(subject, **options)
    verdict = next(each for each in report.verdicts if each.name == property)
    assert not verdict.holds
    return written("pytest", subject, verdict, subject.path)


def outcome(folder: Path, test: str, files: Mapping[str, str]) -> tuple[int, str]:
    """The exit status and the words of pytest over a kept test and its package."""
    for name, text in {"pytest.ini": "", "test_kept.py": test, **files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_kept.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *PATHS])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_kept_test_fails_on_the_migration_and_passes_on_its_mending(
    name: str, tmp_path: Path
) -> None:
    each = SPECIMENS[name]
    test = kept(each.subject(), each.property)
    assert "    Stored(\n" in test
    status, said = outcome(tmp_path / "wrong", test, each.wrong())
    assert status == 1, said
    assert "2 failed" in said
    assert "AssertionError" in said
    status, said = outcome(tmp_path / "right", test, each.right())
    assert status == 0, said


def test_such_a_test_is_well_typed(tmp_path: Path) -> None:
    each = SPECIMENS["a key that is lost"]
    outcome(tmp_path, kept(each.subject(), each.property), each.right())
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "test_kept.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": os.pathsep.join([str(tmp_path), *PATHS])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_what_another_reader_does_is_not_kept() -> None:
    with pytest.raises(Unmapped, match="not the one that runs"):
        kept(draining_no_more(), "rows_are_awaited", reads=Keeping)


def test_a_step_of_an_older_version_is_not_kept() -> None:
    """What it tells another machine is read when that is of the later version."""
    one = notes(1, "Pin { words: text }", "Pin { words: m.words }")
    more = notes(
        2, "Pin { words: text, by: text }", "Pin { words: m.words, by: writer }"
    )
    with pytest.raises(Unmapped, match="step of an older version"):
        kept(made(one, more), "upgrades")
