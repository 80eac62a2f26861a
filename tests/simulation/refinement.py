"""A simulated run, held against what the checker explored of the same machine.

A run is seen as the steps of one instance and what the far side decided for it.  Of the
explored worlds those are kept that agree with everything seen so far; what is not seen
may happen in between.  Each state, each step and each decision must be one that the
checker explored: when no world is left, the run has gone where the checker never was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, Final, cast

from deedbox import Due
from deedbox.codec import Codec
from deedbox.machine import CommandType
from deedbox.simulation import Decided, Step, simulate
from deedbox.step import AnyMachine
from deedbox_checker.environment.labels import Kind
from deedbox_checker.subjects.subjects import Subject, subjects
from drawn import Words, planned
from gallery import one_module
from msgspec import Struct
from shown import UNSEEN, Explored, explored, seen_as

DECIDES: Final = frozenset({Kind.FAR_SIDE, Kind.ARRIVAL})


class Follower:
    """The explored worlds in which one instance may be."""

    def __init__(self, words: Words, known: Explored) -> None:
        self._words = words
        self._known = known
        self._worlds: frozenset[int] = frozenset({0})

    def sees(self, event: Step | Decided, current: Struct | None) -> str | None:
        """What is wrong with the event, None when it was explored."""
        match event:
            case Step():
                return self._step(event)
            case Decided():
                return self._decided(event, current)

    def _unseen(self) -> frozenset[int]:
        return frozenset[int]().union(*map(self._known.unseen, self._worlds))

    def _step(self, event: Step) -> str | None:
        known, words = self._known, self._words
        at = cast(int, getattr(event.message, "at"))  # noqa: B009
        worlds, before = self._unseen(), None
        if event.before is not None:
            before = known.shape(seen_as(known.model, words.theirs(event.before), at))
        worlds = frozenset(world for world in worlds if known.states[world] == before)
        if not worlds:
            return (
                f"the state {event.before}\n  is {before} at {at},"
                f"\n  {self._said(self._worlds)}"
            )
        after = known.shape(seen_as(known.model, words.theirs(event.after), at))
        kind, subject = self._kind(event)
        taken = [
            edge
            for world in worlds
            for edge in known.edges(world)
            if edge.label.kind in kind
            and (subject is None or edge.label.subject == subject)
            and known.states[edge.target] == after
        ]
        if not taken and after == before:
            return None  # a step that only the milliseconds show
        self._worlds = frozenset(edge.target for edge in taken)
        known.taken.update(edge.number for edge in taken)
        if not taken:
            return (
                f"the step from {before}\n  by {event.message}\n  to {after}"
                f"\n  {self._said(worlds)}"
            )
        return None

    def _kind(self, event: Step) -> tuple[frozenset[Kind], str | None]:
        name = type(event.message).__name__
        machine = self._words.codec.machine
        if isinstance(event.message, Due):
            return frozenset({Kind.DUE}), None
        if event.before is None:
            return frozenset({Kind.START}), None
        if isinstance(event.message, machine.start_type):
            return frozenset({Kind.MESSAGE}), "Start"
        for command in machine.commands:
            for outcome in command.outcomes:
                if type(event.message) is outcome:
                    said = self._words.outcome(event.message)
                    return frozenset({Kind.TAKE}), f"{command.name}.{said}"
        return frozenset({Kind.MESSAGE}), name

    def _decided(self, event: Decided, current: Struct | None) -> str | None:
        if event.answer is None or current is None:
            return None
        subject = f"{event.command}.{self._words.outcome(event.answer)}"
        worlds = self._unseen()
        taken = [
            edge
            for world in worlds
            for edge in self._known.edges(world)
            if edge.label.kind in DECIDES and edge.label.subject == subject
        ]
        number = getattr(current, "deed_number", None)
        awaited = self._words.codec.machine.awaited(current) is not None
        is_open = awaited and event.key.endswith(f"/{number}")
        if not taken and is_open:
            return f"the far side ends {subject} in {current}\n  {self._said(worlds)}"
        self._known.taken.update(edge.number for edge in taken)
        self._worlds = frozenset(edge.target for edge in taken)
        if not is_open:
            # A deed that nobody asks for any more is known only as long as it matters.
            self._worlds |= worlds
        return None

    def _said(self, worlds: frozenset[int]) -> str:
        """What the checker has instead, for a reader."""
        known = self._known
        lines = [
            f"{known.states[world]} --{edge.label.text}--> {known.states[edge.target]}"
            for world in sorted(worlds)[:4]
            for edge in known.edges(world)
            if edge.label.kind not in UNSEEN
        ]
        return "the checker explored here:\n    " + "\n    ".join(lines[:12])


@dataclass(frozen=True, slots=True)
class Party:
    """Machines that run together, each held against what was explored of it alone.

    What one tells another is a message like any other to the one that hears it.
    """

    members: Mapping[str, tuple[Words, Explored]]

    def run(self, seed: int) -> list[Step | Decided]:
        """What happened to the instances in the run of a seed; no law was broken."""
        everyone = [words for words, _ in self.members.values()]
        age = max(words.age for words in everyone)
        made = planned(seed, [words.vocabulary for words in everyone], age)
        done = simulate(made, [words.codec.machine for words in everyone], self)
        assert done.broken == []
        return done.events

    def outside(self, events: Iterable[Step | Decided]) -> list[str]:
        """Where a run leaves what was explored; each instance by itself."""
        followers: dict[tuple[str, str], Follower] = {}
        states: dict[tuple[str, str], Struct] = {}
        for event in events:
            place = event.machine, event.id
            follower = followers.get(place)
            if follower is None:
                follower = followers[place] = Follower(*self.members[event.machine])
            wrong = follower.sees(event, states.get(place))
            if wrong is not None:
                return [f"{event.machine} {event.id}: {wrong}"]
            if isinstance(event, Step):
                states[place] = event.after
        return []

    # -- the far side of a run

    def answer(
        self,
        codec: Codec,
        type_: CommandType,
        command: Struct,
        random: Random,
        now: int,
    ) -> Struct:
        words, _ = self.members[codec.name]
        return words.answer(codec, type_, command, random, now)

    def gives_back(self, codec: Codec, type_: CommandType, answer: Struct) -> bool:
        words, _ = self.members[codec.name]
        return words.gives_back(codec, type_, answer)


def outside(
    events: Iterable[Step | Decided], words: Words, known: Explored
) -> list[str]:
    """Where a run of one machine leaves what was explored."""
    return Party({words.codec.name: (words, known)}).outside(events)


def party(*names: str) -> Party | str:
    """These machines, or why one of them is not explored."""
    members: dict[str, tuple[Words, Explored]] = {}
    for name in names:
        found = pair(name)
        if isinstance(found, str):
            return f"{name}: {found}"
        members[name] = found
    return Party(members)


@lru_cache(maxsize=6)
def pair(name: str) -> tuple[Words, Explored] | str:
    """A machine to run, and what was explored of a copy of it."""
    known = explored(name)
    if isinstance(known, str):
        return known
    return Words(known.model, running(name)), known


def running(name: str) -> AnyMachine:
    """The machine in a module of its own: the explorer changes the one that it takes."""
    found: Subject = next(
        each for each in subjects(one_module(name)) if each.machine.name == name
    )
    return cast(AnyMachine, cast(Any, found.module).machine)
