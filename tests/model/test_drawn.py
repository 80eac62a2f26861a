"""A counterexample for other tools: its diagram is one to Mermaid, its data is ITF."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from deedbox_checker.counterexample import command
from deedbox_checker.counterexample.diagram import clean, comment
from deedbox_checker.environment.far_side import Undo
from deedbox_checker.subjects.subjects import Subject
from deedbox_checker.verdicts.verdict import Verdict
from deedbox_checker.verdicts.verify import verify

from .kept_specimens import SPECIMENS, found
from .specimens import order

NAME = r"[A-Za-z]\w*"
TEXT = r"(?:[^#;<>]|#\d+;|<br/>)+"
STATEMENTS = (
    rf"participant {NAME}(?: as {TEXT})?",
    rf"(?P<from>{NAME})->>(?P<to>{NAME}): {TEXT}",
    rf"Note over (?P<over>{NAME}(?:,{NAME})?): {TEXT}",
    r"autonumber",
    r"%% [^{}]*",
)
"""The part of Mermaid's grammar for sequence diagrams that a counterexample needs."""


@cache
def run(name: str) -> tuple[Subject, Verdict]:
    if name == "keeps_money":
        each = order()
        report = verify(each.machine, each.module, undo=Undo.NOTHING)
        return each, next(known for known in report.verdicts if known.name == name)
    made = found(next(each for each in SPECIMENS if each.name == name), "k")
    return made.subject, made.verdict


def written(format: str, name: str) -> str:
    each, verdict = run(name)
    return command.written(format, each, verdict, each.path)


RUNS = [
    "keeps_money",
    "undo_fails",
    "silent_for_ever",
    "too_late",
    "skips_a_record",
    "tells_others",
    "lost_with_the_process",
    "forgotten",
]
"""A late arrival, a loop, an end without one, milliseconds, a scan, a tell, a crash, time."""


@pytest.mark.parametrize("name", RUNS)
def test_the_diagram_is_one_to_mermaid(name: str) -> None:
    first, *lines = written("mermaid", name).splitlines()
    assert first == "sequenceDiagram"
    known: set[str] = set()
    depth = 0
    for line in lines:
        statement = line.strip()
        if statement.startswith("loop "):
            depth += 1
            continue
        if statement == "end":
            depth -= 1
            assert depth >= 0
            continue
        if not statement.startswith("%%"):
            assert not re.search(r"\bend\b(?!\))", statement, re.IGNORECASE), statement
        matches = [re.fullmatch(rule, statement) for rule in STATEMENTS]
        (match,) = [each for each in matches if each is not None]
        if statement.startswith("participant "):
            known.add(statement.split()[1])
        spoken = [
            name
            for names in match.groupdict().values()
            for name in (names or "").split(",")
        ]
        assert set(filter(None, spoken)) <= known
    assert depth == 0


def test_what_a_spec_may_say_does_not_end_a_diagram() -> None:
    assert clean("a < b; #1 > {end}") == "a #60; b#59; #35;1 #62; {(end)}"
    assert clean("refund ends failed, END") == "refund ends failed, (end)"
    assert comment("never {x}: 50%") == "never (x): 50%"


def test_a_loop_is_drawn_with_what_keeps_it_going() -> None:
    drawn = written("mermaid", "undo_fails")
    assert "  loop for ever\n" in drawn
    assert "Note over Sender,FarSide: " in drawn
    assert "ruled out by `assume refund.refunded in the (end)`" in drawn
    assert "nothing is bound to happen" in written("mermaid", "silent_for_ever")


@pytest.mark.parametrize("name", RUNS)
def test_the_data_is_itf(name: str) -> None:
    """The Informal Trace Format, as Apalache has it (ADR 015)."""
    whole: dict[str, Any] = json.loads(written("itf", name))
    assert set(whole) <= {"#meta", "params", "vars", "states", "loop"}
    assert isinstance(whole["#meta"], dict)
    names = whole["vars"]
    assert names
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_]\w*", each) for each in names)
    for index, state in enumerate(whole["states"]):
        assert state["#meta"] == {"index": index}
        assert set(state) == {"#meta", *names}
        assert all(isinstance(state[each], str | int | bool) for each in names)
    assert 0 <= whole.get("loop", 0) < len(whole["states"])


def test_the_data_of_a_loop_comes_round_to_where_it_begins() -> None:
    whole = json.loads(written("itf", "undo_fails"))
    first, last = whole["states"][whole["loop"]], whole["states"][-1]
    own = {"#meta", "step"}
    assert {k: v for k, v in first.items() if k not in own} == {
        k: v for k, v in last.items() if k not in own
    }
    assert whole["loop"] < len(whole["states"]) - 1


def test_the_data_of_a_run_that_stays_has_a_loop_of_its_last_state() -> None:
    whole = json.loads(written("itf", "silent_for_ever"))
    assert whole["loop"] == len(whole["states"]) - 1


# ---- as a person reads it ----------------------------------------------------------


def test_a_fault_is_in_capitals_and_is_counted() -> None:
    text = written("text", "lost_with_the_process")
    assert "needs 1 fault, 3 steps; nothing shorter exists" in text
    assert "THE PROCESS CRASHES" in text


def test_the_records_of_a_page_are_called_by_their_cursors() -> None:
    text = " ".join(written("text", "skips_a_record").split())
    assert "take the answer list_jobs.page: JobId A, JobId B (not due), JobId C" in text
    assert "job: JobId A upto: JobId C" in text


def test_what_is_told_to_others_is_told() -> None:
    assert "sends: begin Transfer" in written("text", "tells_others")


def test_an_instant_is_called_by_when_it_is_asked_for() -> None:
    assert "since + 5m comes" in written("text", "forgotten")


def test_an_exception_is_told_in_its_own_words() -> None:
    text = written("text", "raises_on_message")
    assert "raises: ValueError('not thought of')" in text


def test_only_what_changes_is_shown() -> None:
    """A field that keeps its value is not told again."""
    text = " ".join(written("text", "undo_fails").split())
    assert (
        "hand out refund row: refund #2 owed -> handed out 7 far side refund ends"
        in text
    )
