"""A machine of the core as the plan of its module."""

from __future__ import annotations

from pathlib import PurePosixPath

from deedbox_dsl import core
from deedbox_dsl.spelling import snake
from deedbox_dsl.types import Maybe, Type

from . import plan
from .arrivals import beginning
from .deeds import Shape, Use, shape
from .expressions import Place, number
from .migrations import older
from .naming import Functions, Names, functions
from .owing import key_prefix, owables
from .quoting import comment, doc_of, docstring
from .reducers import Context, ended, reducer, trigger_text
from .restarts import overridden, start_again
from .roles import saga_roles, scan_roles
from .sql import table
from .structs import command_of, message_struct, start_struct, state_struct, told_struct
from .ways import Way, way

SEVERAL = 16
"""More states than this are looked up in a table: a `match` tries them one by one.

Up to here the type checkers prove that no state is forgotten, which is worth its time."""
MANY = 32
"""The same for `wake` and `awaited`, which tell groups of states apart, not states."""


def machine(
    core_machine: core.Machine, available: frozenset[core.TypeDeclaration]
) -> plan.Machine:
    """`available`: the types that the machine's package declares or imports."""
    names = Names()
    own = functions(core_machine, names)
    place = _place(own)
    uses = _uses(core_machine)
    ways = {
        each: way(core_machine, each, those, place, names)
        for each, those in uses.items()
        if len(those) > 1
    }
    begins = _begins(core_machine, own)
    plans = tuple(
        beginning(
            core_machine,
            _start_place(core_machine, own, again=True),
            fields,
            function=function,
            again=True,
        )
        for fields, function in begins.items()
    )
    context = _context(core_machine, own, ways, place)
    again = start_again(context, begins)
    finals = tuple(each.name for each in core_machine.states if each.final)
    reducers = [
        reducer(context, each) for each in core_machine.states if not each.final
    ]
    if finals:
        reducers.append(ended(context, finals))
    count = len(core_machine.states)
    return plan.Machine(
        name=core_machine.name,
        module=snake(core_machine.name),
        version=core_machine.version,
        doc=doc_of(core_machine.doc) or docstring(f"The machine {core_machine.name}."),
        key=tuple(each.name for each in core_machine.key),
        key_text=key_prefix(core_machine, "state"),
        policies=tuple(_policy(own, each) for each in core_machine.ladders),
        states=tuple(state_struct(core_machine, each) for each in core_machine.states),
        finals=finals,
        start=start_struct(core_machine),
        messages=tuple(message_struct(each) for each in core_machine.messages),
        commands=tuple(command_of(each) for each in core_machine.commands),
        told=tuple(told_struct(each) for each in core_machine.told),
        begin=beginning(
            core_machine,
            _start_place(core_machine, own, again=False),
            (),
            function="start",
            again=False,
        ),
        begins_again="_begin" in begins.values(),
        more_begins=plans,
        again=tuple(again),
        reducers=tuple(reducers),
        arrivals=tuple(each.arrival for each in ways.values()),
        wakings=_wakings(core_machine),
        awaiting=tuple(e.name for e in core_machine.states if e.awaits is not None),
        resting=tuple(e.name for e in core_machine.states if e.awaits is None),
        transitions=_transitions(core_machine),
        table=table(core_machine),
        older=older(core_machine, available, place),
        saga=saga_roles(core_machine),
        scan=scan_roles(core_machine),
        tabled=count > SEVERAL,
        large=count > MANY,
    )


def _place(own: Functions) -> Place:
    return Place(
        holder="state",
        now="msg.at",
        deed="_key(state, state.deed_number)",
        seed="_key(state, state.issued)",
        waits=own.waits,
        seeded=own.seeded,
        attempts=own.attempts,
        locals={},
    )


def _start_place(machine_: core.Machine, own: Functions, *, again: bool) -> Place:
    born, issued = ("born", "{issued}") if again else ("msg.at", "0")
    seed = f'f"{key_prefix(machine_, "msg")}/{{{born}}}/{issued}"'
    return Place(
        holder="msg",
        now="msg.at",
        deed="",
        seed=seed,
        waits=own.waits,
        seeded=own.seeded,
        attempts=own.attempts,
        locals={},
    )


def _uses(machine_: core.Machine) -> dict[Shape, list[Use]]:
    """Every clause that goes somewhere, by its way, in the order of the spec."""
    uses: dict[Shape, list[Use]] = {}
    for clause in machine_.clauses:
        if clause.body is None or isinstance(clause.body.exit, core.Reject):
            continue
        use = Use(clause.state, clause.body)
        uses.setdefault(shape(use), []).append(use)
    return uses


def _begins(machine_: core.Machine, own: Functions) -> dict[tuple[str, ...], str]:
    """A function for each set of state fields that a replacement may override."""
    names = Names(set(own.states.values()))
    begins: dict[tuple[str, ...], str] = {}
    for each in machine_.again:
        if isinstance(each.exit, core.Replace):
            _, of_state = overridden(machine_, each.exit)
            fields = tuple(one.field for one in of_state)
            if fields not in begins:
                begins[fields] = names.unique("_".join(["_begin", *fields]))
    return begins


def _context(
    machine_: core.Machine, own: Functions, ways: dict[Shape, Way], place: Place
) -> Context:
    fields: dict[str, dict[str, Type]] = {
        state.name: {each.name: each.type for each in state.fields}
        for state in machine_.states
    }
    return Context(
        machine=machine_,
        owables=owables(machine_),
        fields=fields,
        functions=own,
        ways=ways,
        place=place,
        starts_again=(
            "return _start_again(state, msg)"
            if machine_.again or machine_.given
            else "return KEPT"
        ),
    )


def _policy(own: Functions, ladder: core.Ladder) -> plan.Policy:
    place = f"{PurePosixPath(ladder.span.path).name}:{ladder.span.line}"
    jitter = f'"{ladder.jitter}"' if ladder.jitter == "full" else ladder.jitter
    return plan.Policy(
        comment=comment(f"policy {ladder.name}: {ladder.words}.  {place}"),
        prefix=ladder.name.upper(),
        attempts=None if ladder.attempts is None else number(ladder.attempts),
        delays=tuple(number(each) for each in ladder.delays),
        wait=own.waits[ladder.name] if ladder.delays else None,
        jitter=None if jitter is None else str(jitter),
    )


def _wakings(machine_: core.Machine) -> tuple[plan.Waking, ...]:
    groups: dict[tuple[str, ...], list[core.State]] = {}
    for state in machine_.states:
        groups.setdefault(state.deadlines, []).append(state)
    return tuple(
        plan.Waking(
            tuple(each.name for each in states), deadlines, _answer(states, deadlines)
        )
        for deadlines, states in groups.items()
    )


def _answer(states: list[core.State], deadlines: tuple[str, ...]) -> str:
    held = [f"state.{each}" for each in deadlines]
    if len(held) < 2:
        return held[0] if held else "None"
    optional = any(
        isinstance(each.type, Maybe)
        for state in states
        for each in state.fields
        if each.name in deadlines
    )
    if not optional:
        return f"min({', '.join(held)})"
    armed = f"(at for at in ({', '.join(held)}) if at is not None)"
    return f"min({armed}, default=None)"


def _transitions(machine_: core.Machine) -> tuple[plan.Transition, ...]:
    start = machine_.start.exit
    rows: list[plan.Transition] = []
    if isinstance(start, core.Goto):
        rows.append(plan.Transition("", "Start", start.state, machine_.span.line))
    for clause in machine_.clauses:
        if clause.body is None or isinstance(clause.body.exit, core.Reject):
            continue
        target = shape(Use(clause.state, clause.body)).target
        rows.append(
            plan.Transition(
                clause.state, trigger_text(clause.trigger), target, clause.span.line
            )
        )
    return tuple(rows)
