"""`deedbox show --waits`: ladders as real delays, and deadlines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from deedbox import Duration, spread
from deedbox_dsl import core
from deedbox_generator.views import waits

JOB = """
policy ladder {{ {policy} }}

machine Job version 1 {{
  key job: text
  state Running {{ attempt: int, silent_at: instant }} awaits work
  state Waiting {{ attempt: int, due: instant }}
  state Silent {{ attempt: int, due: instant }}
  final Done
  command work(job: text) -> finished | failed
  start {{ do work(job) goto Running {{ attempt: 1, silent_at: now + 90s }} }}
  in Running {{
    on work.finished {{ goto Done }}
    on work.failed when attempt > 20 {{ goto Done }}
    on work.failed {{ goto Waiting {{ attempt, due: now + wait(ladder, attempt) }} }}
    at silent_at {{ goto Silent {{ attempt, due: now + wait(ladder, attempt) }} }}
  }}
  in Waiting {{
    at due {{ do work(job) goto Running {{ attempt: attempt + 1, silent_at: now + 90s }} }}
  }}
  in Silent {{
    at due {{ repeat work(job) goto Running {{ attempt: attempt + 1, silent_at: now + 90s }} }}
  }}
}}
"""


def shown(compiled: Callable[[str], core.Machine], policy: str) -> str:
    return waits(compiled(JOB.format(policy=policy)))


def test_a_ladder_is_shown_as_the_delays_that_it_makes(
    compiled: Callable[[str], core.Machine],
) -> None:
    text = shown(compiled, "first 2s factor 2 max 30s attempts 4 jitter 20%")
    assert (
        text
        == """\
Job: machine, version 1

policy ladder: first 2s, factor 2, max 30s, attempts 4, jitter 20%
  waits         2s, 4s, 8s
  with jitter   1s 600ms to 2s, 3s 200ms to 4s, 6s 400ms to 8s
  patience      4 issues; the last at most 14s of waiting after the first
  used          Running, work.failed: waits in Waiting, then do work
  used          Running, at silent_at: waits in Silent, then repeat work

Running, awaits work
  silent_at     now + 90s; then → Silent

Waiting
  due           now + wait(ladder, attempt); then → Running

Silent
  due           now + wait(ladder, attempt); then → Running
"""
    )


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        (
            "first 5s factor 2 max 10m attempts unlimited jitter none",
            "waits         5s, 10s, 20s, 40s, 1m 20s, 2m 40s, 5m 20s, 10m, and so on",
        ),
        (
            "first 5s factor 2 max 10m attempts unlimited jitter none",
            "patience      no end; the longest wait is reached after 10m 35s",
        ),
        (
            "first 1s factor 3 max 10s attempts 9 jitter none",
            "waits         1s, 3s, 9s, 10s (5 times)",
        ),
        (
            "first 1s factor 3 max 10s attempts 9 jitter none within 30s",
            "patience      at most 9 issues; the last not later than 30s after the first",
        ),
        (
            "first 1s factor 3 max 10s attempts 3 jitter none within 30s",
            "patience      at most 3 issues; the last not later than 30s after the first",
        ),
        (
            "first 1s factor 3 max 10s attempts unlimited jitter none within 1h",
            "patience      the last not later than 1h after the first",
        ),
        (
            "first 1s factor 1 max 1s attempts 1 jitter none",
            "waits         none: there is one issue",
        ),
        (
            "first 250ms factor 1.5 max 1m attempts 3 jitter full",
            "with jitter   1ms to 250ms, 1ms to 375ms",
        ),
    ],
)
def test_patience_and_waits_in_words(
    compiled: Callable[[str], core.Machine], policy: str, line: str
) -> None:
    assert f"  {line}\n" in shown(compiled, policy)


@pytest.mark.parametrize(
    ("jitter", "low", "high"), [(20, 1_600, 2_000), ("full", 1, 2_000), (100, 0, 2_000)]
)
def test_the_range_shown_is_the_range_that_the_runtime_keeps(
    compiled: Callable[[str], core.Machine],
    jitter: int | Literal["full"],
    low: int,
    high: int,
) -> None:
    word = jitter if jitter == "full" else f"{jitter}%"
    text = shown(compiled, f"first 2s factor 1 max 2s attempts 2 jitter {word}")
    said = {0: "0ms", 1: "1ms", 1_600: "1s 600ms"}[low]
    assert f"with jitter   {said} to 2s\n" in text
    real = [spread(Duration(2_000), jitter, f"Job/j/0/{n}") for n in range(20_000)]
    assert low <= min(real)
    assert max(real) <= high


def test_a_machine_that_never_waits_says_so(
    compiled: Callable[[str], core.Machine],
) -> None:
    machine = compiled(
        "machine Flag version 1 { key id: text state Up final Down message Lower\n"
        "  start { goto Up } in Up { on Lower { goto Down } } }"
    )
    assert waits(machine) == (
        "Flag: machine, version 1\n\nIt waits for messages only: no ladder, no deadline.\n"
    )


def test_every_deadline_of_the_gallery_is_explained(
    gallery: dict[str, core.Machine],
) -> None:
    for machine in gallery.values():
        text = waits(machine)
        for state in machine.states:
            assert not state.deadlines or f"\n{state.name}" in text
        assert max(map(len, text.splitlines())) <= 100
