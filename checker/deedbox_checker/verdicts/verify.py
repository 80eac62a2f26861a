"""From a machine and the module generated from it to verdicts.

The driver: close one instance, explore it in the order of faults and steps, judge
everything that was asked and everything that need not be asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from types import ModuleType
from typing import Any

from deedbox import Refused
from deedbox.codec import Codec
from deedbox.step import Step, step
from deedbox_dsl import core
from deedbox_dsl.types import ListOf

from ..data.items import MOST
from ..engine.several import Several, several
from ..engine.tables import Unbounded
from ..environment.far_side import Undo
from ..environment.labels import FAULTS, Kind
from ..environment.promises import PROTOCOL, Promises
from ..environment.reaction import reactions
from ..expressions.evaluate import phase
from ..instance.model import Model
from ..instance.world import World
from ..search.searching import LIMIT, Searched, search
from ..subjects.kept import Kept
from ..upgrades.by_shape import unread
from ..upgrades.lineage import environs, line
from ..upgrades.takeover import MakesReads
from .judging import asked, independent, unasked, uncovered, upgraded
from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class Report:
    """What was searched, and what came of it.

    `incomplete` says why the search did not end, empty when it did; then nothing holds.
    `costs`: for each fault how many states there are only because of it, where asked for.
    `page`: of how many records a page was, which may be fewer than what the spec says.
    `items`: the most that a list from outside has, where something is asked of one.
    `several`: the product of several instances, where asked for.
    `states` are those of this version; `older` says by version how many others there are,
    `lost` why a version is known by its shape alone.
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
    items: int | None = None
    several: Several | None = None
    older: tuple[tuple[int, int], ...] = ()
    lost: tuple[tuple[int, str], ...] = ()

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
    older: Sequence[Kept] = (),
    faults: Iterable[str] | None = None,
    undo: Undo = Undo.VOIDS,
    promises: Promises = PROTOCOL,
    step: Callable[..., Step[Any, Any] | Refused] = step,
    reads: MakesReads = Codec,
    limit: int = LIMIT,
    instances: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> Report:
    """Explore every schedule of `spec`; `module` is a private copy of its generated module.

    `instances`: so many beside each other, or as many as the spec says if that is more.
    `older`: the released versions, instances of which are taken over at any moment.
    """
    began = perf_counter()
    chosen = tuple(
        name for name in switched_on(spec, older) if faults is None or name in faults
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
    switches = frozenset(FAULTS[name] for name in chosen)
    upgrades = older if Kind.UPGRADE in switches else ()
    made = line(spec, module, upgrades)
    if isinstance(made, str):
        return replace(nothing, incomplete=made, seconds=perf_counter() - began)
    reacts = reactions(made.model, step=step)
    try:
        searched = search(
            environs(made, reacts, switches, undo, promises, reads), limit, progress
        )
    except Unbounded as found:
        reason = f"more than {limit:,} states; {most_varied(found.states)}"
        return replace(nothing, incomplete=reason, seconds=perf_counter() - began)
    reader = reads(made.model.machine)
    unreadable = (
        unread(each.shape, made.model.domain, reader)
        for each in upgrades
        if each.version in dict(made.lost)
    )
    verdicts = (
        *unasked(searched),
        *((upgraded(searched, filter(None, unreadable)),) if upgrades else ()),
        *asked(searched),
    )
    explored = searched.explored
    many = max(instances, spec.bounds.instances)
    product = several(searched.tables, many) if many > 1 else None
    if isinstance(product, str):
        return replace(nothing, incomplete=product, seconds=perf_counter() - began)
    if product is not None:
        verdicts += (independent(product),)
    states, steps, others = by_version(searched)
    return replace(
        nothing,
        states=states,
        steps=steps,
        depth=max(level.steps for level in explored.levels),
        verdicts=verdicts,
        unreached=tuple(uncovered(searched)),
        seconds=perf_counter() - began,
        several=product,
        page=None if made.model.listing is None else made.model.listing.scanning.page,
        items=items_tried(made.model),
        older=others,
        lost=made.lost,
    )


def items_tried(model: Model) -> int | None:
    """The most items of a list that comes as a whole, if something is asked of one."""
    asked = any(isinstance(type, ListOf) for type in model.domain.opened)
    return MOST if asked and model.listing is None else None


def switched_on(spec: core.Machine, older: Sequence[Kept]) -> tuple[str, ...]:
    """The faults that a spec does not except; there is an upgrade where a version was before."""
    return tuple(
        name
        for name, kind in FAULTS.items()
        if name not in spec.bounds.excepted_faults
        and (older or kind is not Kind.UPGRADE)
    )


def by_version(searched: Searched) -> tuple[int, int, tuple[tuple[int, int], ...]]:
    """How many states and steps are of this version, and how many states of each older one."""
    found: Counter[int] = Counter()
    steps = 0
    for row, world in enumerate(searched.closure.states):
        if searched.own(world):
            steps += len(searched.tables.steps(row))
        if world.state is not None:
            found[searched.environment.of(world).model.spec.version] += 1
    own = found.pop(searched.model.spec.version, 0)
    return own, steps, tuple(sorted(found.items()))


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
    report: Report,
    spec: core.Machine,
    module: ModuleType,
    older: Sequence[Kept] = (),
    limit: int = LIMIT,
) -> Report:
    """The report, and for each fault the states that a search without it does not have."""
    made = line(spec, module, older if "upgrade" in report.faults else ())
    if isinstance(made, str) or report.incomplete:
        return report
    costs: list[tuple[str, int]] = []
    for name in report.faults:
        left = frozenset(FAULTS[other] for other in report.faults if other != name)
        steps = environs(made, reactions(made.model), left)
        without, _, _ = by_version(search(steps, limit, lambda _: None))
        costs.append((name, report.states - without))
    return replace(report, costs=tuple(costs))
