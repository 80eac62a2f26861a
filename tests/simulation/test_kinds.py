"""The laws of sagas and scans: each finds the machine that breaks it, and holds of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

import pytest
from deedbox.codec import Codec
from deedbox.simulation import Step, run
from deedbox.simulation.lists import Lists, Records
from deedbox.simulation.scans import Scans
from deedbox.step import AnyMachine
from gallery import compiled, machine, miswritten
from miswritten import SAGAS, SCANS, WAITS, Miswritten
from msgspec.structs import replace

SEEDS: Final = 1_500


@pytest.mark.parametrize(
    "wrong", [*SAGAS, *SCANS, *WAITS], ids=lambda wrong: wrong.name
)
def test_a_machine_that_is_wrong_is_found_out(
    wrong: Miswritten, capsys: pytest.CaptureFixture[str]
) -> None:
    """Properties 5, 9, 10 and 11, each by the law that speaks of it."""
    each = miswritten(wrong.machine, wrong.old, wrong.new, wrong.more)
    for seed in range(SEEDS):
        broken = run(seed, [each]).broken
        if broken:
            assert wrong.says in broken[0]
            with capsys.disabled():
                print(f"\n  {wrong.name}: found in run {seed + 1}", end="")
            return
    raise AssertionError(f"{wrong.name} was not found")


def test_every_saga_and_scan_of_the_gallery_says_what_it_is() -> None:
    """Without that no law would speak of it."""
    for module in compiled().modules:
        for each in module.machines:
            made = machine(each.name)
            assert (made.saga is not None) == (each.kind == "saga"), each.name
            assert (made.scan is not None) == (each.kind == "scan"), each.name


# ---- a pass, held against a list ---------------------------------------------------


def single_pages(made: AnyMachine) -> Iterator[tuple[list[Step], Records]]:
    """Passes of one page, each with the steps up to its end, and the page."""
    roles = made.scan
    assert roles is not None
    for seed in range(30):
        steps = [event for event in run(seed, [made]).events if isinstance(event, Step)]
        own = [step for step in steps if step.id == steps[0].id]
        for at, step in enumerate(own):
            if isinstance(step.message, roles.page):
                records = cast(Records, getattr(step.message, roles.listed))
                over = next(
                    (
                        number
                        for number, one in enumerate(own)
                        if number >= at and not hasattr(one.after, roles.item)
                    ),
                    None,
                )
                if len(records) <= roles.size and over is not None:
                    yield own[: over + 1], records
                break


def said(made: AnyMachine, steps: list[Step], stood: Records) -> list[str]:
    """What the law says of these steps when this is what stood in the list."""
    lists, found = Lists(0, None), list[str]()
    first = steps[0]
    lists.versions[f"{first.machine}/{first.id}"] = [stood]
    lists.read = {step.answers: 0 for step in steps if step.answers is not None}
    laws = Scans(lists, found.append)
    for step in steps:
        laws.stepped(Codec(made), step)
    return found


def test_a_record_that_no_page_showed_is_missed() -> None:
    """It was due and stood in the list all the while."""
    made = machine("Showcase")
    missed = 0
    for steps, records in single_pages(made):
        assert said(made, steps, records) == []
        if not records:
            continue
        another = replace(records[0], id="r9999", due=0)
        text = "\n".join(said(made, steps, (*records, another)))
        assert "r9999" in text
        assert "stood in the list" in text
        missed += 1
        later = replace(another, due=1 << 60)
        assert "stood in the list" not in "\n".join(
            said(made, steps, (*records, later))
        )
    assert missed > 3


def test_more_pages_than_the_list_has_are_too_many() -> None:
    """Ceil(n / p) pages: a list of three takes two pages of two, and one was read."""
    made = machine("Showcase")
    counted = 0
    for steps, records in single_pages(made):
        later = [replace(one, id=f"s{n}", due=1 << 60) for n, one in enumerate(records)]
        many = (*records, *later)
        expected = -(-len(many) // 2)
        text = "\n".join(said(made, steps, many))
        assert ("1 pages were read" in text) == (expected > 1)
        counted += expected > 1
    assert counted > 3
