"""The live view shows what the plain one says: both lanes, who lives, and what is due."""

from __future__ import annotations

import pytest
from deedbox.demo.live import LiveView
from deedbox.demo.picture import Lane, Picture, Row

MUG = Row("mug", "waits", attempt=2, limit=5, due=3_500)
LAMP = Row("lamp", "charging")
PICTURE = Picture(
    1_000,
    2_000,
    (Lane("A  in memory", None, (MUG,)), Lane("B  written down", 4711, (MUG, LAMP))),
)


def test_both_lanes_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    with LiveView() as view:
        view.show(PICTURE)
    drawn = capsys.readouterr().out
    titles, first, second, frame, clock = drawn.splitlines()[:5]
    assert titles.index("A  in memory") < titles.index("B  written down")
    assert " ".join(first.split()).count("mug waits ●●○○○ due in 1.5 s") == 2
    assert "lamp charging" in second
    assert frame.index("killed") < frame.index("worker 4711")
    assert clock.strip() == "1.0 s"


def test_what_happened_stands_above_the_picture(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with LiveView() as view:
        view.say(PICTURE, "kill -9 4711, the worker of lane B")
    said, titles, *_ = capsys.readouterr().out.splitlines()
    assert said == "  1.0 s  kill -9 4711, the worker of lane B"
    assert "A  in memory" in titles
