"""Bad input of any kind: refused with the place and the way out, and nothing is changed."""

from __future__ import annotations

import asyncio
import dataclasses
import sqlite3
from pathlib import Path
from typing import Any

import deedbox
import pytest
from deedbox import (
    DeedboxError,
    DocumentTooLarge,
    InstanceParked,
    Instant,
    MessageIdReused,
    NewerVersion,
    Rejected,
    StoreRefused,
    UnknownInstance,
    UnknownMachine,
    Worker,
    WrongType,
    errors,
)
from deedbox.box import Box
from deedbox.documents import text
from deedbox.operations import Load, ask
from deedbox.testing import FakeClock, picture, settle
from hands import Hands
from jobs import job
from msgspec import Struct
from place import MACHINES, Place

LONG = "x" * (1 << 20)


class Stranger(Struct, tag=True):
    """A message of no machine."""


STARTS = [
    (job.Start(job=7), WrongType, r"\$\.job"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    (job.Start(job="a", size="1"), WrongType, r"\$\.size"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    (job.Start(job="a", size=1.5), WrongType, r"\$\.size"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    (job.Start(job="a", size=1 << 63), WrongType, "64-bit"),
    (job.Start(job="a\0"), WrongType, r"U\+0000"),
    (job.Start(job="\ud800"), WrongType, "surrogates"),
    (job.Start(job="é" * 257), WrongType, "this one has 514"),
    (job.Start(job=""), WrongType, "at least one character"),
    (job.Start(job=LONG), DocumentTooLarge, "this Start has 10"),
    (Stranger(), UnknownMachine, "Stranger starts none of them"),
]
SENDS = [
    (job.Note(text=None), WrongType, r"\$\.text"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    (job.Note(text="a\0b"), WrongType, r"U\+0000"),
    (job.Note(text="\udfff"), WrongType, "surrogates"),
    (job.Note(text=object()), WrongType, "Note"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    (job.Note(text=LONG), DocumentTooLarge, "this Note has 10"),
    (job.Later(due=Instant(1 << 70)), WrongType, "Later|64-bit"),
    (job.Forbidden(), Rejected, "Working a: this is never allowed"),
    (Stranger(), UnknownMachine, "Job takes no Stranger"),
]


@pytest.mark.parametrize(("message", "kind", "place_of_it"), STARTS)
def test_r13_a_start_that_cannot_be_is_refused(
    place: Place, message: Struct, kind: type[DeedboxError], place_of_it: str
) -> None:
    """R13, R16"""
    box = place.open()
    before = picture(box.store, MACHINES)
    with pytest.raises(kind, match=place_of_it) as raised:
        box.start(message)
    assert str(raised.value).startswith(str(kind.__doc__).split("\n")[0])
    assert picture(box.store, MACHINES) == before
    (answer,) = box.start_many([message])
    assert type(answer) is kind


@pytest.mark.parametrize(("message", "kind", "place_of_it"), SENDS)
async def test_r13_a_message_that_cannot_be_is_refused(
    place: Place, message: job.Message, kind: type[DeedboxError], place_of_it: str
) -> None:
    """R13, R16: the blocking call, the awaited one, and that of a transaction."""
    box = place.open()
    box.start(job.Start(job="a"))
    before = picture(box.store, MACHINES)
    with pytest.raises(kind, match=place_of_it):
        box.send(job.machine, "a", message)
    with box.transaction() as tx, pytest.raises(kind, match=place_of_it):
        tx.send(job.machine, "a", message)
    after = picture(box.store, MACHINES)
    assert (after.instances, after.outbox) == (before.instances, before.outbox)
    async with Worker(box, {job.machine: Hands()}, only=["Job.press"]) as worker:
        with pytest.raises(kind, match=place_of_it):
            await worker.send(job.machine, "a", message)


@pytest.mark.parametrize("number", [-(1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_r13_a_number_that_no_store_keeps_is_found_wherever_it_stands(
    number: int,
) -> None:
    """R13: at each distance from the beginning of its document."""
    for size in range(1, 40):
        with pytest.raises(WrongType):
            text(job.Start(job="x" * size, size=number))
        text(job.Start(job="9" * (size + 19), size=(1 << 63) - 1))


@pytest.mark.parametrize("message_id", ["", "m" * 513, "m\0", "\ud800", 7])
def test_r14_a_message_id_is_a_text_like_an_id(box: Box, message_id: str) -> None:
    box.start(job.Start(job="a"))
    with pytest.raises(WrongType):
        box.send(job.machine, "a", job.Note(text="n"), message_id=message_id)
    instance = box.get(job.machine, "a")
    assert instance is not None
    assert instance.rev == 1


def test_a_machine_that_was_not_opened_is_named(box: Box) -> None:
    other = dataclasses.replace(job.machine, name="Other")
    for call in (
        lambda: box.get(other, "a"),
        lambda: box.list(other),
        lambda: box.history(other, "a"),
        lambda: box.redrive(other, "a"),
        lambda: box.send(other, "a", job.Stop()),
    ):
        with pytest.raises(UnknownMachine, match="Other was not given to `open`"):
            call()


def test_two_machines_of_one_name_are_not_opened() -> None:
    with pytest.raises(UnknownMachine, match="two machines are called Job"):
        deedbox.open("memory://", [job.machine, job.machine])


def test_a_module_in_the_place_of_its_machine_is_told_from_it(box: Box) -> None:
    module: Any = job
    for call in (
        lambda: deedbox.open("memory://", [module]),
        lambda: box.get(module, "a"),
        lambda: box.send(module, "a", job.Stop()),
        lambda: Worker(box, {module: Hands()}),
    ):
        with pytest.raises(WrongType, match=r"its machine is `job\.machine`"):
            call()


@pytest.mark.parametrize("given", [job.machine, ["Job"], None])
def test_what_is_no_list_of_machines_is_refused(given: Any) -> None:
    with pytest.raises(WrongType, match="is no"):
        deedbox.open("memory://", given)


@pytest.mark.parametrize("url", [7, None, Path("jobs.db"), "jobs.db"])
def test_what_is_no_url_is_answered_with_one(url: Any) -> None:
    with pytest.raises(StoreRefused, match=r"write sqlite:///orders\.db"):
        deedbox.open(url, [job.machine])


def test_each_refusal_says_the_way_out() -> None:
    """Its docstring is what a person reads first."""
    ways = {
        UnknownInstance: "Start it first",
        DocumentTooLarge: "keep what is large elsewhere",
        InstanceParked: "then redrive it",
        NewerVersion: "send where that one runs",
        MessageIdReused: "each needs its own",
        UnknownMachine: "give it too",
    }
    for kind, way in ways.items():
        assert way in str(kind("particulars"))
    for each in vars(errors).values():
        if isinstance(each, type) and issubclass(each, Exception):
            assert issubclass(each, DeedboxError)
            assert str(each("x")).endswith(". x")


@pytest.mark.parametrize("cut", [1, 20, 90])
async def test_r11_a_document_that_was_cut_is_parked_where_it_was_cut(
    tmp_path: Path, cut: int
) -> None:
    """R11: and redriven when it was mended from the journal."""
    url, clock = f"sqlite:///{tmp_path / 'jobs.db'}?peers=false", FakeClock()
    with deedbox.open(url, MACHINES, clock=clock) as box:
        box.start(job.Start(job="a"))
        (row,) = box.store.read(ask(Load("Job", ["a"])))
        raw = sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)
        raw.execute("update deedbox_job set doc = ?", (row[8][:cut],))
        with pytest.raises(InstanceParked, match="truncated"):
            box.send(job.machine, "a", job.Stop())
        (entry,) = box.history(job.machine, "a")
        assert isinstance(entry.value, job.Start)
        state, _ = job.start(entry.value)
        assert state == job.machine.start(entry.value)[0]
        raw.execute("update deedbox_job set doc = ?", (row[8],))
        raw.close()
        async with Worker(box, {job.machine: Hands()}) as worker:
            await asyncio.to_thread(box.redrive, job.machine, "a")
            await settle(worker)
        assert [one.phase for one in box.list(job.machine)] == ["Done"]
