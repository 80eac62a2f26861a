"""Every simulated run is a run that the checker explored: the model tells the truth."""

from __future__ import annotations

from typing import Final

import pytest
from deedbox.simulation import Decided, Step
from gallery import GROUPS
from msgspec.structs import replace
from refinement import party

TELLING: Final = ("Account", "Transfer", "StandingOrder")
"""They tell each other things, so they run together."""
SCANS: Final = {"NightlyExport", "Showcase"}
"""They read ordered lists: `test_listed`."""
TOGETHER: Final = [
    TELLING,
    *(
        (name,)
        for name in sorted({name for group in GROUPS for name in group})
        if name not in (*TELLING, *SCANS)
    ),
]
SEEDS: Final = 60


@pytest.mark.parametrize("names", TOGETHER, ids=", ".join)
def test_a_run_goes_only_where_the_checker_has_been(
    names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each state and each step of the real interpreter is an explored one."""
    found = party(*names)
    assert not isinstance(found, str), found
    for seed in range(SEEDS):
        left = found.outside(found.run(seed))
        assert left == [], f"seed {seed}\n" + "\n".join(left)
    with capsys.disabled():
        for name, (_, known) in found.members.items():
            print(f"\n  {name}: {known.told()} in {SEEDS} runs", end="")


def test_a_run_with_a_step_left_out_is_outside() -> None:
    """What follows a step that never happened was not explored from there."""
    found = party("Order")
    assert not isinstance(found, str)
    whole = max((found.run(seed) for seed in range(20)), key=len)
    last = {event.id: at for at, event in enumerate(whole)}
    steps = [
        at
        for at, event in enumerate(whole)
        if isinstance(event, Step) and at != last[event.id]
    ]
    assert len(steps) > 5
    assert found.outside(whole) == []
    for at in steps:
        assert found.outside([*whole[:at], *whole[at + 1 :]]) != []


def test_another_answer_than_the_far_side_gave_is_outside() -> None:
    """A step is held against what was decided, not against its own message alone."""
    found = party("Delivery")
    assert not isinstance(found, str)
    words, known = found.members["Delivery"]
    told = found.run(1)
    at, decided = next(
        (at, event) for at, event in enumerate(told) if isinstance(event, Decided)
    )
    others = [
        words.ours(answer.message)
        for answer in known.model.answers[decided.command]
        if answer.outcome != words.outcome(decided.answer or answer.message)
    ]
    assert found.outside(told) == []
    for other in others:
        changed = [*told[:at], replace(decided, answer=other), *told[at + 1 :]]
        assert found.outside(changed) != []
