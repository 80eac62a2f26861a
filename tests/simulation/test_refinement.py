"""Every simulated run is a run that the checker explored: the model tells the truth."""

from __future__ import annotations

from typing import Final

import pytest
from deedbox.simulation import Decided, Step, simulate
from gallery import GROUPS
from msgspec.structs import replace
from refinement import Words, outside, pair

ALL: Final = sorted({name for group in GROUPS for name in group})
UNEXPLORED: Final = {
    # Scans read ordered lists: `test_listed`.
    "NightlyExport",
    "Showcase",
    # What is told to another machine is a command without an answer to the explorer.
    "Account",
    "StandingOrder",
    "Transfer",
}
OPEN: Final = {
    # An instant of the past plus a span that reaches the future is not explored: a
    # period that begins in the past and ends ahead.
    "Subscription",
}
SEEDS: Final = 60


def events(words: Words, seed: int) -> list[Step | Decided]:
    done = simulate(words.plan(seed), [words.codec.machine], words)
    assert done.broken == []
    return done.events


def marked(name: str) -> object:
    wrong = pytest.mark.xfail(strict=True, reason="the checker misses a step")
    return pytest.param(name, marks=[wrong] if name in OPEN else [])


@pytest.mark.parametrize(
    "name", [marked(name) for name in ALL if name not in UNEXPLORED]
)
def test_a_run_goes_only_where_the_checker_has_been(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each state and each step of the real interpreter is an explored one."""
    found = pair(name)
    assert not isinstance(found, str), found
    words, known = found
    for seed in range(SEEDS):
        left = outside(events(words, seed), words, known)
        assert left == [], f"seed {seed}\n" + "\n".join(left)
    visible = known.visible()
    with capsys.disabled():
        share = len(known.taken & visible) * 100 // len(visible)
        print(
            f"\n  {name}: {len(known.taken)} of {len(visible)} explored steps"
            f" ({share} %) were taken in {SEEDS} runs",
            end="",
        )


def test_a_run_with_a_step_left_out_is_outside() -> None:
    """What follows a step that never happened was not explored from there."""
    found = pair("Order")
    assert not isinstance(found, str)
    words, known = found
    whole = max((events(words, seed) for seed in range(20)), key=len)
    last = {event.id: at for at, event in enumerate(whole)}
    steps = [
        at
        for at, event in enumerate(whole)
        if isinstance(event, Step) and at != last[event.id]
    ]
    assert len(steps) > 5
    assert outside(whole, words, known) == []
    for at in steps:
        assert outside([*whole[:at], *whole[at + 1 :]], words, known) != []


def test_another_answer_than_the_far_side_gave_is_outside() -> None:
    """A step is held against what was decided, not against its own message alone."""
    found = pair("Delivery")
    assert not isinstance(found, str)
    words, known = found
    told = events(words, 1)
    at, decided = next(
        (at, event) for at, event in enumerate(told) if isinstance(event, Decided)
    )
    others = [
        words.ours(answer.message)
        for answer in known.model.answers[decided.command]
        if answer.outcome != words.outcome(decided.answer or answer.message)
    ]
    assert outside(told, words, known) == []
    for other in others:
        changed = [*told[:at], replace(decided, answer=other), *told[at + 1 :]]
        assert outside(changed, words, known) != []
