"""Generated machines in a store: views that follow the spec, numbers that end at 64 bits."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import deedbox
import pytest
from deedbox import WrongType

MODULE = """
module made.counters

machine Counter version 1 {{
  key id: text
  state Counts {{ total: int{field} }}
  final Over
  message Add {{ by: int }}
  message Double
  message Close
  start {{ goto Counts {{ total: 0{value} }} }}
  in Counts {{
    on Add as m {{ stay {{ .., total: total + m.by }} }}
    on Double {{ stay {{ .., total: total * 2 }} }}
    on Close {{ goto Over }}
  }}
}}
"""
PLAIN = MODULE.format(field="", value="")
LARGEST = 2**63 - 1


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/c.db"


def test_what_does_not_fit_64_bits_is_refused_and_changes_nothing(
    url: str, made: Callable[[str, str], Any]
) -> None:
    """M5: a result outside refuses the message; the instance is as it was."""
    counter = made(PLAIN, "counter")
    with deedbox.open(url, [counter.machine]) as box:
        box.start(counter.Start("c"))
        box.send(counter.machine, "c", counter.Add(LARGEST))
        before = box.get(counter.machine, "c")
        for message in (counter.Add(1), counter.Double(), counter.Add(LARGEST)):
            with pytest.raises(WrongType, match="not a 64-bit integer"):
                box.send(counter.machine, "c", message)
        assert box.get(counter.machine, "c") == before
        assert before is not None
        assert before.state.total == LARGEST
        box.send(counter.machine, "c", counter.Add(-1))
        after = box.get(counter.machine, "c")
        assert after is not None
        assert after.state.total == LARGEST - 1


def test_a_number_beyond_64_bits_does_not_get_in(
    url: str, made: Callable[[str, str], Any]
) -> None:
    counter = made(PLAIN, "counter")
    with deedbox.open(url, [counter.machine]) as box:
        box.start(counter.Start("c"))
        with pytest.raises(WrongType, match="64-bit"):
            box.send(counter.machine, "c", counter.Add(LARGEST + 1))
        left = box.get(counter.machine, "c")
        assert left is not None
        assert left.rev == 1


def columns(path: Path) -> list[str]:
    found = sqlite3.connect(path).execute('select * from "counter"')
    return [column for column, *_ in found.description]


def opened(path: Path, module: ModuleType) -> None:
    with deedbox.open(f"sqlite:///{path}", [module.machine]):
        pass


def test_the_view_follows_a_spec_that_gets_a_field(
    tmp_path: Path, made: Callable[[str, str], Any]
) -> None:
    """A view holds no rows, so an open store gets the one that the spec says now."""
    path = tmp_path / "c.db"
    counter = made(PLAIN, "counter")
    opened(path, counter)
    assert columns(path)[-1] == "total"
    wider = made(
        MODULE.format(field=", label: text?", value=", label: none"), "counter"
    )
    opened(path, wider)
    assert columns(path)[-2:] == ["total", "label"]
    opened(path, counter)
    assert columns(path)[-1] == "total"


def test_a_view_that_says_the_same_is_left_alone(
    tmp_path: Path, made: Callable[[str, str], Any]
) -> None:
    path = tmp_path / "c.db"
    counter = made(PLAIN, "counter")
    opened(path, counter)
    before = sqlite3.connect(path).execute("pragma schema_version").fetchone()
    opened(path, counter)
    assert sqlite3.connect(path).execute("pragma schema_version").fetchone() == before
