"""A counterexample kept as a test: it fails on the real interpreter, where it should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from deedbox_checker.counterexample import command
from deedbox_checker.counterexample.command import search
from deedbox_checker.environment.far_side import Undo
from deedbox_checker.subjects.load import load, of_machine
from deedbox_checker.subjects.subjects import Subject
from deedbox_checker.verdicts.verdict import Verdict
from deedbox_checker.verdicts.verify import verify

from .specimens import ROOT, files, order, subject

SPEC = "shop/orders.deed"
PATHS = [str(ROOT / name) for name in ("checker", "dsl", "generator", "runtime")]
SILENCE_IS_FAILURE = (
    "=> retry ladder then abort with undo",
    "=> retry ladder then abort",
)
NEW_KEYS = '''

def _with_new_keys(state: State, msg: Msg) -> Step:
    """Asks again under a new key, whatever was asked before."""
    result = reduce(state, msg)
    if not isinstance(state, PaymentSilent) or isinstance(result, Refused):
        return result
    new, owed = result
    if not isinstance(new, PaymentRunning):
        return result
    asked = tuple(
        msgspec.structs.replace(
            each,
            idempotency_key=each.idempotency_key.rsplit("/", 1)[0] + f"/{new.ticket}",
        )
        for each in owed
    )
    return msgspec.structs.replace(new, deed_number=new.ticket), asked


machine = dataclasses.replace(machine, reduce=_with_new_keys)
'''


def verdict(each: Subject, name: str, undo: Undo = Undo.VOIDS) -> Verdict:
    report = verify(each.machine, each.module, undo=undo)
    return next(known for known in report.verdicts if known.name == name)


def written(format: str, each: Subject, found: Verdict) -> str:
    return command.written(format, each, found, each.path)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def kept(folder: Path, texts: Mapping[str, str], test: str) -> tuple[int, str]:
    """The exit status and the words of pytest over a kept test and its package."""
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "test_kept.py").write_text(test)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_kept.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *PATHS])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_two_charges_happen_in_memory_and_on_sqlite(package: Path) -> None:
    texts = dict(files(SPEC))
    text = texts["orders/order.py"]
    future = "from __future__ import annotations\n"
    assert future in text
    broken = (
        text.replace(future, f"{future}\nimport dataclasses\nimport msgspec\n", 1)
        + NEW_KEYS
    )
    texts["orders/order.py"] = broken
    each = Subject(SPEC, order().machine, of_machine(load(texts), SPEC, "Order"))
    test = written("pytest", each, verdict(each, "one_charge"))
    status, said = kept(package, texts, test)
    assert status == 1, said
    assert "2 failed" in said
    status, said = kept(package, files(SPEC), test)
    assert status == 0, said


def test_money_is_kept_where_an_undo_does_not_void(package: Path) -> None:
    each = order()
    found = verdict(each, "keeps_money", Undo.NOTHING)
    status, said = kept(package, files(SPEC), written("pytest", each, found))
    assert status == 1, said
    assert "2 failed" in said


def test_silence_taken_for_a_failure_keeps_the_money_for_real(package: Path) -> None:
    each = subject(SPEC, "Order", rewrite=SILENCE_IS_FAILURE)
    found = verdict(each, "keeps_money")
    test = written("pytest", each, found)
    status, said = kept(package, files(SPEC, *SILENCE_IS_FAILURE), test)
    assert status == 1, said
    assert "2 failed" in said


def test_the_kept_test_is_well_typed(package: Path) -> None:
    each = order()
    found = verdict(each, "keeps_money", Undo.NOTHING)
    kept(package, files(SPEC), written("pytest", each, found))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "test_kept.py"],
        cwd=package,
        env={**os.environ, "MYPYPATH": os.pathsep.join([str(package), *PATHS])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def without_an_end() -> tuple[Subject, Verdict]:
    """The refund may fail for ever: no test could wait for that."""
    rewrite = ("assume refund.refunded in the end", "")
    each = subject(SPEC, "Order", rewrite=rewrite)
    return each, verdict(each, "money_returns")


def test_a_run_that_goes_round_for_ever_is_kept_as_two_rounds(package: Path) -> None:
    each, found = without_an_end()
    status, said = kept(package, files(SPEC), written("pytest", each, found))
    assert status == 1, said
    assert "2 failed" in said


def test_the_loop_of_a_run_is_drawn_and_is_in_its_data() -> None:
    each, found = without_an_end()
    assert found.trace is not None
    drawn = written("mermaid", each, found)
    assert drawn.startswith("sequenceDiagram\n")
    assert "  loop for ever\n" in drawn
    data = json.loads(written("itf", each, found))
    assert data["loop"] == len(found.trace.lines)
    assert all(set(data["vars"]) < set(state) for state in data["states"])
    again = {k: v for k, v in data["states"][-1].items() if k not in ("#meta", "step")}
    begun = data["states"][data["loop"]]
    assert again == {key: begun[key] for key in again}


def test_a_run_is_found_by_its_id() -> None:
    each, found = without_an_end()
    assert found.trace is not None
    id = found.trace.id(found.name)
    assert search(id, (order(),)) is None
    known = search(id[:5], (order(), each))
    assert known is not None
    assert known[1].name == "money_returns"
