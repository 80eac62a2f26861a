"""The structs of a machine's module: states, messages, outcomes, commands.

Every state begins with the key, the given, `born` and `issued`; a command with its key
and its ticket; what comes from outside ends with `at`.
"""

from __future__ import annotations

from deedbox_dsl import core
from deedbox_dsl.spelling import told

from . import plan
from .annotations import annotation
from .naming import command_class, outcome_class
from .quoting import doc_of, docstring


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


def state_struct(machine_: core.Machine, state: core.State) -> plan.Struct:
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


def start_struct(machine_: core.Machine) -> plan.Struct:
    fields = _fields((*machine_.key, *machine_.given), outside=True)
    doc = docstring("Begins an instance.")
    return plan.Struct("Start", "Start", doc, (*fields, _AT))


def message_struct(message: core.Message) -> plan.Struct:
    doc = doc_of(message.doc)
    fields = _fields(message.fields, outside=True)
    return plan.Struct(message.name, message.name, doc, (*fields, _AT))


def command_of(command: core.Command) -> plan.Command:
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


def told_struct(one: core.Told) -> plan.Told:
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
