"""Several processes on one SQLite file: killed, stopped, and put out again."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import deedbox
import pytest
from crew import open_ledger
from deedbox import Rules
from deedbox.box import Box
from deedbox.testing import Laws
from jobs import job
from purchases import purchase
from purchases.types import PurchaseId

HERE: Final = Path(__file__).parent
SOAK: Final = "DEEDBOX_SOAK" in os.environ
ENVIRONMENT: Final = {
    **os.environ,
    "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent / 'runtime'}",
}
Process = subprocess.Popen[str]


def process(script: str, *arguments: str) -> Process:
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *arguments],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def heard(child: Process, word: str) -> None:
    """Wait for a line of its output."""
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line.strip() == word, (line, child.communicate())


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that must come; the test's own limit ends what does not."""
    while not holds():
        time.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Site:
    """A store of purchases, and the ledger of its far side."""

    folder: Path

    @property
    def store(self) -> str:
        return f"sqlite:///{self.folder / 'purchases.db'}"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"

    def worker(self, pause: int, lease: int = 10_000) -> Process:
        return process("crew.py", self.store, str(self.ledger), str(pause), str(lease))

    @contextmanager
    def box(self) -> Generator[Box]:
        with deedbox.open(self.store, [purchase.machine]) as box:
            yield box

    def start(self, number: int) -> None:
        with self.box() as box:
            starts = (
                purchase.Start(purchase=PurchaseId(f"p-{each:05}"), amount=1)
                for each in range(number)
            )
            receipts = box.start_many(starts)
        assert len(receipts) == number

    def ended(self) -> int:
        rows = sqlite3.connect(self.folder / "purchases.db", timeout=30.0)
        (count,) = rows.execute(
            "select count(*) from deedbox_purchase where phase = 'Settled'"
        ).fetchone()
        rows.close()
        return int(count)

    def asked(self) -> Counter[str]:
        """How many keys there are of each verb."""
        rows = open_ledger(self.ledger)
        verbs = Counter(
            str(verb) for (verb,) in rows.execute("select verb from ledger")
        )
        rows.close()
        return verbs


def put_out(child: Process, expected: str = "") -> dict[str, int]:
    """Let a worker stop by itself; what it counted."""
    out, said = child.communicate()
    assert (child.returncode, said) == (0, expected)
    counts: dict[str, int] = json.loads(out.splitlines()[-1])
    return counts


@pytest.mark.timeout(1_800 if SOAK else 300)
def test_r10_three_workers_share_the_work_under_kills(tmp_path: Path) -> None:
    """R10, C35, C49: nothing is lost, and nothing is done twice by its key."""
    orders, kills, pause = (10_000, 200, 4) if SOAK else (500, 10, 20)
    chance = random.Random(7)
    site = Site(tmp_path)
    site.start(orders)
    crew = [site.worker(pause) for _ in range(3)]
    for _ in range(kills):
        victim = chance.randrange(3)
        heard(crew[victim], "serving")
        time.sleep(chance.uniform(0.0, 0.15))
        crew[victim].kill()
        crew[victim].communicate()
        crew[victim] = site.worker(pause)
    until(lambda: site.ended() == orders)
    counts = [put_out(each) for each in crew]
    assert sum(each.get("fenced", 0) for each in counts) == 0
    assert site.asked() == {"charge": orders, "reserve": orders}
    with site.box() as box:
        assert Laws([purchase.machine], Rules()).broken(box.store) == []


def test_c49_a_worker_stopped_for_longer_than_its_lease_changes_nothing(
    tmp_path: Path,
) -> None:
    """C49, C51, R10: what it held is done by another; when it goes on, it is fenced."""
    site = Site(tmp_path)
    site.start(3)
    sleeper = site.worker(400, lease=600)
    until(lambda: sum(site.asked().values()) >= 3)  # in the handlers, after the act
    sleeper.send_signal(signal.SIGSTOP)
    other = site.worker(1, lease=600)
    until(lambda: site.ended() == 3)
    with site.box() as box:
        before = box.list(purchase.machine)
    sleeper.send_signal(signal.SIGCONT)
    counts = put_out(sleeper, "session 2 is over: another process declared it dead\n")
    put_out(other)
    with site.box() as box:
        assert box.list(purchase.machine) == before
    assert counts["fenced"] >= 1
    assert counts.get("handled", 0) == 0
    assert site.asked() == {"charge": 3, "reserve": 3}


@pytest.mark.parametrize("fate", [signal.SIGCONT, signal.SIGKILL])
def test_r3_a_process_stopped_inside_a_transaction_holds_all_and_loses_nothing(
    tmp_path: Path, fate: signal.Signals
) -> None:
    """R3: the others wait until it goes on or dies; readers do not."""
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    with deedbox.open(url, [job.machine]) as box:
        box.start(job.Start(job="before"))
        child = process("guest.py", url, "stops")
        heard(child, "inside")
        until(lambda: "T" in Path(f"/proc/{child.pid}/stat").read_text().split(")")[1])
        sent = threading.Thread(target=box.start, args=(job.Start(job="after"),))
        sent.start()
        sent.join(0.2)
        assert [one.id for one in box.list(job.machine)] == ["before"]
        child.send_signal(fate)
        sent.join()
        child.communicate()
        ids = [one.id for one in box.list(job.machine)]
    guests = ["guest"] if fate == signal.SIGCONT else []
    assert ids == ["after", "before", *guests]


def test_c35_nobody_hears_that_the_file_is_locked(tmp_path: Path) -> None:
    """C35: two workers, a client, and a program that knows no turnstile."""
    url, path = f"sqlite:///{tmp_path / 'jobs.db'}", tmp_path / "jobs.db"
    rounds = 200 if SOAK else 30
    with deedbox.open(url, [job.machine]) as box:
        box.start_many(job.Start(job=f"j{number:02}") for number in range(20))
    workers = [process("guest.py", url, "serves") for _ in range(2)]
    client = process("guest.py", url, "sends", str(rounds))
    stranger = sqlite3.connect(path, isolation_level=None, timeout=60.0)
    stranger.execute("create table visits (number integer)")
    while client.poll() is None:
        stranger.execute("begin immediate")
        stranger.execute("insert into visits values (1)")
        stranger.execute("commit")
        time.sleep(0.002)
    stranger.close()
    with deedbox.open(url, [job.machine]) as box:
        until(lambda: len(box.list(job.machine, phase="Done")) == 20)
    for child in (client, *workers):
        out, said = child.communicate()
        assert (child.returncode, said) == (0, ""), out
    with deedbox.open(url, [job.machine]) as box:
        ended = box.list(job.machine, limit=1_000)
        assert {one.phase for one in ended} == {"Done"}
        notes = [len(box.history(job.machine, one.id)) for one in ended[:20]]
        assert Laws([job.machine], Rules()).broken(box.store) == []
    assert notes == [rounds + 3] * 20


def test_r6_a_command_that_kills_its_process_is_parked_after_ten(
    tmp_path: Path,
) -> None:
    """R6: a crash counts as a delivery; the other jobs of the file are done."""
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    with deedbox.open(url, [job.machine]) as box:
        box.start_many(job.Start(job=id) for id in ("deadly", "fine"))
    ends = [
        process("guest.py", url, "serves", "deadly").communicate() for _ in range(11)
    ]
    with deedbox.open(url, [job.machine]) as box:
        deadly = box.get(job.machine, "deadly")
        assert {one.id: one.phase for one in box.list(job.machine)} == {
            "deadly": "Working",
            "fine": "Done",
        }
    assert deadly is not None
    assert deadly.owed[0].parked == "no answer in 10 deliveries"
    assert deadly.owed[0].deliveries == 10
    assert [out.split() for out, _ in ends] == [["serving"]] * 10 + [
        ["serving", "served"]
    ]


@pytest.mark.parametrize(("how", "code"), [("exits", 3), ("killed", -signal.SIGKILL)])
def test_r6_only_the_command_that_kills_its_process_is_parked(
    tmp_path: Path, how: str, code: int
) -> None:
    """R6: twenty honest ones are in flight beside it, fewer with each death."""
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    with deedbox.open(url, [job.machine]) as box:
        box.start_many(job.Start(job=f"j{number:02}") for number in range(21))
    ends: list[int] = []
    while 0 not in ends:
        child = process("guest.py", url, "finishes", "j07", how)
        assert child.communicate() == ("", "")
        ends.append(child.returncode)
    with deedbox.open(url, [job.machine]) as box:
        killer = box.get(job.machine, "j07")
        done = box.list(job.machine, phase="Done", limit=30)
        assert Laws([job.machine], Rules()).broken(box.store) == []
    assert ends == [code] * 10 + [0]
    assert len(done) == 20
    assert killer is not None
    row = killer.owed[0]
    assert (row.deliveries, row.parked) == (10, "no answer in 10 deliveries")
    assert row.error == "its process died or stood still"


def test_s7_an_unrepeatable_command_that_kills_its_process_is_not_called_again(
    tmp_path: Path,
) -> None:
    """S7: it was marked before the call, so it waits for its silence."""
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    with deedbox.open(url, [job.machine]) as box:
        box.start(job.Start(job="deadly"))
        box.send(job.machine, "deadly", job.Press())
    first = process("guest.py", url, "serves", "deadly")
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    second = process("guest.py", url, "serves", "deadly")
    out, said = second.communicate()
    assert (second.returncode, said) == (0, ""), out
    with deedbox.open(url, [job.machine]) as box:
        instance = box.get(job.machine, "deadly")
    assert instance is not None
    assert instance.phase == "Pressing"
    assert (instance.owed[0].deliveries, instance.owed[0].claimed) == (1, False)
