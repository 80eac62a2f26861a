"""Ways into a state: each becomes one function, called by every clause that goes there.

Two clauses share a way when they lead to the same state and ask for the same
commands.  A field that all of them carry over is read from the old state; the
others are parameters, so a clause's call reads like its block in the spec.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from deedbox_dsl import core
from deedbox_dsl.spelling import snake
from deedbox_dsl.types import Maybe, RecordType, Type

from . import plan
from .annotations import annotation
from .deeds import Shape, Use, head_of, hidden_of, numbered, words_of
from .expressions import Place, typed
from .naming import LOCALS, Names
from .owing import Owables, addressed, owables, owed, sets


@dataclass(frozen=True, slots=True)
class Way:
    """A function into a state, and which values each of its callers gives it."""

    arrival: plan.Arrival
    given_fields: tuple[str, ...]
    given_arguments: tuple[tuple[int, int, str], ...]
    """Issue, argument, and the name of its parameter."""

    def call(
        self,
        body: core.Body,
        place: Place,
        types: Mapping[str, Type],
        owable: Owables,
    ) -> str:
        values = {each.field: each.value for each in sets(body)}
        given = [
            f"{name}={typed(values[name], types[name], place)}"
            for name in self.given_fields
        ]
        issues = owed(body)
        for issue, argument, name in self.given_arguments:
            wanted = owable[issues[issue].name].params[argument].type
            value = issues[issue].arguments[argument]
            given.append(f"{name}={typed(value, wanted, place)}")
        return f"{self.arrival.function}({', '.join(['state', *given])})"


def way(
    machine: core.Machine,
    shape_: Shape,
    uses: Sequence[Use],
    place: Place,
    names: Names,
) -> Way:
    """The function that all of `uses` call; `place` is that of its body."""
    state = next(each for each in machine.states if each.name == shape_.target)
    known = owables(machine)
    fields = {each.name: each for each in state.fields}
    written = [{each.field: each.value for each in sets(use.body)} for use in uses]
    carried = {
        name
        for name in fields
        if all(_carries(values[name], name) for values in written)
    }
    parameters = [
        plan.Field(name, annotation(each.type))
        for name, each in fields.items()
        if name not in carried
    ]
    local = Names({each.name for each in parameters} | LOCALS)
    number, made_state = local.unique("n"), local.unique(snake(state.name))
    reads = set(carried)
    made: list[plan.Made] = []
    extra: list[tuple[int, int, str]] = []
    for at, (name, repeated) in enumerate(shape_.asked):
        owable = known[name]
        arguments: list[str] = []
        for index, param in enumerate(owable.params):
            values = [owed(use.body)[at].arguments[index] for use in uses]
            text = _shared(values, param.type, place)
            if text is None:
                text = _held(values, written, fields, carried, param.type)
            if text is None:
                text = local.unique(param.name)
                parameters.append(plan.Field(text, annotation(param.type)))
                extra.append((at, index, text))
            arguments.append(text)
        deed = "state.deed_number" if repeated else numbered(number, at)
        reads |= {"deed_number"} if repeated else set()
        made.append(
            plan.Made(
                owable.struct,
                (
                    f"_key(state, {deed})",
                    numbered(number, at),
                    *addressed(owable, arguments),
                ),
            )
        )
    hidden = hidden_of(state, shape_, number)
    reads |= {name for name, value in hidden.items() if value == f"state.{name}"}
    reads -= {"issued"}
    values_ = (
        *head_of(machine, "state", "state.born", hidden),
        *(
            plan.Value(name, f"state.{name}" if name in carried else name)
            for name in fields
        ),
    )
    sources = tuple(dict.fromkeys(use.source for use in uses))
    arrival = plan.Arrival(
        function=names.unique(_function(shape_, state, sources, known)),
        head=f"state: {' | '.join(sources) if reads else 'State'}",
        parameters=tuple(parameters),
        doc=words_of(shape_, known),
        ticket=f"{number} = state.issued + 1" if shape_.asked else None,
        local=made_state,
        target=state.name,
        values=values_,
        commands=tuple(made),
    )
    return Way(
        arrival, tuple(name for name in fields if name not in carried), tuple(extra)
    )


def _carries(value: core.Expr, name: str) -> bool:
    return (
        isinstance(value, core.Read) and value.scope == "state" and value.name == name
    )


def _shared(values: Sequence[core.Expr], slot: Type, place: Place) -> str | None:
    """The text of an argument that is the same for all and needs no caller's scope."""
    first = values[0]
    if any(value != first for value in values):
        return None
    if isinstance(first, core.Constant) or (
        isinstance(first, core.Read) and first.scope in ("key", "given")
    ):
        return typed(first, slot, place)
    return None


def _held(
    values: Sequence[core.Expr],
    written: Sequence[Mapping[str, core.Expr]],
    fields: Mapping[str, core.Field],
    carried: Set[str],
    slot: Type,
) -> str | None:
    """The field of the new state, or a part of it, that always is this argument."""
    for name, field in fields.items():
        if slot in (field.type, Maybe(field.type)) and all(
            value == given[name] for value, given in zip(values, written, strict=True)
        ):
            return f"state.{name}" if name in carried else name
    parts = [each for each in values if isinstance(each, core.Member)]
    whole = [each.target for each in parts if isinstance(each.target.type, RecordType)]
    if len(whole) < len(values) or len({each.name for each in parts}) > 1:
        return None
    record = _held(whole, written, fields, carried, whole[0].type)
    return None if record is None else f"{record}.{parts[0].name}"


def _function(
    shape_: Shape, state: core.State, sources: tuple[str, ...], known: Owables
) -> str:
    """`_to_stock_undoing`; `_again` for a repeat, `_and_page_oncall` for what else is asked."""
    verb = "still" if sources == (shape_.target,) and not shape_.asked else "to"
    parts = [f"_{verb}_{snake(shape_.target)}"]
    for name, repeated in shape_.asked:
        if name != state.awaits:
            parts.append(f"and_{known[name].part}")
        elif repeated:
            parts.append("again")
    return "_".join(parts)
