"""A state as it is arrived at: the struct that is made, and what is then owed."""

from __future__ import annotations

from collections.abc import Mapping

from deedbox_dsl import core
from deedbox_dsl.spelling import snake
from deedbox_dsl.types import Maybe, Type

from . import plan
from .annotations import annotation
from .deeds import Shape, Use, head_of, hidden_of, numbered, shape, words_of
from .expressions import Place, typed
from .naming import LOCALS, Names
from .owing import addressed, owables, owed, sets


def beginning(
    machine: core.Machine,
    place: Place,
    overridden: tuple[str, ...],
    *,
    function: str,
    again: bool,
) -> plan.Arrival:
    """The way in from nowhere: `start`, and a later start that replaces.

    `overridden` fields are parameters.  With `again`, so are the birth and the count
    of issues, which a replacement keeps.
    """
    body = machine.start
    if not isinstance(body.exit, core.Goto):
        raise AssertionError("a start goes to a state")
    target = body.exit.state
    state = next(each for each in machine.states if each.name == target)
    known = owables(machine)
    issues = owed(body)
    fields = {each.name: each for each in state.fields}
    local = Names({*overridden, *LOCALS, "born", "issued"})
    number, made_state = local.unique("n"), local.unique(snake(target))
    shape_ = Shape(target, tuple((each.name, False) for each in issues))
    issued = "issued" if again else "0"
    hidden = hidden_of(state, shape_, number) | ({} if issues else {"issued": issued})
    values = {each.field: each.value for each in body.exit.fields}
    born = "born" if again else "msg.at"
    made = tuple(
        plan.Made(
            known[each.name].struct,
            (
                f"_key({made_state}, {numbered(number, at)})",
                numbered(number, at),
                *addressed(
                    known[each.name],
                    [
                        typed(value, param.type, place)
                        for value, param in zip(
                            each.arguments, known[each.name].params, strict=True
                        )
                    ],
                ),
            ),
        )
        for at, each in enumerate(issues)
    )
    count = ("issued + 1" if again else "1") if issues else None
    return plan.Arrival(
        function=function,
        head="msg: Start, born: Instant, issued: int" if again else "msg: Start",
        parameters=tuple(
            plan.Field(name, annotation(fields[name].type)) for name in overridden
        ),
        doc=words_of(shape_, known),
        ticket=count and f"{number} = {count}",
        local=made_state,
        target=target,
        values=(
            *head_of(machine, "msg", born, hidden),
            *(
                plan.Value(
                    name,
                    name
                    if name in overridden
                    else typed(values[name], each.type, place),
                )
                for name, each in fields.items()
            ),
        ),
        commands=made,
    )


def arrival(
    machine: core.Machine, use: Use, place: Place, number: str, local: str
) -> plan.Arrival:
    """The way in of one clause, which takes it by itself: nothing else goes this way."""
    shape_ = shape(use)
    state = next(each for each in machine.states if each.name == shape_.target)
    known = owables(machine)
    values = {each.field: each.value for each in sets(use.body)}
    made: list[plan.Made] = []
    for at, each in enumerate(owed(use.body)):
        deed = "state.deed_number" if each.repeated else numbered(number, at)
        arguments = [
            _once(value, param.type, values, place, local)
            for value, param in zip(
                each.arguments, known[each.name].params, strict=True
            )
        ]
        head = f"_key(state, {deed})", numbered(number, at)
        made.append(
            plan.Made(
                known[each.name].struct,
                (*head, *addressed(known[each.name], arguments)),
            )
        )
    hidden = hidden_of(state, shape_, number)
    own = (
        plan.Value(each.name, typed(values[each.name], each.type, place))
        for each in state.fields
    )
    return plan.Arrival(
        function="",
        head="",
        parameters=(),
        doc="",
        ticket=f"{number} = state.issued + 1" if made else None,
        local=local,
        target=state.name,
        values=(*head_of(machine, "state", "state.born", hidden), *own),
        commands=tuple(made),
    )


def _once(
    value: core.Expr,
    slot: Type,
    values: Mapping[str, core.Expr],
    place: Place,
    local: str,
) -> str:
    """An argument; what the new state holds already is read from there, not computed again."""
    if not isinstance(value, core.Constant | core.Read | core.Bound | core.Member):
        for name, held in values.items():
            if held == value and slot in (held.type, Maybe(held.type)):
                return f"{local}.{name}"
    return typed(value, slot, place)
