"""What the checker explored of a machine, as a run may show it: worlds, and steps between.

What is not seen of a run (hand-outs, deaths, handlers that raise, time) may happen in
between.  Which of the steps the runs took is remembered, to tell how much they have shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from deedbox_checker.environment.environment import environment
from deedbox_checker.environment.labels import FAULTS, Kind, Label
from deedbox_checker.environment.prepared import prepared
from deedbox_checker.environment.reaction import reactions
from deedbox_checker.expressions.evaluate import phase
from deedbox_checker.instance.abstraction import by_itself, transplanted
from deedbox_checker.instance.model import Model
from deedbox_checker.search.searching import Searched, search
from gallery import subject
from msgspec import Struct

UNSEEN: Final = frozenset(
    {Kind.HAND_OUT, Kind.CRASH, Kind.RAISE, Kind.TIME, Kind.EARLY, Kind.SECOND}
)


LIMIT: Final = 150_000


Sort: TypeAlias = tuple[str | None, str | None, Kind, str]


@dataclass(frozen=True, slots=True)
class Edge:
    number: int
    label: Label
    target: int


@dataclass(slots=True, eq=False)
class Explored:
    """What the checker explored of a machine; `taken` are the edges that runs took.

    `shape`: what of a state its worlds are told apart by.
    """

    searched: Searched
    states: tuple[Struct | None, ...]
    shape: Callable[[Struct | None], Struct | None] = lambda state: state
    taken: set[int] = field(default_factory=set[int])
    closures: dict[int, frozenset[int]] = field(
        default_factory=dict[int, frozenset[int]]
    )

    @property
    def model(self) -> Model:
        return self.searched.model

    def edges(self, world: int) -> Iterable[Edge]:
        tables = self.searched.tables
        for number in tables.steps(world):
            label = self.searched.labels[tables.labels[number]]
            yield Edge(number, label, tables.targets[number])

    def unseen(self, world: int) -> frozenset[int]:
        """The worlds that this one may have become without anybody seeing it."""
        found = self.closures.get(world)
        if found is None:
            reached, left = {world}, [world]
            while left:
                for edge in self.edges(left.pop()):
                    if edge.label.kind in UNSEEN and edge.target not in reached:
                        reached.add(edge.target)
                        left.append(edge.target)
            found = self.closures[world] = frozenset(reached)
        return found

    def told(self) -> str:
        """How much of what was explored the runs have shown.

        A sort is a step by its phases and its name: a machine with counters has many
        steps of one sort.
        """
        visible = self.visible()
        every, shown = set[Sort](), set[Sort]()
        for world in range(len(self.states)):
            for edge in self.edges(world):
                if edge.number in visible:
                    phases = phase(self.states[world]), phase(self.states[edge.target])
                    sort = (*phases, edge.label.kind, edge.label.subject)
                    every.add(sort)
                    if edge.number in self.taken:
                        shown.add(sort)
        share = len(self.taken & visible) * 100 // len(visible)
        return (
            f"{len(self.taken)} of {len(visible)} explored steps ({share} %),"
            f" {len(shown)} of {len(every)} sorts"
        )

    def visible(self) -> set[int]:
        """The explored edges that a run could show."""
        tables = self.searched.tables
        kinds = [label.kind for label in self.searched.labels]
        return {
            number
            for number, label in enumerate(tables.labels)
            if kinds[label] not in UNSEEN
        }


def explored(name: str) -> Explored | str:
    """The machine of the gallery, explored; or why it is not."""
    found = subject(name)
    made = prepared(found.machine, found.module)
    if isinstance(made, str):
        return made
    steps = environment(made, reactions(made), frozenset(FAULTS.values()))
    searched = search(steps, LIMIT, lambda _: None)
    states = tuple(
        None if world.state is None else by_itself(made, world.state)
        for world in searched.closure.states
    )
    return Explored(searched, states)


def seen_as(made: Model, state: Struct, at: int) -> Struct:
    """The explored form of a state at its logical time; its texts are the explorer's own."""
    return by_itself(made, transplanted(made, state, at))
