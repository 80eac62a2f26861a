"""Rows that cannot be used: set aside with the reason, and never written over."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import deedbox
import pytest
from deedbox import InstanceParked, NewerVersion, Worker
from deedbox.box import Box
from deedbox.documents import readable
from deedbox.testing import FakeClock, elapse, settle
from hands import Hands
from jobs import job
from msgspec import Struct, ValidationError


class Shelf:
    """A SQLite store of three jobs, and a connection that spoils it."""

    def __init__(self, path: Path) -> None:
        self.clock = FakeClock()
        self.url = f"sqlite:///{path}?peers=false"
        with self.open() as box:
            box.start_many(job.Start(job=id) for id in ("a", "b", "c"))
        self.raw = sqlite3.connect(path, isolation_level=None)

    def open(self) -> Box:
        return deedbox.open(self.url, [job.machine], clock=self.clock)

    def row(self, table: str, id: str) -> tuple[object, ...]:
        statements = {
            "job": "select * from deedbox_job where id = ?",
            "outbox": "select * from deedbox_outbox where id = ?",
        }
        found: tuple[object, ...] = self.raw.execute(
            statements[table], (id,)
        ).fetchone()
        return found


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path / "jobs.db")
    yield made
    made.raw.close()


WORKING = (
    '{"type":"Working","job":"a","size":1,"born":1,"issued":1,"ticket":1,'
    '"deed_number":1,"attempt":1,"silent_at":1,"notes":0}'
)
BROKEN = [
    ("{", "truncated"),
    ('{"type":"Working","job":"a"}', "missing required field"),
    ('{"type":"Elsewhere"}', "Invalid value"),
    ("[]", "Expected `object`"),
    ('{"type":"Failed","job":"a","size":1,"born":1,"issued":1,"error":"x"}', "column"),
    (WORKING.replace('"notes":0', '"notes":0,"color":"red"'), "unknown field `color`"),
    (WORKING.replace('"size":1', f'"size":{1 << 63}'), "not a 64-bit integer"),
    (WORKING.replace('"job":"a"', '"job":"a\\u0000"'), "U\\+0000"),
    (WORKING.replace('"a"', '"' + "a" * (1 << 20) + '"'), "at most 1 MiB"),
    ('{"x":' + "[" * 100_000, "recursion"),
]


@pytest.mark.parametrize(("doc", "reason"), BROKEN)
async def test_r11_a_row_that_cannot_be_read_is_parked(
    shelf: Shelf, doc: str, reason: str
) -> None:
    """R11: with its reason, its document as it was; the others go on."""
    shelf.raw.execute("update deedbox_job set doc = ? where id = 'a'", (doc,))
    hands = Hands()
    with shelf.open() as box:
        async with Worker(box, {job.machine: hands}) as worker:
            with pytest.raises(InstanceParked, match=reason):
                await worker.send(job.machine, "a", job.Note(text="n"))
            await elapse(shelf.clock, 60_000, worker)
        parked = {one.id: one.parked for one in box.list(job.machine)}
        assert [one.phase for one in box.list(job.machine)][1:] == ["Done", "Done"]
        with pytest.raises(InstanceParked):
            box.get(job.machine, "a")
    assert parked["b"] is None
    assert re.search(reason, str(parked["a"]))
    assert shelf.row("job", "a")[8] == doc
    assert shelf.row("outbox", "a")[9] is not None


async def test_r11_a_parked_row_is_used_again_when_it_was_mended(shelf: Shelf) -> None:
    good = shelf.row("job", "a")[8]
    shelf.raw.execute("update deedbox_job set doc = '{' where id = 'a'")
    hands = Hands()
    with shelf.open() as box:
        async with Worker(box, {job.machine: hands}) as worker:
            await settle(worker)
            shelf.raw.execute("update deedbox_job set doc = ? where id = 'a'", (good,))
            assert await asyncio.to_thread(box.redrive, job.machine, "a") == 2
            await settle(worker)
        assert {one.phase for one in box.list(job.machine)} == {"Done"}


async def test_r11_a_deadline_finds_a_row_that_cannot_be_read(shelf: Shelf) -> None:
    shelf.raw.execute("update deedbox_job set doc = '{' where id = 'a'")
    with shelf.open() as box:
        async with Worker(box, {job.machine: Hands()}, only=["Job.notify"]) as worker:
            await elapse(shelf.clock, 30_000, worker)
        parked = {one.id: one.parked for one in box.list(job.machine)}
    assert parked["a"] is not None
    assert parked["b"] is None


NO_TEXT = "cast(x'7bff7d' as text)"
LARGEST = (1 << 63) - 1


def seen(box: Box, id: str) -> list[str]:
    """All that a person is shown of an instance."""
    listed = [str(one) for one in box.list(job.machine) if one.id == id]
    entries = map(str, box.history(job.machine, id))
    try:
        found = str(box.get(job.machine, id))
    except InstanceParked as problem:
        found = str(problem)
    return [*listed, *entries, found]


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("job set doc", NO_TEXT, "is no UTF-8"),
        ("job set phase", NO_TEXT, "column says {"),
        ("job set parked", NO_TEXT, r"{\\udcff}"),
        ("outbox set doc", NO_TEXT, "is no UTF-8"),
        ("outbox set error", NO_TEXT, "OSError: away"),
        ("journal set doc", NO_TEXT, "surrogates"),
        ("journal set doc", "'[]'", "list"),
        ("outbox set tries", LARGEST, "no answer in 1000000000 deliveries"),
        ("outbox set tries", -7, "deliveries=5"),
        ("job set rev", LARGEST, "cannot be written: Save: Python int too large"),
        ("job set at", LARGEST, "cannot be written: Save: Python int too large"),
        ("outbox set next_at", 1 << 62, "next_at=4611686018427387904"),
    ],
)
async def test_r11_whatever_is_in_a_row_the_others_go_on(
    shelf: Shelf, column: str, value: str | int, said: str
) -> None:
    """R11: it may be what no program of ours has written; looking at it is no error."""
    shelf.raw.execute("drop view job")
    shelf.raw.execute("pragma ignore_check_constraints = on")
    shelf.raw.execute(f"update deedbox_{column} = {value} where id = 'a'")

    def away(cmd: job.Run) -> job.RunOutcome:
        if cmd.job == "a":
            raise OSError("away")
        return job.RunRan(result=1)

    with shelf.open() as box:
        async with Worker(box, {job.machine: Hands(away)}) as worker:
            await elapse(shelf.clock, 20_000, worker)
            shown = seen(box, "a")
            await elapse(shelf.clock, 40_000, worker)
            shown += seen(box, "a")
            await worker.start(job.Start(job="d"))
            await settle(worker)
        listed = {one.id: one.phase for one in box.list(job.machine)}
    assert {listed[id] for id in "bcd"} == {"Done"}
    assert said in "\n".join(shown)
    assert "\n".join(shown).encode()


def test_r11_a_document_is_read_in_any_layout(shelf: Shelf) -> None:
    """Fields in another order, and blanks, say the same."""
    doc = json.loads(str(shelf.row("job", "a")[8]))
    pretty = json.dumps(dict(reversed(doc.items())), indent=2)
    shelf.raw.execute("update deedbox_job set doc = ? where id = 'a'", (pretty,))
    with shelf.open() as box:
        assert box.send(job.machine, "a", job.Note(text="n")).rev == 2


class Line(Struct):
    sku: str
    gift: bool = False


class Basket(Struct):
    lines: tuple[Line, ...]
    counts: dict[str, int]


def test_r11_a_field_that_is_unknown_is_named_by_its_place() -> None:
    read = readable(Basket)
    basket = read('{"counts": {"x": 1}, "lines": [{"sku": "s"}, {"sku": "t"}]}')
    assert basket == Basket((Line("s"), Line("t")), {"x": 1})
    with pytest.raises(ValidationError, match=r"`size` - at `\$\.lines\[1\]`"):
        read('{"lines":[{"sku":"s"},{"sku":"t","size":1}],"counts":{}}')


@pytest.mark.parametrize(
    ("doc", "reason"),
    [
        ("{}", "missing required field"),
        ('{"x":' + "[" * 100_000, "recursion"),
        (
            '{"idempotency_key":"Job/a/1/1","ticket":1,"job":"a","size":1,"color":1}',
            "unknown field `color`",
        ),
    ],
)
async def test_a_command_that_cannot_be_read_is_parked(
    shelf: Shelf, doc: str, reason: str
) -> None:
    shelf.raw.execute("update deedbox_outbox set doc = ? where id = 'a'", (doc,))
    hands = Hands()
    with shelf.open() as box:
        async with Worker(box, {job.machine: hands}) as worker:
            await settle(worker)
        instance = box.get(job.machine, "a")
    assert instance is not None
    assert "does not decode" in str(instance.owed[0].parked)
    assert reason in str(instance.owed[0].parked)
    assert {cmd.job for cmd in hands.ran} == {"b", "c"}
    assert shelf.row("outbox", "a")[12] == doc


async def test_r12_a_newer_row_is_refused_and_untouched(shelf: Shelf) -> None:
    """R12: neither messages, deadlines nor its commands are ours."""
    for statement in (
        "update deedbox_job set version = 3, doc = '{\"new\":1}' where id = 'a'",
        "update deedbox_outbox set version = 3, doc = '{\"new\":1}' where id = 'a'",
    ):
        shelf.raw.execute(statement)
    before = shelf.row("job", "a"), shelf.row("outbox", "a")
    hands = Hands()
    with shelf.open() as box:
        async with Worker(box, {job.machine: hands}) as worker:
            with pytest.raises(NewerVersion, match="version 3"):
                await worker.send(job.machine, "a", job.Stop())
            await elapse(shelf.clock, 3_600_000, worker)
        with pytest.raises(NewerVersion):
            box.get(job.machine, "a")
    assert (shelf.row("job", "a"), shelf.row("outbox", "a")) == before
    assert len(hands.ran) == 2


async def test_r12_an_older_row_is_stored_anew_at_its_next_step(shelf: Shelf) -> None:
    """R12: with a base in the journal, from which it is folded."""
    shelf.raw.execute("update deedbox_job set version = 1 where id = 'a'")
    with shelf.open() as box:
        assert box.send(job.machine, "a", job.Note(text="n")).rev == 2
    assert shelf.row("job", "a")[5] == 2
    kinds = shelf.raw.execute(
        "select rev, kind from deedbox_journal where id = 'a' order by rev, kind"
    ).fetchall()
    assert kinds == [(1, "step"), (2, "base"), (2, "step")]
