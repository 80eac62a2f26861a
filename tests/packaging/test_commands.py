"""The command line as a whole: what is there with the extras and without."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import pytest
from deedbox.__main__ import COMMANDS_OF, main


@pytest.mark.parametrize("extra", COMMANDS_OF)
def test_the_names_known_without_an_extra_are_those_that_it_brings(extra: str) -> None:
    commands = argparse.ArgumentParser().add_subparsers()
    (point,) = entry_points(group="deedbox.commands", name=extra)
    point.load()(commands)
    assert sorted(commands.choices) == sorted(COMMANDS_OF[extra])


def test_an_unknown_word_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo", "--loud"])
    assert end.value.code == 2
    assert "--loud" in capsys.readouterr().err


ENDLESS: Final = """
machine Count version 1 {
  key name: text
  state On { a: int, b: int, c: int }
  message A
  message B
  message C
  start { goto On { a: 0, b: 0, c: 0 } }
  in On {
    on A when a < 999 { stay { .., a: a + 1 } }
    on A { stay { .., a: 0 } }
    on B when b < 999 { stay { .., b: b + 1 } }
    on B { stay { .., b: 0 } }
    on C when c < 999 { stay { .., c: c + 1 } }
    on C { stay { .., c: 0 } }
  }
  allow DEED406 "it counts"
}
"""
RUN: Final = """
import signal, sys
from deedbox.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(["verify", "count.deed"]))
"""


def test_an_interrupted_search_says_so_and_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "count.deed").write_text(ENDLESS, "utf-8")
    searching = subprocess.Popen(
        [sys.executable, "-c", RUN], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / ".deedbox-cache").exists() and searching.poll() is None:
        time.sleep(0.05)
    searching.send_signal(signal.SIGINT)
    _, said = searching.communicate()
    assert (searching.returncode, said) == (130, "deedbox: interrupted\n")
    assert not list((tmp_path / ".deedbox-cache").rglob("*.json"))
