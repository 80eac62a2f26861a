"""Lane A is honest code: it does its work, as long as nobody kills it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from deedbox.demo.memory_lane import PLACE, ROWS, connect
from deedbox.demo.processor import Character
from deedbox.demo.stage import Files, Stage, end, spawn

CHARACTER = Character(
    declines={"mug": 1}, sold_out=frozenset({"lamp"}), hold_refunds=False
)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(Files(tmp_path), CHARACTER) as stage:
        stage.start_processor()
        with closing(connect(stage.files.status)) as rows:
            rows.execute(PLACE, ("mug", 1200))
            rows.execute(PLACE, ("lamp", 3800))
        yield stage


def statuses(stage: Stage) -> dict[str, str]:
    with closing(connect(stage.files.status)) as rows:
        return {name: status for name, status, _ in rows.execute(ROWS)}


def test_without_a_kill_it_settles_and_refunds(stage: Stage) -> None:
    worker = spawn("deedbox.demo.memory_lane", str(stage.files.status), str(stage.port))
    try:
        while statuses(stage) != {"mug": "settled", "lamp": "refunded"}:
            time.sleep(0.05)
    finally:
        end(worker)


def test_killed_while_it_waits_it_says_retrying_for_ever(stage: Stage) -> None:
    """OS-08: the row is a report, and nobody is left to act on it."""
    arguments = str(stage.files.status), str(stage.port)
    worker = spawn("deedbox.demo.memory_lane", *arguments)
    try:
        while statuses(stage) != {"mug": "retrying", "lamp": "refunded"}:
            time.sleep(0.05)
    finally:
        end(worker)

    with closing(connect(stage.files.status)) as rows:
        rows.execute(PLACE, ("later", 100))
    worker = spawn("deedbox.demo.memory_lane", *arguments)
    try:
        while statuses(stage)["later"] != "settled":
            time.sleep(0.05)
        assert statuses(stage)["mug"] == "retrying"
    finally:
        end(worker)
