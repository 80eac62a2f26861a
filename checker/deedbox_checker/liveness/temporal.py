"""`eventually` and `leads`: is there a fair run that owes the target and never gets there?

The debtors are the states that can be reached after the premise without meeting the
target.  A fair run that stays among them for ever ends in one state, or in one
strongly connected component of the steps that last (faults and messages of the
outside end).  So: peel what has no lasting step among the debtors, and what then has
none; components of the rest (Tarjan, iterative); on each the fairness test.

Weak fairness of a group holds when it is disabled in some state of the component or
taken inside; strong when it is enabled in none or taken inside, and otherwise the
states that enable it are dropped and the rest is split again (Emerson, Lei 1987).
A step that changes nothing is no step: it neither enables a group nor takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush


@dataclass(frozen=True, slots=True)
class Graph:
    """States by number; `faults` and `ends` have a byte a label: it is a fault, it is taken only finitely often."""

    start: int
    offsets: Sequence[int]
    targets: Sequence[int]
    labels: Sequence[int]
    faults: bytes
    ends: bytes

    @property
    def size(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class Fair:
    """Steps with one of these labels do not wait for ever.

    Weak: not while one is possible all the time.  Strong: not while one is possible
    again and again.
    """

    name: str
    labels: frozenset[int]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    label: int
    state: int


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run that breaks the property: `prefix` once, then `loop` for ever.

    An empty `loop` stays in the last state for ever.  `owing` counts the steps of the
    prefix after which the premise held.  `excused` says of each group why the run is
    fair to it although it never leaves the loop.
    """

    prefix: tuple[Hop, ...]
    loop: tuple[Hop, ...]
    owing: int
    excused: tuple[tuple[str, str], ...]


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


def enabled_groups(graph: Graph, fairness: Sequence[Fair]) -> list[int]:
    """For each state the set of groups, as bits, of which a step that changes it is possible."""
    masks = label_masks(graph, fairness)
    enabled = [0] * graph.size
    for state in range(graph.size):
        groups = 0
        for edge in range(graph.offsets[state], graph.offsets[state + 1]):
            if graph.targets[edge] != state:
                groups |= masks[graph.labels[edge]]
        enabled[state] = groups
    return enabled


def label_masks(graph: Graph, fairness: Sequence[Fair]) -> list[int]:
    return [
        sum(1 << bit for bit, fair in enumerate(fairness) if label in fair.labels)
        for label in range(len(graph.ends))
    ]


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
        for edge in range(graph.offsets[state], graph.offsets[state + 1]):
            after = graph.targets[edge]
            if not owing[after] and not target[after]:
                owing[after] = 1
                stack.append(after)
    return owing


def reachable(graph: Graph) -> list[int]:
    seen = bytearray(graph.size)
    seen[graph.start] = 1
    found = [graph.start]
    for state in found:
        for edge in range(graph.offsets[state], graph.offsets[state + 1]):
            after = graph.targets[edge]
            if not seen[after]:
                seen[after] = 1
                found.append(after)
    return found


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


Steps = dict[int, tuple[int, ...]]


def lasting_steps(graph: Graph, debtors: bytearray) -> Steps:
    """For each debtor the debtors to which a step leads that may be taken for ever."""
    ends, targets, labels = graph.ends, graph.targets, graph.labels
    return {
        state: tuple(
            {
                targets[edge]: None
                for edge in range(graph.offsets[state], graph.offsets[state + 1])
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


def components(inside: set[int], lasting: Steps) -> Iterator[frozenset[int]]:
    """Strongly connected components, single states included (Tarjan 1972, iterative)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for root in sorted(inside):
        if root in number:
            continue
        number[root] = low[root] = len(number)
        path.append(root)
        on_path.add(root)
        work = [(root, iter(lasting[root]))]
        while work:
            state, after = work[-1]
            for target in after:
                if target not in inside:
                    continue
                if target not in number:
                    number[target] = low[target] = len(number)
                    path.append(target)
                    on_path.add(target)
                    work.append((target, iter(lasting[target])))
                    break
                if target in on_path:
                    low[state] = min(low[state], number[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[state])
                if low[state] == number[state]:
                    component: list[int] = []
                    while not component or component[-1] != state:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    yield frozenset(component)


def inner_edges(graph: Graph, component: frozenset[int]) -> Iterator[tuple[int, int]]:
    """State and edge of every lasting step within the component."""
    for state in sorted(component):
        for edge in range(graph.offsets[state], graph.offsets[state + 1]):
            if (
                graph.targets[edge] in component
                and graph.targets[edge] != state
                and not graph.ends[graph.labels[edge]]
            ):
                yield state, edge


def taken_groups(graph: Graph, component: frozenset[int], masks: list[int]) -> int:
    taken = 0
    for _, edge in inner_edges(graph, component):
        taken |= masks[graph.labels[edge]]
    return taken


# ---- the run ---------------------------------------------------------------------


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
        for edge in range(graph.offsets[state], graph.offsets[state + 1]):
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
            for edge in range(graph.offsets[state], graph.offsets[state + 1]):
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
