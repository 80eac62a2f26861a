"""What the parts of a lowered saga or scan stand for, read off the core.

Lowering names the states of a kind after its steps, so that its machine says itself
which command undoes which, and which field of an answer is a list that is read in
pages.  The generated module carries it for the laws of simulated runs, and the
explorer reads a scan's list by it.  Where a core does not stand as lowering makes
it there is no answer: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import core
from .types import Base, Declared, ListOf, Maybe, RecordType, Type
from .walk import nodes

RUNNING, UNDOING, WAITS = "Running", "Undoing", ("Backoff", "Silent")


@dataclass(frozen=True, slots=True)
class Step:
    """`done`: the outcomes of `do` that end it well; `undo` None: it is never undone."""

    do: str
    done: tuple[str, ...]
    undo: str | None
    undone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Saga:
    """The steps in their order; `done` and `undone` are its ends."""

    steps: tuple[Step, ...]
    done: str
    undone: str


@dataclass(frozen=True, slots=True)
class Scan:
    """`fetch` and `outcome`: the command and its answer whose field `listed` is the list.

    `by` and `due` are fields of a record, `item` the state's field that holds one;
    `cursor` and `limit` are parameters of the command.
    """

    fetch: str
    outcome: str
    listed: str
    record: RecordType
    by: str
    by_type: Type
    due: str | None
    item: str
    cursor: str
    limit: str
    page: int


# ---- a saga --------------------------------------------------------------------------


def saga(spec: core.Machine) -> Saga | None:
    """The steps of a saga, or None: it is no saga."""
    finals = [state.name for state in spec.states if state.final]
    titles = [
        state.name.removesuffix(RUNNING)
        for state in spec.states
        if state.name.endswith(RUNNING)
    ]
    if spec.kind != "saga" or not finals or not titles:
        return None
    awaits = {state.name: state.awaits for state in spec.states}
    running = [f"{title}{RUNNING}" for title in titles]
    steps: list[Step] = []
    for title, state, ahead in zip(
        titles, running, (*running[1:], finals[0]), strict=True
    ):
        do, undo = awaits[state], awaits.get(f"{title}{UNDOING}")
        if do is None:
            return None
        undone: tuple[str, ...] = ()
        if undo is not None:
            undone = tuple(_ending(spec, f"{title}{UNDOING}", undo, None))
        steps.append(Step(do, tuple(_ending(spec, state, do, ahead)), undo, undone))
    named = [name for step in steps for name in (step.do, step.undo) if name]
    if len(set(named)) < len(named):
        return None  # an answer does not say whose it is
    return Saga(tuple(steps), finals[0], finals[-1])


def _ending(
    spec: core.Machine, state: str, command: str, ahead: str | None
) -> Iterator[str]:
    """The answers to a command that lead ahead (None: anywhere), and never to a wait."""
    for outcome in next(c.outcomes for c in spec.commands if c.name == command):
        targets = {
            clause.body.exit.state
            for clause in spec.clauses
            if clause.state == state
            and clause.trigger == core.OnOutcome(command, outcome.name)
            and clause.body is not None
            and isinstance(clause.body.exit, core.Goto)
        }
        if (
            targets
            and (ahead is None or ahead in targets)
            and not any(target.endswith(WAITS) for target in targets)
        ):
            yield outcome.name


# ---- a scan --------------------------------------------------------------------------


def scan(spec: core.Machine) -> Scan | str | None:
    """The parts of a scan, why they are not known, or None: it is no scan."""
    if spec.kind != "scan":
        return None
    for clause in spec.clauses:
        match clause:
            case core.Clause(
                state="Fetching",
                trigger=core.OnOutcome(command, outcome),
                body=core.Body(exit=core.Goto(state="Working")),
            ):
                return _parts(spec, command, outcome, clause)
            case _:
                pass
    return "no answer to its fetch begins a page"


def _parts(
    spec: core.Machine, command: str, outcome: str, clause: core.Clause
) -> Scan | str:
    taken = by = None
    for node in nodes(clause):
        match node:
            case core.Call(
                function="take",
                arguments=(
                    core.Bound(listed, ListOf(RecordType() as record)),
                    core.Constant(int(page)),
                ),
            ):
                taken = listed, record, page
            case core.Set("upto", core.Member(name=name, type=by_type)) if is_text(
                by_type
            ):
                by = name, bare(by_type)
            case _:
                pass
    if taken is None or by is None:
        return "its cursor is not a text field of its records"
    states = {state.name: state for state in spec.states}
    params = {
        param.name
        for each in spec.commands
        if each.name == command
        for param in each.params
    }
    cursor = states["Pausing"].fields[0].name
    if not {cursor, "limit"} <= params:
        return f"`{command}` is not given `{cursor}` and `limit`"
    item = states["Working"].fields[0].name
    due = _due(clause)
    return Scan(
        command, outcome, taken[0], taken[1], *by, due, item, cursor, "limit", taken[2]
    )


def _due(clause: core.Clause) -> str | None:
    """The field of a record that says when it is due."""
    for node in nodes(clause.guard):
        match node:
            case core.Over(
                body=core.Binary("<=", core.Member(target=core.Read("item"), name=name))
            ):
                return name
            case _:
                pass
    return None


def bare(type: Type) -> Type:
    return type.item if isinstance(type, Maybe) else type


def is_text(type: Type) -> bool:
    match bare(type):
        case Declared(base=Base.TEXT) | Base.TEXT:
            return True
        case _:
            return False
