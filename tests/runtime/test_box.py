"""What a sender meets: receipts, refusals, repeated ids, and its own transaction."""

from __future__ import annotations

import asyncio

import deedbox
import pytest
from deedbox import (
    DocumentTooLarge,
    Instant,
    MessageIdReused,
    MisplacedCall,
    ReducerFailed,
    Rejected,
    UnknownInstance,
    UnknownMachine,
    Worker,
    WrongType,
)
from deedbox.box import Box
from deedbox.operations import Begin, Commit, Journal, Load, Program, ask
from hands import Hands
from jobs import job
from place import Place


def test_a_start_is_committed_when_it_returns(place: Place) -> None:
    receipt = place.open().start(job.Start(job="a", size=3))
    assert (receipt.rev, receipt.phase, receipt.answer) == (1, "Working", "applied")
    instance = place.open().get(job.machine, "a")
    assert instance is not None
    assert instance.state.size == 3
    (owed,) = instance.owed
    assert (owed.command, owed.claimed, owed.deliveries) == ("run", False, 0)
    assert owed.idempotency_key == f"Job/a/{place.clock.wall()}/1"


def test_starting_again_with_the_same_given_is_kept(box: Box) -> None:
    box.start(job.Start(job="a"))
    assert box.start(job.Start(job="a")).answer == "kept"


def test_r13_each_refusal_is_a_typed_error_and_changes_nothing(box: Box) -> None:
    """R13: unknown, of a wrong type, rejected."""
    box.start(job.Start(job="a"))
    before = box.get(job.machine, "a")
    with pytest.raises(UnknownInstance, match="Job b"):
        box.send(job.machine, "b", job.Stop())
    with pytest.raises(UnknownMachine):
        box.send(job.machine, "a", job.RunRan(result=1))  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongType, match=r"\$\.text"):
        box.send(job.machine, "a", job.Note(text=7))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(Rejected, match="never allowed"):
        box.send(job.machine, "a", job.Forbidden())
    with pytest.raises(Rejected, match="another size"):
        box.start(job.Start(job="a", size=2))
    assert box.get(job.machine, "a") == before
    assert box.counts["rejected"] == 3


def test_r8_a_message_that_changes_nothing_writes_nothing(box: Box) -> None:
    """R8, C07: the deadline is sooner already, so no row is touched."""
    box.start(job.Start(job="a"))
    before = box.get(job.machine, "a")
    assert before is not None
    assert box.send(job.machine, "a", job.Later(due=Instant(5))).answer == "ignored"
    assert box.send(job.machine, "a", job.Grow(size=1)).rev == 1
    assert box.get(job.machine, "a") == before


@pytest.mark.parametrize("text", ["nul \0", "half of a pair \ud800"])
def test_a_text_that_no_store_can_keep_is_refused(box: Box, text: str) -> None:
    box.start(job.Start(job="a"))
    with pytest.raises(WrongType):
        box.send(job.machine, "a", job.Note(text=text))
    with pytest.raises(WrongType):
        box.start(job.Start(job=text))


def test_an_escaped_backslash_before_u0000_is_an_ordinary_text(box: Box) -> None:
    box.start(job.Start(job="a"))
    assert box.send(job.machine, "a", job.Note(text="\\u0000")).rev == 2


@pytest.mark.parametrize("size", [1 << 63, -(1 << 63) - 1, 1 << 70])
def test_an_integer_beyond_64_bits_is_refused(box: Box, size: int) -> None:
    with pytest.raises(WrongType, match="64-bit"):
        box.start(job.Start(job="a", size=size))


def test_the_largest_integer_is_kept(box: Box) -> None:
    box.start(job.Start(job="a", size=(1 << 63) - 1))
    instance = box.get(job.machine, "a")
    assert instance is not None
    assert instance.state.size == (1 << 63) - 1


def test_r16_a_document_over_a_mebibyte_is_refused(box: Box) -> None:
    """R16"""
    box.start(job.Start(job="a"))
    with pytest.raises(DocumentTooLarge):
        box.send(job.machine, "a", job.Note(text="x" * (1 << 20)))


@pytest.mark.parametrize("id", ["", "x" * 513])
def test_an_id_has_1_to_512_bytes(box: Box, id: str) -> None:
    with pytest.raises(WrongType):
        box.start(job.Start(job=id))
    with pytest.raises(WrongType):
        box.send(job.machine, id, job.Stop())


def test_a_reducer_that_raises_fails_its_sender_alone(box: Box) -> None:
    """R2: the error reaches the sender of the failing item only."""
    box.start(job.Start(job="a"))
    with pytest.raises(ReducerFailed, match="the reducer has a bug"):
        box.send(job.machine, "a", job.Boom())
    assert box.send(job.machine, "a", job.Note(text="on it goes")).rev == 2


def test_each_start_of_many_has_its_own_answer(box: Box) -> None:
    starts = [job.Start(job=f"j{number}") for number in range(1100)]
    starts.insert(600, job.Start(job="j0", size=9))
    answers = box.start_many(starts)
    assert len(answers) == 1101
    assert isinstance(answers[600], Rejected)
    assert sum(isinstance(answer, Rejected) for answer in answers) == 1


def test_a_listing_pages_by_id(box: Box) -> None:
    box.start_many(job.Start(job=f"j{number}") for number in range(5))
    box.send(job.machine, "j3", job.Stop())
    first = box.list(job.machine, limit=2)
    assert [one.id for one in first] == ["j0", "j1"]
    rest = box.list(job.machine, after=first[-1].id)
    assert [one.id for one in rest] == ["j2", "j3", "j4"]
    assert [one.id for one in box.list(job.machine, phase="Failed")] == ["j3"]
    wake = first[0].wake_at
    assert wake is not None
    assert len(box.list(job.machine, due_before=wake)) == 4
    assert box.list(job.machine, due_before=Instant(wake - 1)) == []


class TestRepeatedIds:
    """R14: as long as the inbox row is kept, a repeated id gets the first answer."""

    def test_r14_a_repeated_message_is_applied_once(self, box: Box) -> None:
        box.start(job.Start(job="a"), message_id="s")
        first = box.send(job.machine, "a", job.Note(text="n"), message_id="m")
        box.send(job.machine, "a", job.Note(text="another"))
        assert box.send(job.machine, "a", job.Note(text="n"), message_id="m") == first
        assert box.start(job.Start(job="a"), message_id="s").answer == "applied"
        instance = box.get(job.machine, "a")
        assert instance is not None
        assert instance.rev == 3

    def test_r14_a_refusal_is_remembered_too(self, box: Box, place: Place) -> None:
        box.start(job.Start(job="a"))
        for each in (box, place.open()):
            with pytest.raises(Rejected, match="never allowed"):
                each.send(job.machine, "a", job.Forbidden(), message_id="m")
        assert box.counts["rejected"] == 1

    def test_r14_an_id_with_other_content_is_an_error(self, box: Box) -> None:
        box.start(job.Start(job="a"))
        box.send(job.machine, "a", job.Note(text="n"), message_id="m")
        with pytest.raises(MessageIdReused):
            box.send(job.machine, "a", job.Note(text="N"), message_id="m")
        with pytest.raises(MessageIdReused):
            box.send(job.machine, "a", job.Stop(), message_id="m")

    def test_r8_what_changes_nothing_is_remembered_all_the_same(self, box: Box) -> None:
        box.start(job.Start(job="a"))
        stop, late = job.Stop(), job.Later(due=Instant(1))
        assert box.send(job.machine, "a", late, message_id="m").answer == "ignored"
        box.send(job.machine, "a", stop)
        again = box.send(job.machine, "a", late, message_id="m")
        assert (again.answer, again.phase, again.rev) == ("ignored", "Working", 1)

    def test_an_unknown_instance_remembers_nothing(self, box: Box) -> None:
        with pytest.raises(UnknownInstance):
            box.send(job.machine, "a", job.Stop(), message_id="m")
        box.start(job.Start(job="a"))
        assert box.send(job.machine, "a", job.Stop(), message_id="m").phase == "Failed"


class TestTransaction:
    def test_it_commits_at_the_end_of_the_block(self, box: Box) -> None:
        with box.transaction() as tx:
            tx.start(job.Start(job="a"))
            assert tx.send(job.machine, "a", job.Note(text="n")).rev == 2
        instance = box.get(job.machine, "a")
        assert instance is not None
        assert [owed.command for owed in instance.owed] == ["run", "notify"]
        assert not any(owed.claimed for owed in instance.owed)

    def test_it_rolls_back_when_the_block_raises(self, box: Box) -> None:
        def give_up() -> None:
            with box.transaction() as tx:
                tx.start(job.Start(job="a"))
                raise KeyError("no")

        with pytest.raises(KeyError):
            give_up()
        assert box.get(job.machine, "a") is None
        box.start(job.Start(job="a"))

    def test_a_refusal_leaves_the_transaction_to_its_owner(self, box: Box) -> None:
        with box.transaction() as tx:
            tx.start(job.Start(job="a"))
            with pytest.raises(Rejected):
                tx.send(job.machine, "a", job.Forbidden())
        assert box.get(job.machine, "a") is not None

    def test_the_plain_calls_are_refused_inside_of_it(self, box: Box) -> None:
        """They would wait for the transaction, and it for them."""
        box.start(job.Start(job="a"))
        with box.transaction() as tx:
            for call in (
                lambda: box.start(job.Start(job="b")),
                lambda: box.send(job.machine, "a", job.Stop()),
                lambda: box.start_many([job.Start(job="b")]),
                lambda: box.redrive(job.machine, "a"),
                lambda: box.migrate(job.machine),
                lambda: box.get(job.machine, "a"),
                lambda: box.list(job.machine),
                lambda: box.history(job.machine, "a"),
                lambda: box.transaction().__enter__(),
            ):
                with pytest.raises(MisplacedCall, match=r"use .* `tx\.start`"):
                    call()
            tx.send(job.machine, "a", job.Stop())
            assert tx.get(job.machine, "a").phase == "Failed"  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
        assert box.send(job.machine, "a", job.Stop()).phase == "Failed"

    async def test_so_are_those_of_its_tasks_and_threads(self, box: Box) -> None:
        async with Worker(box, {job.machine: Hands()}) as worker:
            with box.transaction():
                with pytest.raises(MisplacedCall):
                    await worker.start(job.Start(job="a"))
                with pytest.raises(MisplacedCall):
                    await asyncio.gather(worker.send(job.machine, "a", job.Stop()))
                with pytest.raises(MisplacedCall):
                    await worker.wait(job.machine, "a")
                with pytest.raises(MisplacedCall):
                    await asyncio.to_thread(box.start, job.Start(job="a"))
            assert (await worker.start(job.Start(job="a"))).rev == 1

    def test_it_says_what_it_has_done_so_far(self, box: Box) -> None:
        with box.transaction() as tx:
            assert tx.get(job.machine, "a") is None
            tx.start(job.Start(job="a"))
            instance = tx.get(job.machine, "a")
            assert instance is not None
            assert [owed.command for owed in instance.owed] == ["run"]


class TestHistory:
    def test_the_journal_is_read_as_messages_and_states(self, box: Box) -> None:
        box.start(job.Start(job="a"))
        box.send(job.machine, "a", job.Note(text="n"))
        start, note = box.history(job.machine, "a")
        assert isinstance(start.value, job.Start)
        assert note.value == job.Note(text="n", at=note.at)
        assert (note.rev, note.base, note.version, note.unread) == (2, False, 2, None)

    def test_an_unknown_instance_has_none(self, box: Box) -> None:
        assert box.history(job.machine, "a") == []

    def test_what_cannot_be_read_says_why(self) -> None:
        box = deedbox.open("memory://", [job.machine])
        box.start(job.Start(job="a"))

        def spoil() -> Program[None]:
            rows = (("{", 2, "step"), ('{"type":"No"}', 2, "step"), ("{}", 1, "step"))
            yield from ask(Begin())
            for number, (doc, version, kind) in enumerate(rows, 2):
                row = ("Job", "a", number, 0, kind, version, doc)
                yield from ask(Journal([row]))
            state = box.store.read(ask(Load("Job", ["a"])))[0][8]
            yield from ask(Journal([("Job", "a", 5, 0, "base", 2, state)]))
            yield from ask(Commit())

        box.store.run(spoil())
        _, broken, unknown, older, base = box.history(job.machine, "a")
        assert "truncated" in str(broken.unread)
        assert "takes no No" in str(unknown.unread)
        assert older.unread == "a message of version 1"
        assert isinstance(base.value, job.Working)
        assert base.base
        box.close()


@pytest.mark.parametrize("rows", [-1, 0, 10_001])
def test_r16_a_page_has_an_end(box: Box, rows: int) -> None:
    """R16: of a listing and of a migration."""
    with pytest.raises(WrongType, match=f"1 to 10,000 rows, not {rows}"):
        box.list(job.machine, limit=rows)
    with pytest.raises(WrongType, match="rows"):
        box.migrate(job.machine, page=rows)
