"""From a machine and the module generated from it to verdicts.

The driver: close one instance, explore it in the order of faults and steps, judge
everything that was asked and everything that need not be asked.  Pure; what takes
long tells `progress` how many states there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import ModuleType
from typing import Any

from deedbox import Refused
from deedbox.step import Step, step
from deedbox_dsl import core

from . import engine, walk
from .abstraction import World
from .environment import (
    COUNTED,
    ENDING,
    FAULTS,
    Environment,
    Kind,
    Label,
    Undo,
    environment,
)
from .evaluate import phase
from .limits import unexplored
from .model import Model, model
from .points import TwoDistances
from .properties import (
    UNASKED,
    Predicate,
    ends_uncleanly,
    predicate,
    row_unawaited,
    waits_unjustified,
)
from .reaction import reactions
from .tables import Closure, Tables, Unbounded, close
from .temporal import Fair, Graph, Lasso, components, refute
from .trace import Run, Trace, lines
from .within import overdue

LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """`broken` says why it does not hold, empty when it does; `stated` None: not asked for."""

    name: str
    says: str
    broken: str = ""
    trace: Trace | None = None
    stated: core.Property | None = None

    @property
    def holds(self) -> bool:
        return not self.broken


@dataclass(frozen=True, slots=True)
class Report:
    """What was searched, and what came of it.

    `incomplete` says why the search did not end, empty when it did; then nothing holds.
    `costs`: for each fault how many states there are only because of it, where asked for.
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

    @property
    def holds(self) -> bool:
        return (
            not self.incomplete
            and not self.unreached
            and all(verdict.holds for verdict in self.verdicts)
        )


@dataclass(frozen=True, slots=True)
class Searched:
    """One instance, closed and explored."""

    environment: Environment
    closure: Closure[World]
    labels: tuple[Label, ...]
    explored: engine.Explored

    @property
    def model(self) -> Model:
        return self.environment.model

    @property
    def tables(self) -> Tables:
        return self.explored.tables


@dataclass(slots=True)
class Numbered:
    """Labels by number, in the order in which they first occur."""

    numbers: dict[Label, int] = field(default_factory=dict[Label, int])

    def of(self, label: Label) -> int:
        return self.numbers.setdefault(label, len(self.numbers))


def verify(
    spec: core.Machine,
    module: ModuleType,
    *,
    faults: Iterable[str] | None = None,
    undo: Undo = Undo.VOIDS,
    step: Callable[..., Step[Any, Any] | Refused] = step,
    limit: int = LIMIT,
    progress: Callable[[int], None] = lambda _: None,
) -> Report:
    """Explore every schedule of `spec`; `module` is a private copy of its generated module."""
    began = perf_counter()
    chosen = tuple(
        name
        for name in FAULTS
        if name not in spec.bounds.excepted_faults
        and (faults is None or name in faults)
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
            environment(made, reactions(made, step=step), switches, undo),
            limit,
            progress,
        )
    except Unbounded as found:
        reason = f"more than {limit:,} states; {most_varied(found.states)}"
        return replace(nothing, incomplete=reason, seconds=perf_counter() - began)
    verdicts = (*unasked(searched), *asked(searched))
    explored = searched.explored
    return replace(
        nothing,
        states=explored.states - 1,
        steps=walk.transitions(explored),
        depth=max(level.steps for level in explored.levels),
        verdicts=verdicts,
        unreached=tuple(uncovered(searched)),
        seconds=perf_counter() - began,
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


def prepared(spec: core.Machine, module: ModuleType) -> Model | str:
    """The model, or why there is none."""
    for name in spec.bounds.excepted_faults:
        if name not in FAULTS:
            return f"there is no fault `{name}`; there are {', '.join(FAULTS)}"
    try:
        made = model(spec, module)
    except TwoDistances as found:
        return f"`{found.field}` is compared in ways whose order is not finite"
    return unexplored(spec, made.points) or made


def search(
    environs: Environment, limit: int, progress: Callable[[int], None]
) -> Searched:
    numbered = Numbered()
    met = 0

    def successors(world: World) -> Iterator[tuple[World, int]]:
        nonlocal met
        met += 1
        if not met % 1000:
            progress(met)
        for after, label in environs.steps(world):
            yield after, numbered.of(label)

    closed = close([World()], successors, limit)
    labels = tuple(numbered.numbers)
    made = Tables(
        len(closed.states),
        1,
        0,
        closed.offsets,
        closed.targets,
        closed.labels,
        bytes(label.kind in COUNTED for label in labels),
    )
    return Searched(environs, closed, labels, engine.explore(made))


# ---- judging ---------------------------------------------------------------------


def unasked(searched: Searched) -> Iterator[Verdict]:
    """The checks that need no spec author."""
    made = searched.model
    states = {
        "rows_are_awaited": row_unawaited(made),
        "waits_are_justified": waits_unjustified(made),
        "ends_are_clean": ends_uncleanly(made),
    }
    for name, says in UNASKED.items():
        if name in states:
            trace = first_state(searched, states[name])
        elif name == "no_spin":
            trace = first_spin(searched)
        else:
            trace = first_step(searched, name)
        yield Verdict(name, says, "BROKEN" if trace else "", trace)


def asked(searched: Searched) -> Iterator[Verdict]:
    """What the spec states."""
    for stated in searched.model.spec.properties:
        match stated.word:
            case "invariant" | "never":
                yield bounded(searched, stated)
            case "across":
                yield crossed(searched, stated)
            case "sometimes":
                yield possible(searched, stated)
            case "eventually" | "leads":
                yield temporal(searched, stated)


def says(stated: core.Property) -> str:
    if stated.within is None:
        return f"{stated.word} {stated.name}"
    return f"{stated.word} {stated.name} (within: wakes on time)"


def bounded(searched: Searched, stated: core.Property) -> Verdict:
    wanted = predicate(searched.model, stated.pred)
    worlds = searched.closure.states
    if stated.word == "never":
        trace = first_state(searched, wanted.holds)
        exercised = not stated.pred.states or any(map(wanted.applies, worlds))
    else:
        trace = first_state(
            searched, lambda world: wanted.applies(world) and not wanted.holds(world)
        )
        exercised = any(map(wanted.applies, worlds))
    return judged(stated, trace, exercised)


def judged(stated: core.Property, trace: Trace | None, exercised: bool) -> Verdict:
    broken = (
        "BROKEN" if trace else "" if exercised else "VACUOUS: its premise never happens"
    )
    return Verdict(stated.name, says(stated), broken, trace, stated)


def crossed(searched: Searched, stated: core.Property) -> Verdict:
    trace = first_step(searched, stated.name)
    return judged(stated, trace, stated.name in searched.environment.reactions.met)


def possible(searched: Searched, stated: core.Property) -> Verdict:
    wanted = predicate(searched.model, stated.pred)
    happens = any(map(wanted.holds, searched.closure.states))
    broken = "" if happens else "BROKEN: no run gets there"
    return Verdict(stated.name, says(stated), broken, None, stated)


def temporal(searched: Searched, stated: core.Property) -> Verdict:
    graph = as_graph(searched)
    conditions = fairness(searched)
    source: Predicate | None = None
    if stated.word == "leads" and stated.target is not None:
        source = predicate(searched.model, stated.pred)
        goal = predicate(searched.model, stated.target)
    else:
        goal = predicate(searched.model, stated.pred)
    worlds = searched.closure.states
    begun = starts(searched)
    premise = bytes(
        number in begun if source is None else source.holds(world)
        for number, world in enumerate(worlds)
    )
    target = bytes(goal.holds(world) for world in worlds)
    if not any(premise):
        return judged(stated, None, exercised=False)
    if not conditions:
        reason = "REFUSED: no step is bound to happen"
        return Verdict(stated.name, says(stated), reason, None, stated)
    lasso = refute(graph, premise, target, conditions)
    if lasso is not None:
        return judged(stated, lasso_trace(searched, lasso), exercised=True)
    if stated.within is None:
        return judged(stated, None, exercised=True)
    try:
        trace = overdue(searched.model, stated, LIMIT)
    except Unbounded:
        reason = f"INCOMPLETE: more than {LIMIT:,} states in milliseconds"
        return Verdict(stated.name, says(stated), reason, None, stated)
    return judged(stated, trace, exercised=True)


def starts(searched: Searched) -> set[int]:
    """The states that a first start makes."""
    tables = searched.tables
    return {tables.targets[edge] for edge in tables.steps(0)}


def as_graph(searched: Searched) -> Graph:
    tables = searched.tables
    return Graph(
        tables.start,
        tables.offsets,
        tables.targets,
        tables.labels,
        tables.faults,
        bytes(label.kind in ENDING for label in searched.labels),
    )


def fairness(searched: Searched) -> list[Fair]:
    """The interpreter goes on, deadlines fire, time passes, the far side answers.

    Weakly: each unless it stops being possible, as when a silence comes first.  An answer
    that is assumed in the end is asked for, given and heard, however often silence wins.
    """

    weak = {
        "commands are handed out": Kind.HAND_OUT,
        "answers are taken": Kind.TAKE,
        "deadlines fire": Kind.DUE,
        "time goes on": Kind.TIME,
        "the far side answers": Kind.FAR_SIDE,
    }
    found: list[Fair] = []
    for name, kind in weak.items():
        group = frozenset(
            number for number, label in enumerate(searched.labels) if label.kind is kind
        )
        if group:
            found.append(Fair(name, group))
    for command, outcome in searched.model.spec.bounds.assumed:
        pair = f"{command}.{outcome}"
        for kind, subject, name in (
            (Kind.HAND_OUT, command, f"{command} is handed out in the end"),
            (Kind.FAR_SIDE, pair, f"{pair} in the end"),
            (Kind.TAKE, pair, f"{pair} is heard in the end"),
        ):
            group = frozenset(
                number
                for number, label in enumerate(searched.labels)
                if label.kind is kind and label.subject == subject
            )
            found.append(Fair(name, group, strong=True))
    return found


def uncovered(searched: Searched) -> Iterator[str]:
    """States and lines of the spec that no run reaches."""
    spec = searched.model.spec
    reached = {phase(world.state) for world in searched.closure.states}
    for state in spec.states:
        if state.name not in reached:
            yield f"state {state.name}"
    followed = searched.environment.reactions.followed
    alive = {spec.clauses[number].span for number in followed}
    dead: dict[int, None] = {}
    for clause in spec.clauses:
        refuses = clause.body is None or isinstance(clause.body.exit, core.Reject)
        if not refuses and clause.span not in alive:
            dead[clause.span.line] = None
    for line in dead:
        yield f"line {line}"


# ---- runs ------------------------------------------------------------------------


def run_trace(searched: Searched, cell: int, last: int | None = None) -> Trace:
    """The cheapest run to a state, and then by the edge `last`."""
    moves = walk.run(searched.explored, cell)
    numbers = [searched.tables.start, *(move.cell for move in moves)]
    labels = [searched.labels[move.label] for move in moves]
    if last is not None:
        numbers.append(searched.tables.targets[last])
        labels.append(searched.labels[searched.tables.labels[last]])
    worlds = [searched.closure.states[number] for number in numbers]
    return Trace(
        lines(searched.environment, worlds, labels),
        fault_count(labels),
        run=Run(searched.environment, tuple(worlds), tuple(labels)),
    )


def fault_count(labels: Sequence[Label]) -> int:
    return sum(label.kind in COUNTED for label in labels)


def first_state(searched: Searched, wanted: Callable[[World], bool]) -> Trace | None:
    rows = [n for n, world in enumerate(searched.closure.states) if wanted(world)]
    cell = walk.first(searched.explored, rows)
    return None if cell is None else run_trace(searched, cell)


def first_step(searched: Searched, name: str) -> Trace | None:
    """The cheapest run that ends in a step which breaks `name`."""
    guilty = {n for n, label in enumerate(searched.labels) if name in label.broken}
    if not guilty:
        return None
    tables, level = searched.tables, searched.explored.level
    best: tuple[int, int, int] | None = None
    for row in range(tables.locals):
        for edge in tables.steps(row):
            label = tables.labels[edge]
            if label in guilty:
                costs = (tables.faults[label], level[row], edge)
                here = searched.explored.levels[level[row] - engine.FIRST]
                costs = (here.faults + costs[0], here.steps, edge)
                if best is None or costs < best:
                    best = costs
    if best is None:
        return None
    edge = best[2]
    return run_trace(searched, source_of(tables, edge), edge)


def source_of(tables: Tables, edge: int) -> int:
    low, high = 0, tables.locals - 1
    while low < high:
        middle = (low + high) // 2
        if tables.offsets[middle + 1] <= edge:
            low = middle + 1
        else:
            high = middle
    return low


def first_spin(searched: Searched) -> Trace | None:
    """A cycle of deadlines that fire at one time without a change of phase."""
    tables, worlds = searched.tables, searched.closure.states
    fires: dict[int, tuple[int, ...]] = {}
    for row in range(tables.locals):
        fires[row] = tuple(
            target
            for edge in tables.steps(row)
            if searched.labels[tables.labels[edge]].kind is Kind.DUE
            and phase(worlds[target := tables.targets[edge]].state)
            == phase(worlds[row].state)
        )
    spinning = [
        row
        for component in components(set(fires), fires)
        for row in component
        if len(component) > 1
    ]
    cell = walk.first(searched.explored, spinning)
    return None if cell is None else run_trace(searched, cell)


def lasso_trace(searched: Searched, lasso: Lasso) -> Trace:
    """The run into the loop, and the loop."""
    hops = (*lasso.prefix, *lasso.loop)
    numbers = [searched.tables.start, *(hop.state for hop in hops)]
    labels = [searched.labels[hop.label] for hop in hops]
    worlds = [searched.closure.states[number] for number in numbers]
    told = lines(searched.environment, worlds, labels)
    cut = len(lasso.prefix)
    return Trace(
        told[:cut],
        fault_count(labels),
        told[cut:],
        not lasso.loop,
        lasso.excused,
        Run(searched.environment, tuple(worlds), tuple(labels)),
    )
