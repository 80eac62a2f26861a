"""`leads` decided by trying every set of states: slow, and written without looking at the checker.

A fair run that never meets the target visits some set of states for ever.  The set is
tried as it is: can it be entered while something is owed, does every state of it lead to
every other inside it, and is each group of steps treated fairly there?
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from random import Random

A, B, LAZY, FAULT = range(4)


@dataclass(frozen=True, slots=True)
class Labelled:
    """`edges`: source, label, target.  FAULT steps end; LAZY ones are in no group."""

    size: int
    edges: tuple[tuple[int, int, int], ...]
    premise: frozenset[int]
    target: frozenset[int]
    weak: tuple[frozenset[int], ...]
    strong: tuple[frozenset[int], ...]


def random_graph(seed: int) -> Labelled:
    dice = Random(seed)
    size = dice.randint(2, 6)
    edges = {
        (dice.randrange(size), dice.choice((A, A, A, B, B, B, FAULT, LAZY)), dice.randrange(size))
        for _ in range(dice.randint(size, 4 * size))
    }  # fmt: skip
    groups = [frozenset((A,)), frozenset((B,)), frozenset((A, B))]
    chosen = [(dice.random() < 0.75, dice.random() < 0.4, group) for group in groups]
    return Labelled(
        size,
        tuple(sorted(edges)),
        frozenset(n for n in range(size) if n == 0 or dice.random() < 0.2),
        frozenset(n for n in range(1, size) if dice.random() < 0.5),
        tuple(group for used, strong, group in chosen if used and not strong),
        tuple(group for used, strong, group in chosen if used and strong),
    )


def closure(starts: Iterable[int], pairs: set[tuple[int, int]]) -> set[int]:
    found = set(starts)
    while True:
        more = {target for source, target in pairs if source in found} - found
        if not more:
            return found
        found |= more


def violated(graph: Labelled) -> bool:
    moves = {(s, t) for s, _, t in graph.edges if s != t}
    alive = closure([0], moves)
    owing = (alive & graph.premise) - graph.target
    debtors = closure(owing, {(s, t) for s, t in moves if t not in graph.target})
    return any(
        may_stay(graph, set(chosen))
        for count in range(1, len(debtors) + 1)
        for chosen in combinations(sorted(debtors), count)
    )


def may_stay(graph: Labelled, chosen: set[int]) -> bool:
    inner = {
        (s, label, t)
        for s, label, t in graph.edges
        if s in chosen and t in chosen and s != t and label != FAULT
    }
    pairs = {(s, t) for s, _, t in inner}
    if len(chosen) > 1 and any(closure([n], pairs) != chosen for n in chosen):
        return False

    def enabled(state: int, group: frozenset[int]) -> bool:
        return any(
            s == state and label in group and t != s for s, label, t in graph.edges
        )

    def taken(group: frozenset[int]) -> bool:
        return any(label in group for _, label, _ in inner)

    return all(
        taken(group) or not all(enabled(state, group) for state in chosen)
        for group in graph.weak
    ) and all(
        taken(group) or not any(enabled(state, group) for state in chosen)
        for group in graph.strong
    )
