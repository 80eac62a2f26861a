"""What holds for every generated reducer, over any state and any message."""

from __future__ import annotations

from typing import Any, TypeAlias, Union

import msgspec
import pytest
from deedbox import Due, Instant, Machine, Refused
from hypothesis import given
from hypothesis import strategies as st
from lease import lease
from orders import order
from worlds import any_of, structs

AnyMachine: TypeAlias = Machine[Any, Any, Any, Any, Any]
MACHINES: list[AnyMachine] = [order.machine, lease.machine]
every_machine = pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)


def messages(machine: AnyMachine) -> st.SearchStrategy[Any]:
    outcomes = tuple(kind for each in machine.commands for kind in each.outcomes)
    wakes = st.integers(0, 2**53).map(lambda at: Due(Instant(at)))
    kinds = (machine.start_type, *machine.messages, *outcomes)
    return st.one_of(wakes, any_of(kinds))


def steps(machine: AnyMachine) -> st.SearchStrategy[tuple[Any, Any]]:
    """A state and a message; of answers, many to the very issue that is awaited."""

    def answering(state: Any, message: Any) -> tuple[Any, Any]:
        ticket = machine.awaited(state)
        if ticket is None or not hasattr(message, "ticket"):
            return state, message
        return state, msgspec.structs.replace(message, ticket=ticket)

    pairs = st.tuples(any_of(machine.states), messages(machine))
    return st.one_of(pairs, pairs.map(lambda pair: answering(*pair)))


@every_machine
@given(data=st.data())
def test_every_pair_is_decided_and_always_in_the_same_way(
    machine: AnyMachine, data: st.DataObject
) -> None:
    state, message = data.draw(steps(machine))
    step = machine.reduce(state, message)
    assert step == machine.reduce(state, message)
    if not isinstance(step, Refused):
        after, commands = step
        assert type(after) in machine.states
        assert {type(each) for each in commands} <= {e.struct for e in machine.commands}


@every_machine
@given(data=st.data())
def test_issues_are_numbered_without_a_gap_and_keys_name_their_deed(
    machine: AnyMachine, data: st.DataObject
) -> None:
    """B1, B5: `issued` counts on, `born` and the key stay."""
    state, message = data.draw(steps(machine))
    step = machine.reduce(state, message)
    if isinstance(step, Refused):
        return
    after, commands = step
    assert after.born == state.born
    assert [getattr(after, name) for name in machine.key] == [
        getattr(state, name) for name in machine.key
    ]
    tickets = [each.ticket for each in commands]
    assert tickets == list(range(state.issued + 1, after.issued + 1))
    awaited = machine.awaited(after)
    assert awaited in (None, machine.awaited(state), *tickets)
    instance = f"{machine.name}/{getattr(state, machine.key[0])}/{state.born}/"
    for command in commands:
        number = command.idempotency_key.removeprefix(instance)
        assert int(number) in (command.ticket, getattr(state, "deed_number", None))


@every_machine
@given(data=st.data())
def test_an_answer_with_another_ticket_is_late(
    machine: AnyMachine, data: st.DataObject
) -> None:
    state = data.draw(any_of(machine.states))
    outcomes = tuple(kind for each in machine.commands for kind in each.outcomes)
    answer: Any = data.draw(any_of(outcomes))
    if answer.ticket != machine.awaited(state):
        step = machine.reduce(state, answer)
        assert isinstance(step, Refused)
        assert step.kind == "late"


@every_machine
@given(data=st.data())
def test_a_wake_fires_exactly_when_the_earliest_deadline_has_come(
    machine: AnyMachine, data: st.DataObject
) -> None:
    """S10."""
    state = data.draw(any_of(machine.states))
    deadline = machine.wake(state)
    now = data.draw(st.integers(0, 2**53))
    step = machine.reduce(state, Due(Instant(now)))
    due = deadline is not None and now >= deadline
    assert (isinstance(step, Refused) and step.kind == "not_due") != due


@every_machine
@given(data=st.data())
def test_what_is_saved_is_what_is_loaded(
    machine: AnyMachine, data: st.DataObject
) -> None:
    """C43: equal, and of the same types, at every depth."""
    state = data.draw(any_of(machine.states))
    document = msgspec.json.encode(state)
    loaded = msgspec.json.decode(document, type=Union[machine.states])  # noqa: UP007 - a union of a tuple
    assert (loaded, repr(loaded)) == (state, repr(state))
    message: msgspec.Struct = data.draw(messages(machine))
    copy = msgspec.json.decode(msgspec.json.encode(message), type=type(message))
    assert repr(copy) == repr(message)


@every_machine
@given(data=st.data())
def test_a_start_gives_a_whole_first_state(
    machine: AnyMachine, data: st.DataObject
) -> None:
    message = data.draw(structs(machine.start_type))
    state, commands = machine.start(message)
    assert state.born == message.at
    assert [each.ticket for each in commands] == list(range(1, state.issued + 1))
    assert machine.reduce(state, message) == Refused("kept", "already started")


@pytest.mark.parametrize(
    "document",
    [
        b'{"type":"Held","resource":"r","born":1,"issued":true,"holder":"h","expires":1,"renewals":0}',
        b'{"type":"Held","resource":"r","born":1,"issued":1,"holder":"h","expires":"1","renewals":0}',
        b'{"type":"Lost","resource":"r","born":1,"issued":1}',
        b'{"type":"Free","resource":"r","born":1}',
    ],
)
def test_a_document_of_another_shape_does_not_load(document: bytes) -> None:
    """C43: no bool for an int, no text for an instant, no unknown state, no missing field."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(document, type=lease.State)
