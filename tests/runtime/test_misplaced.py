"""A box that is used as it cannot be: what would be lost, or never done, is refused."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deedbox
import pytest
from deedbox import MisplacedCall, Rules, StoreFailed, Worker, WrongType
from hands import Hands
from jobs import job
from place import Place


def replaced(path: Path) -> None:
    """As by a backup that is put in its place."""
    path.rename(path.with_suffix(".old"))
    path.with_suffix(".new").write_bytes(b"")
    path.with_suffix(".new").rename(path)


@pytest.mark.parametrize("lost", [Path.unlink, replaced])
def test_r2_a_file_that_is_gone_takes_nothing_more(
    tmp_path: Path, lost: Callable[[Path], None]
) -> None:
    """What is committed into a file without a name is gone with its process."""
    path, kept = tmp_path / "jobs.db", tmp_path / "kept.db"
    box = deedbox.open(f"sqlite:///{path}", [job.machine])
    box.start(job.Start(job="a"))
    os.link(path, kept)
    lost(path)
    for again in range(2):
        with pytest.raises(StoreFailed, match="was deleted or replaced"):
            box.start(job.Start(job=f"b{again}"))
    with pytest.raises(StoreFailed, match="was deleted or replaced"), box.transaction():
        pass
    kept.replace(path)
    box.start(job.Start(job="c"))
    box.close()
    with deedbox.open(f"sqlite:///{path}", [job.machine]) as anew:
        assert [one.id for one in anew.list(job.machine)] == ["a", "c"]


def test_a_process_may_go_into_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path is meant from the folder in which the store was opened."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with deedbox.open("sqlite:///jobs.db", [job.machine]) as box:
        box.start(job.Start(job="a"))
        monkeypatch.chdir(tmp_path / "there")
        with box.transaction() as tx:
            tx.start(job.Start(job="b"))
        assert [one.id for one in box.list(job.machine)] == ["a", "b"]
    assert list((tmp_path / "there").iterdir()) == []


def test_a_fork_opens_a_box_of_its_own(tmp_path: Path) -> None:
    """It has no writer, and SQLite's connections are those of another process."""
    said = tmp_path / "said"
    box = deedbox.open(f"sqlite:///{tmp_path / 'jobs.db'}", [job.machine])
    box.start(job.Start(job="a"))
    child = os.fork()
    if child == 0:  # pragma: no cover  another process
        try:
            calls: list[Callable[[], object]] = [
                lambda: box.start(job.Start(job="b")),
                lambda: box.get(job.machine, "a"),
                lambda: box.transaction().__enter__(),
            ]
            for call in calls:
                with pytest.raises(MisplacedCall, match="is a fork; open one here"):
                    call()
            said.write_text("refused")
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert said.read_text() == "refused"
    box.start(job.Start(job="c"))
    assert [one.id for one in box.list(job.machine)] == ["a", "c"]
    box.close()


async def test_a_worker_is_asked_on_its_own_loop(place: Place) -> None:
    """An error after the message was sent would have it sent again."""
    box = place.open()
    async with Worker(box, {job.machine: Hands()}) as worker:

        async def elsewhere() -> None:
            await worker.start(job.Start(job="a"))

        with pytest.raises(MisplacedCall, match="the event loop that opened it"):
            await asyncio.to_thread(asyncio.run, elsewhere())
    assert box.get(job.machine, "a") is None


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("lease", 0),
        ("lease", None),
        ("remember", -1),
        ("keep", -1),
        ("keep", 10**30),
        ("history", -1),
        ("deliveries", 0),
        ("deliveries", "3"),
        ("deliveries", True),
        ("first_delay", -1),
        ("longest_delay", 0.5),
    ],
)
def test_a_rule_by_which_things_are_lost_is_refused(rule: str, value: object) -> None:
    """A lease of nothing has all done again and again; the text names the rule."""
    given: dict[str, Any] = {rule: value}
    with pytest.raises(WrongType, match=f"the rule `{rule}` is a whole number"):
        Rules(**given)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", 0),
        ("threads", -1),
        ("limit", 0),
        ("limit", float("nan")),
        ("limit", float("inf")),
        ("patience", -0.1),
    ],
)
def test_a_worker_that_would_do_nothing_is_refused(
    place: Place, name: str, value: float
) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(WrongType, match=f"`{name}` of a worker is"):
        Worker(place.open(), {job.machine: Hands()}, **given)
