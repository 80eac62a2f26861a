"""`eventually` and `leads`: is there a fair run that owes the target and never gets there?

The debtors are the states that can be reached after the premise without meeting the
target.  A fair run that stays among them for ever ends in one state, or in one
strongly connected component of the steps that last (faults and messages of the
outside end).  So: peel what has no lasting step among the debtors, and what then has
none; components of the rest; on each the fairness test.

Weak fairness of a group holds when it is disabled in some state of the component or
taken inside; strong when it is enabled in none or taken inside, and otherwise the
states that enable it are dropped and the rest is split again (Emerson, Lei, *Modalities
for model checking*, 1987).
"""

from __future__ import annotations

from collections.abc import Sequence

from .components import components
from .graph import (
    Fair,
    Graph,
    Lasso,
    enabled_groups,
    inner_edges,
    label_masks,
    reachable,
)
from .lasso import cheapest_prefix, lasso_loop

Steps = dict[int, tuple[int, ...]]


def refute(
    graph: Graph, premise: bytes, target: bytes, fairness: Sequence[Fair]
) -> Lasso | None:
    """A fair run on which `premise` is not followed by `target`; bytes are indexed by state."""
    enabled = enabled_groups(graph, fairness)
    debtors = debt(graph, premise, target)
    components = hopeless(graph, debtors, enabled, fairness)
    if not components:
        return None
    prefix, owing, component = cheapest_prefix(graph, premise, target, components)
    entry = prefix[-1].state if prefix else graph.start
    loop, excused = lasso_loop(graph, entry, component, enabled, fairness)
    return Lasso(prefix, loop, owing, excused)


def debt(graph: Graph, premise: bytes, target: bytes) -> bytearray:
    """The states in which something is owed: after the premise, by any step, without the target."""
    owing = bytearray(graph.size)
    stack: list[int] = []
    for state in reachable(graph):
        if premise[state] and not target[state]:
            owing[state] = 1
            stack.append(state)
    while stack:
        state = stack.pop()
        for edge in graph.steps(state):
            after = graph.targets[edge]
            if not owing[after] and not target[after]:
                owing[after] = 1
                stack.append(after)
    return owing


def hopeless(
    graph: Graph, debtors: bytearray, enabled: list[int], fairness: Sequence[Fair]
) -> list[frozenset[int]]:
    """The sets of states in which a fair run may stay for ever."""
    lasting = lasting_steps(graph, debtors)
    found: list[frozenset[int]] = []
    rest = peel(lasting, enabled, found)
    masks = label_masks(graph, fairness)
    strong = sum(1 << bit for bit, fair in enumerate(fairness) if fair.strong)
    waiting = [rest]
    while waiting:
        inside = waiting.pop()
        for component in components(inside, lasting):
            taken = taken_groups(graph, component, masks)
            always, ever = ~0, 0
            for state in component:
                always &= enabled[state]
                ever |= enabled[state]
            starved = ever & strong & ~taken
            if always & ~taken & ((1 << len(fairness)) - 1):
                continue
            if not starved:
                found.append(component)
                continue
            kept = {state for state in component if not enabled[state] & starved}
            if kept:
                waiting.append(kept)
    return found


def lasting_steps(graph: Graph, debtors: bytearray) -> Steps:
    """For each debtor the debtors to which a step leads that may be taken for ever."""
    ends, targets, labels = graph.ends, graph.targets, graph.labels
    return {
        state: tuple(
            {
                targets[edge]: None
                for edge in graph.steps(state)
                if debtors[targets[edge]]
                and targets[edge] != state
                and not ends[labels[edge]]
            }
        )
        for state in range(graph.size)
        if debtors[state]
    }


def peel(
    lasting: Steps,
    enabled: list[int],
    found: list[frozenset[int]],
) -> set[int]:
    """Remove what can only leave; a state which nothing obliges to leave is `found`.

    Kahn's order, backwards.  What is left can go on for ever, if only towards a cycle.
    """
    before: dict[int, list[int]] = {state: [] for state in lasting}
    left = {state: len(after) for state, after in lasting.items()}
    for state, after in lasting.items():
        for target in after:
            before[target].append(state)
    ready = [state for state, count in left.items() if not count]
    for state in ready:
        if not enabled[state]:
            found.append(frozenset((state,)))
        del left[state]
        for source in before[state]:
            left[source] -= 1
            if not left[source]:
                ready.append(source)
    return set(left)


def taken_groups(graph: Graph, component: frozenset[int], masks: list[int]) -> int:
    """The groups of which a step within the component is a step."""
    taken = 0
    for _, edge in inner_edges(graph, component):
        taken |= masks[graph.labels[edge]]
    return taken
