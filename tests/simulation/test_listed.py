"""Runs of scans over real lists go only where the checker has been."""

from __future__ import annotations

from typing import Final, cast

import pytest
from deedbox.simulation import Decided, Step, simulate
from drawn import Words
from listed import Reader, listed
from msgspec import Struct
from msgspec.structs import replace
from refinement import outside

SCANS: Final = ("NightlyExport", "Showcase")
SEEDS: Final = 60


def events(words: Words, seed: int) -> list[Step | Decided]:
    done = simulate(words.plan(seed), [words.codec.machine], Reader(words))
    assert done.broken == []
    return done.events


def pages(words: Words, told: list[Step | Decided]) -> list[int]:
    """How many records each page had that came."""
    roles = words.codec.machine.scan
    assert roles is not None
    return [
        len(cast("tuple[Struct, ...]", getattr(event.message, roles.listed)))
        for event in told
        if isinstance(event, Step) and isinstance(event.message, roles.page)
    ]


@pytest.mark.parametrize("name", SCANS)
def test_a_scan_goes_only_where_the_checker_has_been(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each state and each step of the real interpreter is an explored one, in order."""
    words, known = listed(name)
    seen = set[int]()
    for seed in range(SEEDS):
        told = events(words, seed)
        seen |= set(pages(words, told))
        left = outside(told, words, known)
        assert left == [], f"seed {seed}\n" + "\n".join(left)
    assert seen == {0, 1, 2, 3}, "a page is empty, short, full, and one more is seen"
    with capsys.disabled():
        print(f"\n  {name}: {known.told()} in {SEEDS} runs", end="")


def longest(words: Words) -> list[Step | Decided]:
    return max((events(words, seed) for seed in range(10)), key=len)[:200]


def test_a_scan_with_a_step_left_out_is_outside() -> None:
    words, known = listed("Showcase")
    whole = longest(words)
    last = {event.id: at for at, event in enumerate(whole)}
    assert outside(whole, words, known) == []
    steps = [
        at
        for at, event in enumerate(whole)
        if isinstance(event, Step) and at != last[event.id]
    ]
    found = [
        at for at in steps if outside([*whole[:at], *whole[at + 1 :]], words, known)
    ]
    # A page of one record after another of one record looks the same when it is left out.
    assert len(found) > len(steps) * 3 // 4


def test_a_page_that_is_worked_on_in_another_order_is_outside() -> None:
    """The order of the records is what is left of their names."""
    words, known = listed("Showcase")
    turned = 0
    whole = longest(words)
    for at, event in enumerate(whole):
        if not isinstance(event, Step) or not getattr(event.after, "todo", ()):
            continue
        after = cast("tuple[Struct, ...]", getattr(event.after, "todo"))  # noqa: B009
        job = cast(Struct, getattr(event.after, "job"))  # noqa: B009
        wrong = replace(event.after, job=after[0], todo=(job,))
        changed = [*whole[:at], replace(event, after=wrong)]
        assert outside(changed, words, known) != []
        turned += 1
    assert turned > 1


def test_a_record_that_is_passed_over_is_outside() -> None:
    """A cursor that goes on while a record waits is nowhere in what was explored."""
    words, known = listed("Showcase")
    whole = longest(words)
    skipped = 0
    for at, event in enumerate(whole):
        if not isinstance(event, Step) or not getattr(event.before, "todo", ()):
            continue
        later = next(
            (
                one
                for one in whole[at:]
                if isinstance(one, Step)
                and one.id == event.id
                and type(one.after).__name__ in ("Pausing", "Resting")
            ),
            None,
        )
        if later is None or type(event.message).__name__ != "PresentPresented":
            continue
        changed = [*whole[:at], replace(event, after=later.after)]
        assert outside(changed, words, known) != []
        skipped += 1
    assert skipped > 0
