"""A machine of the core as the plan of its module."""

from __future__ import annotations

from pathlib import PurePosixPath

from deedbox_dsl import core
from deedbox_dsl.spelling import snake, told
from deedbox_dsl.types import Maybe, Type

from . import plan
from .annotations import annotation
from .arrivals import beginning
from .deeds import Shape, Use, shape
from .expressions import Place, number
from .migrations import older
from .naming import Functions, Names, command_class, functions, outcome_class
from .owing import key_prefix, owables
from .quoting import comment, doc_of, docstring
from .reducers import (
    Context,
    ended,
    overridden,
    reducer,
    start_again,
    trigger_text,
)
from .roles import saga_roles, scan_roles
from .sql import table
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
        states=tuple(_state(core_machine, each) for each in core_machine.states),
        finals=finals,
        start=_start(core_machine),
        messages=tuple(_message(each) for each in core_machine.messages),
        commands=tuple(_command(each) for each in core_machine.commands),
        told=tuple(_told(each) for each in core_machine.told),
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


def _fields(fields: tuple[core.Field, ...], *, outside: bool) -> list[plan.Field]:
    return [
        plan.Field(
            each.name,
            annotation(each.type, outside=outside),
            None,
            doc_of(each.doc),
        )
        for each in fields
    ]


_AT = plan.Field("at", "Instant", "UNSTAMPED")
_TICKET = plan.Field("ticket", "int", "0")


def _state(machine_: core.Machine, state: core.State) -> plan.Struct:
    hidden = [plan.Field("born", "Instant"), plan.Field("issued", "int")]
    if state.awaits is not None:
        hidden.append(plan.Field("ticket", "int"))
    if state.open_deed is not None:
        hidden.append(plan.Field("deed_number", "int"))
    return plan.Struct(
        state.name,
        state.name,
        doc_of(state.doc) or docstring(_what_it_waits_for(state)),
        (
            *_fields((*machine_.key, *machine_.given), outside=True),
            *hidden,
            *_fields(state.fields, outside=False),
        ),
    )


def _what_it_waits_for(state: core.State) -> str:
    if state.final:
        return "An end."
    until = " or ".join(f"`{each}`" for each in state.deadlines)
    if state.awaits is not None:
        asked = f"Awaits the answer to `{state.awaits}`"
        return f"{asked}, until {until}." if until else f"{asked}."
    waits = f"Waits until {until}" if until else "Waits for a message"
    if state.open_deed is not None:
        return f"{waits}; the deed of `{state.open_deed}` is still open."
    return f"{waits}."


def _start(machine_: core.Machine) -> plan.Struct:
    fields = _fields((*machine_.key, *machine_.given), outside=True)
    doc = docstring("Begins an instance.")
    return plan.Struct("Start", "Start", doc, (*fields, _AT))


def _message(message: core.Message) -> plan.Struct:
    doc = doc_of(message.doc)
    fields = _fields(message.fields, outside=True)
    return plan.Struct(message.name, message.name, doc, (*fields, _AT))


def _command(command: core.Command) -> plan.Command:
    name = command_class(command.name)
    head = (plan.Field("idempotency_key", "str"), plan.Field("ticket", "int"))
    outcomes = tuple(
        plan.Struct(
            outcome_class(command.name, each.name),
            outcome_class(command.name, each.name),
            None,
            (*_fields(each.fields, outside=True), _AT, _TICKET),
        )
        for each in command.outcomes
    )
    return plan.Command(
        struct=plan.Struct(
            name,
            name,
            doc_of(command.doc),
            (*head, *_fields(command.params, outside=False)),
        ),
        method=command.name,
        outcomes=outcomes,
        union=f"{name}Outcome" if outcomes else "None",
        unrepeatable=command.unrepeatable,
        deadline=command.deadline,
    )


def _told(one: core.Told) -> plan.Told:
    """Its tag is that of the message, so its document is read as the message itself."""
    name = told(one.machine, one.message)
    head = [plan.Field("idempotency_key", "str"), plan.Field("ticket", "int")]
    doc = f"Begins a `{one.machine}`."
    if one.message is not None:
        head.append(plan.Field("to", "str"))
        doc = f"`{one.message}`, for the `{one.machine}` whose id is `to`."
    fields = _fields(one.fields, outside=False)
    struct = plan.Struct(name, one.message or "Start", docstring(doc), (*head, *fields))
    return plan.Told(struct, one.machine)


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
