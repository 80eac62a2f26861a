"""The demo as a person starts it, and the ways to stop it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

README: Final = (Path(__file__).parents[2] / "README.md").read_text()


def children_of(folder: Path) -> list[str]:
    """Command lines of living processes that name the folder."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found


@pytest.fixture
def started(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The demo, at a time when its three children run.

    What a shell starts in the background ignores SIGINT, and so do its children.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    child = subprocess.Popen(
        [sys.executable, "-m", "deedbox", "demo", "--plain"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    signal.signal(signal.SIGINT, before)
    yield child
    child.kill()
    child.communicate()


def until_it_runs(child: subprocess.Popen[str], folder: Path) -> None:
    assert child.stdout is not None
    while "both lanes take the order mug" not in child.stdout.readline():
        assert child.poll() is None
    while len(children_of(folder)) < 3:
        assert child.poll() is None
        time.sleep(0.01)


def test_the_demo_ends_as_told(started: subprocess.Popen[str], tmp_path: Path) -> None:
    """OS-08, OS-09, OS-10: and what the README shows is what it prints."""
    out, err = started.communicate()
    assert (started.returncode, err) == (0, "")
    assert out.count("kill -9") == 2
    for line in accounts(README):
        assert line in out
    assert len(accounts(README)) == 4
    assert list(tmp_path.iterdir()) == []
    assert children_of(tmp_path) == []


def accounts(text: str) -> list[str]:
    return re.findall(r"^  [AB] +(?:mug|lamp) .*$", text, re.M)


@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_demo_leaves_no_process_and_no_file(
    started: subprocess.Popen[str], tmp_path: Path, word: signal.Signals
) -> None:
    until_it_runs(started, tmp_path)
    started.send_signal(word)
    started.communicate()
    assert started.returncode == 130
    assert children_of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_killed_demo_leaves_no_process(
    started: subprocess.Popen[str], tmp_path: Path
) -> None:
    until_it_runs(started, tmp_path)
    started.kill()
    started.communicate()
    while children_of(tmp_path):
        time.sleep(0.01)
