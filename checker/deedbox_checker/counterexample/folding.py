"""Repetition in a run, folded: the same steps again, shown once and counted.

Steps are the same that differ in counters, times and the numbers of deeds only.  What
may matter is never folded away: a step after which another part of the property holds,
one that breaks something, the last one; nor a fault that the first time does not have.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..traces.pictures import duration
from ..traces.trace import Change
from .retold import Told

LEAST: Final = 3
"""So many steps at least are folded away, or none."""
LONGEST: Final = 60
"""No period that is looked for is longer."""
DEED: Final = re.compile(r"(?<=#)\d+|(?<=\bkey )\d+")
LENGTH: Final = re.compile(r"\b\d+(?:ms|s|m|h|d)\b")


@dataclass(frozen=True, slots=True)
class Again:
    """What comes after a first time: as many steps each, all like it."""

    rounds: tuple[tuple[Told, ...], ...]


Piece: TypeAlias = Told | Again


def folded(steps: Sequence[Told]) -> tuple[Piece, ...]:
    """The steps, with what repeats folded; `unfolded` gives them back."""
    forms = [form(each) for each in steps]
    found: list[Piece] = []
    at = 0
    while at < len(steps):
        period, times = longest(steps, forms, at)
        end = at + period
        found += steps[at:end]
        if times > 1:
            rounds = range(end, at + times * period, period)
            found.append(Again(tuple(tuple(steps[n : n + period]) for n in rounds)))
            end = at + times * period
        at = end
    return tuple(found)


def unfolded(pieces: Iterable[Piece]) -> Iterator[Told]:
    for piece in pieces:
        if isinstance(piece, Again):
            for each in piece.rounds:
                yield from each
        else:
            yield piece


def longest(
    steps: Sequence[Told], forms: Sequence[Hashable], at: int
) -> tuple[int, int]:
    """The shortest period from here that folds the most, and how many times it is there."""
    best, saved = (1, 1), LEAST - 1
    for period in range(1, min((len(steps) - at) // 2, LONGEST) + 1):
        end = at + period
        while end < len(steps) and forms[end] == forms[end - period]:
            if steps[end].shown:
                break
            end += 1
        times = (end - at) // period
        if (times - 1) * period > saved:
            best, saved = (period, times), (times - 1) * period
    return best


def form(told: Told) -> Hashable:
    """What is the same whenever the step is: everything but counters, times and deeds."""
    line = told.line
    words = LENGTH.sub("", line.step)
    changes = tuple(map(bare, line.changes))
    return line.who, words, told.decided, told.values, changes


def bare(change: Change) -> Hashable:
    name = DEED.sub("", change.name)
    if change.before.isdecimal() and change.after.isdecimal() and counts(change):
        before, after = int(change.before), int(change.after)
        return name, (after > before) - (after < before)
    if not change.before and change.after.isdecimal() and counts(change):
        return name, "set"
    return name, DEED.sub("", change.before), DEED.sub("", change.after)


def counts(change: Change) -> bool:
    """Whether it is a number of the machine's own: what the far side did is none."""
    return not change.name.startswith("count(")


def reached(again: Again) -> Iterator[tuple[str, str, str]]:
    """Of each number that differs from round to round: where it begins, and where it ends."""
    seen: dict[str, tuple[str, str]] = {}
    for steps in again.rounds:
        for change in (change for told in steps for change in told.line.changes):
            if change.after.isdecimal() and counts(change):
                before, _ = seen.get(change.name, (change.before, ""))
                seen[change.name] = before, change.after
    for name, (before, after) in seen.items():
        if before != after:
            yield name, before, after


def how_far(again: Again) -> Iterator[str]:
    """What the numbers reach in it, and how long a policy waits."""
    for name, before, after in reached(again):
        yield f"{name}: {before} -> {after}" if before else f"{name}: {after}"
    waits = [
        each.waits for steps in again.rounds for each in steps if each.waits is not None
    ]
    if waits:
        shortest, longest = duration(min(waits)), duration(max(waits))
        span = shortest if shortest == longest else f"{shortest} .. {longest}"
        yield f"wait {span}"


def turns(again: Again) -> tuple[str, ...]:
    """What is done each time, in short: the steps that change the phase, or all."""
    first = again.rounds[0]
    moving = [
        told.line.step
        for told in first
        if any(each.name == "phase" for each in told.line.changes)
    ]
    return tuple(dict.fromkeys(moving or [told.line.step for told in first]))
