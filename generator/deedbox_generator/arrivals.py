"""Ways into a state: each becomes one function, called by every clause that goes there.

Two clauses share a way when they lead to the same state and ask for the same
commands.  A field that all of them carry over is read from the old state; the
others are parameters, so a clause's call reads like its block in the spec.

The rules of deeds stand here and nowhere else: an issue takes the next number of
`issued` as its ticket; `do` makes that number the deed's too, `repeat` keeps the
deed's; a state gone to without asking anew keeps ticket and deed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from deedbox_dsl import core
from deedbox_dsl.spelling import snake, told
from deedbox_dsl.types import Base, Maybe, Type

from . import plan
from .annotations import annotation, base_of
from .expressions import Place, typed
from .naming import Names, command_class


@dataclass(frozen=True, slots=True)
class Owable:
    """What a block may ask for: a command, or a message that it tells another machine.

    `key` are the first of `params`: that of the other machine's instance, which stands
    in the struct as one text.
    """

    struct: str
    key: tuple[core.Field, ...]
    params: tuple[core.Field, ...]
    part: str
    words: str


Owables: TypeAlias = Mapping[str, Owable]


def owables(machine: core.Machine) -> dict[str, Owable]:
    """By the names that `owed` gives to what is asked for."""
    found = {
        each.name: Owable(
            command_class(each.name),
            (),
            each.params,
            each.name,
            f"a new deed of `{each.name}`",
        )
        for each in machine.commands
    }
    for each in machine.told:
        struct = told(each.machine, each.message)
        begins = each.message is None
        found[struct] = Owable(
            struct,
            () if begins else each.key,
            each.fields if begins else (*each.key, *each.fields),
            snake(struct),
            f"a new `{each.machine}`"
            if begins
            else f"`{each.message}` for `{each.machine}`",
        )
    return found


@dataclass(frozen=True, slots=True)
class Owed:
    """One thing that a block asks for; `arguments` in the order of the `params`."""

    name: str
    repeated: bool
    arguments: tuple[core.Expr, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """What makes two ways the same."""

    target: str
    asked: tuple[tuple[str, bool], ...]
    """Each command, and whether it is repeated."""


@dataclass(frozen=True, slots=True)
class Use:
    """One clause that goes this way."""

    source: str
    body: core.Body


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


def sets(body: core.Body) -> tuple[core.Set, ...]:
    return () if isinstance(body.exit, core.Reject) else body.exit.fields


def owed(body: core.Body) -> tuple[Owed, ...]:
    """What a block asks for, in the order in which it says so."""
    return tuple(map(_owed, body.issues))


def _owed(issue: core.Issue) -> Owed:
    match issue:
        case core.Do():
            return Owed(issue.command, False, issue.arguments)
        case core.Repeat():
            return Owed(issue.command, True, issue.arguments)
        case core.Tell():
            values = (*issue.key, *(each.value for each in issue.fields))
            return Owed(told(issue.machine, issue.message), False, values)
        case core.Begin():
            values = (*issue.key, *(each.value for each in issue.fields))
            return Owed(told(issue.machine, None), False, values)
        case _:
            assert_never(issue)


def shape(use: Use) -> Shape:
    target = use.body.exit.state if isinstance(use.body.exit, core.Goto) else use.source
    return Shape(
        target,
        tuple((each.name, each.repeated) for each in owed(use.body)),
    )


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
    local = Names({each.name for each in parameters} | {"state"})
    number, after = local.unique("n"), local.unique("after")
    reads = set(carried)
    made: list[plan.Made] = []
    extra: list[tuple[int, int, str]] = []
    for at, (name, repeated) in enumerate(shape_.asked):
        owable = known[name]
        arguments: list[str] = []
        for index, param in enumerate(owable.params):
            values = [owed(use.body)[at].arguments[index] for use in uses]
            text = _shared(values, param.type, place)
            same = _same_field(values, written, fields, param.type)
            if text is None and same is not None:
                text = f"state.{same}" if same in carried else same
            if text is None:
                text = local.unique(param.name)
                parameters.append(plan.Field(text, annotation(param.type)))
                extra.append((at, index, text))
            arguments.append(text)
        deed = "state.deed_number" if repeated else _numbered(number, at)
        reads |= {"deed_number"} if repeated else set()
        made.append(
            plan.Made(
                owable.struct,
                (
                    f"_key(state, {deed})",
                    _numbered(number, at),
                    *_addressed(owable, arguments),
                ),
            )
        )
    hidden = _hidden(state, shape_, number)
    reads |= {name for name, value in hidden.items() if value == f"state.{name}"}
    reads -= {"issued"}
    values_ = (
        *_head(machine, "state", "state.born", hidden),
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
        doc=_doc(shape_, known),
        ticket=f"{number} = state.issued + 1" if shape_.asked else None,
        local=after,
        target=state.name,
        values=values_,
        commands=tuple(made),
    )
    return Way(
        arrival, tuple(name for name in fields if name not in carried), tuple(extra)
    )


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
    local = Names(set(overridden))
    number, first = local.unique("n"), local.unique("first")
    shape_ = Shape(target, tuple((each.name, False) for each in issues))
    issued = "issued" if again else "0"
    hidden = _hidden(state, shape_, number) | ({} if issues else {"issued": issued})
    values = {each.field: each.value for each in body.exit.fields}
    born = "born" if again else "msg.at"
    made = tuple(
        plan.Made(
            known[each.name].struct,
            (
                key(machine, "msg", born, _numbered(number, at)),
                _numbered(number, at),
                *_addressed(
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
        doc=_doc(shape_, known),
        ticket=count and f"{number} = {count}",
        local=first,
        target=target,
        values=(
            *_head(machine, "msg", born, hidden),
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
        deed = "state.deed_number" if each.repeated else _numbered(number, at)
        arguments = [
            _once(value, param.type, values, place, local)
            for value, param in zip(
                each.arguments, known[each.name].params, strict=True
            )
        ]
        head = f"_key(state, {deed})", _numbered(number, at)
        made.append(
            plan.Made(
                known[each.name].struct,
                (*head, *_addressed(known[each.name], arguments)),
            )
        )
    hidden = _hidden(state, shape_, number)
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
        values=(*_head(machine, "state", "state.born", hidden), *own),
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


def _head(
    machine: core.Machine, holder: str, born: str, hidden: Mapping[str, str]
) -> tuple[plan.Value, ...]:
    """What every state begins with, by position; then the hidden fields that some have."""
    common = [f"{holder}.{each.name}" for each in (*machine.key, *machine.given)]
    head = (*common, born, hidden["issued"])
    return (
        *(plan.Value("", each) for each in head),
        *(plan.Value(k, value) for k, value in hidden.items() if k != "issued"),
    )


def key(machine: core.Machine, holder: str, born: str, number: str) -> str:
    """The idempotency key of a deed, as an expression."""
    return f'f"{key_prefix(machine, holder)}/{{{born}}}/{{{number}}}"'


def _addressed(owable: Owable, arguments: list[str]) -> list[str]:
    """The arguments, with the key of another machine's instance as its canonical text."""
    count = len(owable.key)
    return [*filter(None, [_id(owable.key, arguments[:count])]), *arguments[count:]]


def _id(key_: tuple[core.Field, ...], values: Sequence[str]) -> str:
    """The canonical text of a key: the text itself for one text field."""
    if len(key_) == 1 and base_of(key_[0].type) is Base.TEXT:
        return values[0]
    return f"key_text({', '.join(values)})" if values else ""


def key_prefix(machine: core.Machine, holder: str) -> str:
    """The machine and the instance's canonical id, inside an f-string."""
    fields = [f"{holder}.{each.name}" for each in machine.key]
    return f"{machine.name}/{{{_id(machine.key, fields)}}}"


def _hidden(state: core.State, shape_: Shape, number: str) -> dict[str, str]:
    """`issued`, and `ticket` and `deed_number` where the state has them."""
    places = {command: at for at, (command, _) in enumerate(shape_.asked)}
    repeated = {command for command, again in shape_.asked if again}
    count = len(shape_.asked)
    values = {"issued": _numbered(number, count - 1) if count else "state.issued"}
    if state.awaits is not None:
        at = places.get(state.awaits)
        values["ticket"] = "state.ticket" if at is None else _numbered(number, at)
    if state.open_deed is not None:
        at = None if state.open_deed in repeated else places.get(state.open_deed)
        values["deed_number"] = (
            "state.deed_number" if at is None else _numbered(number, at)
        )
    return values


def _numbered(number: str, at: int) -> str:
    return f"{number} + {at}" if at else number


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


def _same_field(
    values: Sequence[core.Expr],
    written: Sequence[Mapping[str, core.Expr]],
    fields: Mapping[str, core.Field],
    slot: Type,
) -> str | None:
    """The field of the new state that always gets the very value of this argument."""
    for name, field in fields.items():
        if slot in (field.type, Maybe(field.type)) and all(
            value == given[name] for value, given in zip(values, written, strict=True)
        ):
            return name
    return None


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


def _doc(shape_: Shape, known: Owables) -> str:
    if not shape_.asked:
        return f"`{shape_.target}`, and nothing new is asked for."
    asked = " and ".join(
        f"`{name}` again, under the key of its open deed"
        if repeated
        else known[name].words
        for name, repeated in shape_.asked
    )
    return f"`{shape_.target}`, and {asked}."
