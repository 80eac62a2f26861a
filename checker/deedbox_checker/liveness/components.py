"""Strongly connected components (Tarjan, *Depth-first search and linear graph algorithms*, 1972).

Iterative, since a component may be as deep as there are states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence


def components(
    inside: Iterable[int], after: Mapping[int, Sequence[int]]
) -> Iterator[frozenset[int]]:
    """Those of the states `inside`, single states included; `after`: where steps lead."""
    inside = frozenset(inside)
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
        work = [(root, iter(after[root]))]
        while work:
            state, following = work[-1]
            for target in following:
                if target not in inside:
                    continue
                if target not in number:
                    number[target] = low[target] = len(number)
                    path.append(target)
                    on_path.add(target)
                    work.append((target, iter(after[target])))
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
