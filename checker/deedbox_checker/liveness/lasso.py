"""The run that breaks a property: the cheapest way into a loop, and a short loop.

The way has the fewest faults and then the fewest steps (Dijkstra, over both costs in
that order).  The loop passes a witness for every group, so that it is fair as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from .graph import Fair, Graph, Hop, label_masks


def cheapest_prefix(
    graph: Graph, premise: bytes, target: bytes, found: Sequence[frozenset[int]]
) -> tuple[tuple[Hop, ...], int, frozenset[int]]:
    """The run into one of the components with the fewest faults, then the fewest steps.

    A node is a state before the premise, or (from `size` on) a state that owes.
    """
    size = graph.size
    home = {state: component for component in found for state in component}
    came: dict[int, tuple[int, Hop | None]] = {}
    heap: list[tuple[int, int, int, int, int]] = [(0, 0, graph.start, -1, -1)]
    while heap:
        faults, steps, node, source, label = heappop(heap)
        if node in came:
            continue
        owes, state = divmod(node, size)
        came[node] = (source, None if label < 0 else Hop(label, state))
        if owes and state in home:
            return *traced(came, node, size), home[state]
        if not owes and premise[state] and not target[state]:
            heappush(heap, (faults, steps, node + size, node, -1))
        for edge in graph.steps(state):
            after, label = graph.targets[edge], graph.labels[edge]
            if after != state and not (owes and target[after]):
                cost = faults + graph.faults[label]
                following = after + owes * size
                heappush(heap, (cost, steps + 1, following, node, label))
    raise AssertionError("a component that was found can be reached")


def traced(
    came: dict[int, tuple[int, Hop | None]], node: int, size: int
) -> tuple[tuple[Hop, ...], int]:
    """The hops to `node`, and how many of them came before the premise held."""
    hops: list[Hop] = []
    after_premise = 0
    while node != -1:
        source, hop = came[node]
        if hop is not None:
            hops.append(hop)
            after_premise += node >= size
        node = source
    return tuple(reversed(hops)), len(hops) - after_premise


def lasso_loop(
    graph: Graph,
    entry: int,
    component: frozenset[int],
    enabled: list[int],
    fairness: Sequence[Fair],
) -> tuple[tuple[Hop, ...], tuple[tuple[str, str], ...]]:
    """A short loop through a witness for every group, and what the witnesses are."""
    if not enabled[entry]:
        return (), tuple((fair.name, "not possible here") for fair in fairness)
    masks = label_masks(graph, fairness)
    possible = 0
    for state in component:
        possible |= enabled[state]
    missing = {bit for bit in range(len(fairness)) if possible >> bit & 1}
    excuses = {
        bit: "not possible in the loop"
        for bit in range(len(fairness))
        if bit not in missing
    }

    def settle(state: int, hop: Hop | None) -> bool:
        """Whether this place of the loop is the witness for a group still missing."""
        settled: set[int] = set()
        for bit in missing:
            if hop is not None and masks[hop.label] >> bit & 1:
                settled.add(bit)
            elif not fairness[bit].strong and not enabled[state] >> bit & 1:
                excuses[bit] = "again and again not possible"
                settled.add(bit)
        missing.difference_update(settled)
        return bool(settled)

    settle(entry, None)
    loop: list[Hop] = []
    here = entry
    while missing:
        way = shortest(
            graph,
            here,
            component,
            lambda hop: any(
                masks[hop.label] >> bit & 1
                or (not fairness[bit].strong and not enabled[hop.state] >> bit & 1)
                for bit in missing
            ),
        )
        for hop in way:
            settle(hop.state, hop)
        loop += way
        here = loop[-1].state
    if not loop or here != entry:
        loop += shortest(graph, here, component, lambda hop: hop.state == entry)
    taken = 0
    for hop in loop:
        taken |= masks[hop.label]
    return tuple(loop), tuple(
        (fair.name, "taken in the loop" if taken >> bit & 1 else excuses[bit])
        for bit, fair in enumerate(fairness)
    )


def shortest(
    graph: Graph,
    source: int,
    component: frozenset[int],
    wanted: Callable[[Hop], bool],
) -> list[Hop]:
    """The shortest way of at least one lasting step to a hop that is wanted."""
    came: dict[int, tuple[int, Hop]] = {}
    frontier = [source]
    while frontier:
        following: list[int] = []
        for state in frontier:
            for edge in graph.steps(state):
                hop = Hop(graph.labels[edge], graph.targets[edge])
                if (
                    hop.state in component
                    and hop.state != state
                    and not graph.ends[hop.label]
                ):
                    if wanted(hop):
                        way = [hop]
                        while state != source:
                            state, before = came[state]
                            way.append(before)
                        return way[::-1]
                    if hop.state not in came and hop.state != source:
                        came[hop.state] = (state, hop)
                        following.append(hop.state)
        frontier = following
    raise AssertionError("a component is strongly connected")
