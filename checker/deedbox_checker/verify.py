"""From a machine and the module generated from it to verdicts.

The driver: close one instance, explore it in the order of faults and steps, judge
everything that was asked and everything that need not be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from types import ModuleType
from typing import Any

from deedbox import Refused
from deedbox.step import Step, step
from deedbox_dsl import core

from . import walk
from .abstraction import World
from .environment import (
    FAULTS,
    Kind,
    Undo,
    environment,
)
from .evaluate import phase
from .judging import Verdict as Verdict
from .judging import asked, independent, unasked, uncovered
from .promises import PROTOCOL, Promises
from .reaction import reactions
from .searching import LIMIT as LIMIT
from .searching import Searched as Searched
from .searching import prepared as prepared
from .searching import search as search
from .several import Several, several
from .tables import Unbounded


@dataclass(frozen=True, slots=True)
class Report:
    """What was searched, and what came of it.

    `incomplete` says why the search did not end, empty when it did; then nothing holds.
    `costs`: for each fault how many states there are only because of it, where asked for.
    `page`: of how many records a page was, which may be fewer than what the spec says.
    `several`: the product of several instances, where asked for.
    """

    machine: str
    states: int
    steps: int
    depth: int
    seconds: float
    faults: tuple[str, ...]
    assumed: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    unreached: tuple[str, ...] = ()
    incomplete: str = ""
    costs: tuple[tuple[str, int], ...] = ()
    page: int | None = None
    several: Several | None = None

    @property
    def holds(self) -> bool:
        return (
            not self.incomplete
            and not self.unreached
            and all(verdict.holds for verdict in self.verdicts)
        )


def verify(
    spec: core.Machine,
    module: ModuleType,
    *,
    faults: Iterable[str] | None = None,
    undo: Undo = Undo.VOIDS,
    promises: Promises = PROTOCOL,
    step: Callable[..., Step[Any, Any] | Refused] = step,
    limit: int = LIMIT,
    instances: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> Report:
    """Explore every schedule of `spec`; `module` is a private copy of its generated module.

    `instances`: so many beside each other, or as many as the spec says if that is more.
    """
    began = perf_counter()
    chosen = tuple(
        name
        for name in FAULTS
        if name not in spec.bounds.excepted_faults
        and (faults is None or name in faults)
        and FAULTS[name] is not Kind.UPGRADE
    )
    nothing = Report(
        spec.name,
        0,
        0,
        0,
        0.0,
        chosen,
        tuple(f"{c}.{o}" for c, o in spec.bounds.assumed),
        (),
    )
    made = prepared(spec, module)
    if isinstance(made, str):
        return replace(nothing, incomplete=made, seconds=perf_counter() - began)
    switches = frozenset(FAULTS[name] for name in chosen)
    try:
        searched = search(
            environment(made, reactions(made, step=step), switches, undo, promises),
            limit,
            progress,
        )
    except Unbounded as found:
        reason = f"more than {limit:,} states; {most_varied(found.states)}"
        return replace(nothing, incomplete=reason, seconds=perf_counter() - began)
    verdicts = (*unasked(searched), *asked(searched))
    explored = searched.explored
    many = max(instances, spec.bounds.instances)
    product = several(searched.tables, many) if many > 1 else None
    if isinstance(product, str):
        return replace(nothing, incomplete=product, seconds=perf_counter() - began)
    if product is not None:
        verdicts += (independent(product),)
    return replace(
        nothing,
        states=explored.states - 1,
        steps=walk.transitions(explored),
        depth=max(level.steps for level in explored.levels),
        verdicts=verdicts,
        unreached=tuple(uncovered(searched)),
        seconds=perf_counter() - began,
        several=product,
        page=None if made.listing is None else made.listing.scanning.page,
    )


def most_varied(worlds: Sequence[object]) -> str:
    """Which stored field has the most values: the likely reason of an endless search."""
    values: dict[tuple[str, str], set[object]] = {}
    for world in worlds:
        if isinstance(world, World) and world.state is not None:
            for name in world.state.__struct_fields__:
                place = (phase(world.state) or "", name)
                values.setdefault(place, set()).add(getattr(world.state, name))
    if not values:
        return "nothing of it is stored"
    (state, name), found = max(values.items(), key=lambda item: len(item[1]))
    return (
        f"`{name}` of `{state}` has the most values, {len(found):,} in the last of them"
    )


def with_costs(
    report: Report, spec: core.Machine, module: ModuleType, limit: int = LIMIT
) -> Report:
    """The report, and for each fault the states that a search without it does not have."""
    made = prepared(spec, module)
    if isinstance(made, str) or report.incomplete:
        return report
    costs: list[tuple[str, int]] = []
    for name in report.faults:
        left = frozenset(FAULTS[other] for other in report.faults if other != name)
        steps = environment(made, reactions(made), left)
        without = search(steps, limit, lambda _: None).explored.states - 1
        costs.append((name, report.states - without))
    return replace(report, costs=tuple(costs))
