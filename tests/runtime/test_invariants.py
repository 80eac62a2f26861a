"""The laws notice what they are for: each is broken by hand once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import deedbox
import pytest
from deedbox import Instant, Rules
from deedbox.box import Box
from deedbox.testing import FakeClock, Laws
from jobs import job


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Box, sqlite3.Connection]]:
    clock = FakeClock()
    path = tmp_path / "jobs.db"
    box = deedbox.open(f"sqlite:///{path}?peers=false", [job.machine], clock=clock)
    raw = sqlite3.connect(path, isolation_level=None)
    box.start_many(job.Start(job=id) for id in ("a", "b"))
    box.send(job.machine, "a", job.Note(text="n"))
    box.start(job.Start(job="c"))
    box.send(job.machine, "c", job.Stop())
    yield box, raw
    raw.close()
    box.close()


@pytest.mark.parametrize(
    ("law", "statement"),
    [
        ("I1", "delete from deedbox_outbox where id = 'a' and command = 'run'"),
        ("I1", "update deedbox_outbox set ticket = 9 where id = 'b'"),
        ("I4", "delete from deedbox_journal where id = 'a' and rev = 1"),
        ("I4", "update deedbox_job set rev = 7 where id = 'a'"),
        (
            "I4",
            "update deedbox_journal set doc = replace(doc, '\"size\":1', '\"size\":2')"
            " where id = 'b'",
        ),
        ("I5", "update deedbox_job set wake_at = wake_at + 1 where id = 'a'"),
        ("I5", "update deedbox_job set wake_at = 5 where id = 'c'"),
        ("I6", "update deedbox_outbox set claim = 99 where id = 'a'"),
        ("I7", "update deedbox_job set at = at - 1 where id = 'a'"),
        (
            "I8",
            "update deedbox_outbox set doc = replace(doc, '\"size\":1', '\"size\":2')"
            " where id = 'b'",
        ),
    ],
)
def test_a_broken_law_is_named(
    opened: tuple[Box, sqlite3.Connection], law: str, statement: str
) -> None:
    box, raw = opened
    laws = Laws([job.machine], Rules())
    assert laws.broken(box.store) == []
    assert raw.execute(statement).rowcount >= 1
    broken = laws.broken(box.store)
    assert broken
    assert {text[:2] for text in broken} == {law}


def test_a_journal_that_cannot_be_folded_breaks_i4(
    opened: tuple[Box, sqlite3.Connection],
) -> None:
    box, raw = opened
    forbidden = '{"type":"Forbidden","at":1700000000000}'
    raw.execute(
        "update deedbox_journal set doc = ? where id = 'a' and rev = 2", (forbidden,)
    )
    broken = Laws([job.machine], Rules()).broken(box.store)
    assert [text[:2] for text in broken] == ["I4"]


def test_the_clock_of_tests_knows_its_next_deadline() -> None:
    clock = FakeClock(at=10)
    assert clock.next_deadline() is None
    clock.jump(-20)
    assert (clock.wall(), clock.monotonic()) == (-10, 0)
    clock.advance(5)
    assert (Instant(clock.wall()), clock.boot()) == (-5, 5)
