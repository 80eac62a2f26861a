"""A machine as the explorer takes it: its spec, its generated module, its finite data.

Built once from a core machine and the descriptor of the module that was generated
from it; everything else asks this.  The module must be the explorer's own copy
(`load`): its `spread` is exchanged, so that a delay is tried at its longest and at
its shortest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import ModuleType
from typing import Literal, cast

import msgspec
from deedbox import Machine
from deedbox.key import key_text
from deedbox.step import AnyMachine
from deedbox_dsl import core, roles
from deedbox_dsl.types import TEXT
from msgspec import Struct
from msgspec.structs import fields as struct_fields

from .distances import Look, look
from .domain import EPOCH, Domain, body_expressions, domain, is_instant
from .evaluate import inline, spread_of, walk
from .listing import Listing, listing, told_apart
from .points import Points, points


class Spread:
    """Stands for `deedbox.spread` in the explorer's copy: the longest delay, or the shortest."""

    __slots__ = ("asked", "shortest")

    def __init__(self) -> None:
        self.shortest = False
        self.asked = False

    def __call__(self, delay: int, jitter: int | Literal["full"], seed: str) -> int:
        del seed
        self.asked = self.asked or spread_of(delay, jitter) > 0
        return delay - (spread_of(delay, jitter) if self.shortest else 0)


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome that the far side may give, unstamped and without a ticket."""

    command: str
    outcome: str
    message: Struct


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """`fields`: by state, its fields, key and given included; `untold`: by state, the
    instants whose order nobody asks for; `looks`: by state and
    trigger, what its clauses and the properties look at in such a step.
    `counted`: the pairs of command and outcome that a property counts.
    `seen_values`: the explored form of what a field of a struct has held so far.
    `gives_back`: (command, outcome) pairs by which an undo has done its work.
    `listing`: the list that a scan reads; an answer that brings some of it is in `answers`
    once, without a record.
    """

    spec: core.Machine
    machine: AnyMachine
    domain: Domain
    points: Points
    spread: Spread
    starts: tuple[Struct, ...]
    messages: tuple[Struct, ...]
    answers: Mapping[str, tuple[Answer, ...]]
    commands: Mapping[type[Struct], core.Command]
    outcomes: Mapping[type[Struct], tuple[str, str]]
    fields: Mapping[str, tuple[core.Field, ...]]
    untold: Mapping[str, tuple[str, ...]]
    looks: Mapping[tuple[str, str], Look]
    counted: tuple[tuple[str, str], ...]
    gives_back: frozenset[tuple[str, str]]
    prefix: str
    listing: Listing | None = None
    seen_values: dict[tuple[type[Struct], str, object], object] = field(
        default_factory=dict[tuple[type[Struct], str, object], object]
    )

    def deed_of(self, text: object) -> int | None:
        """The number of the deed of this instance whose idempotency key `text` is."""
        if isinstance(text, str) and text.startswith(self.prefix):
            rest = text[len(self.prefix) :]
            return int(rest) if rest.isdecimal() else None
        return None

    def trigger(self, message: Struct) -> str:
        """The name by which clauses know a message."""
        pair = self.outcomes.get(type(message))
        return ".".join(pair) if pair else type(message).__name__


def instances(
    struct: type[Struct], fields: Iterable[core.Field], data: Domain
) -> Iterator[Struct]:
    """Every message of a type, its `at` now."""
    types = {each.name: each.type for each in struct_fields(struct)}
    listed = list(fields)
    for chosen in product(*(data.values(one.type) for one in listed)):
        values = {
            one.name: msgspec.convert(plain, types[one.name])
            for one, plain in zip(listed, chosen, strict=True)
        }
        yield struct(**values, at=EPOCH)


def model(
    spec: core.Machine, module: ModuleType, beside: core.Machine | None = None
) -> Model:
    """`module` is a private copy of the generated module of `spec`.

    `beside` says what is told apart where more than `spec` looks at an instance.
    """
    whole = beside or spec
    machine = cast(AnyMachine, module.machine)
    if not isinstance(cast(object, machine), Machine):
        raise TypeError(f"{module.__name__} has no machine")
    spread = Spread()
    if hasattr(module, "spread"):
        module.spread = spread  # type: ignore[attr-defined]  # our own copy
    order, found = points(whole), roles.scan(spec)
    scan = found if isinstance(found, roles.Scan) else None
    data = told_apart(domain(whole), scan)
    reads: Listing | None = None
    named = {command.name: command for command in spec.commands}
    answers: dict[str, tuple[Answer, ...]] = {}
    commands: dict[type[Struct], core.Command] = {}
    outcomes: dict[type[Struct], tuple[str, str]] = {}
    for command in machine.commands:
        declared = named[command.name]
        commands[command.struct] = declared
        listed: list[Answer] = []
        for outcome, struct in zip(declared.outcomes, command.outcomes, strict=True):
            outcomes[struct] = (declared.name, outcome.name)
            brought = list(instances(struct, outcome.fields, data))
            if scan is not None and outcomes[struct] == (scan.fetch, scan.outcome):
                brought = [one for one in brought if not getattr(one, scan.listed)]
                reads = listing(scan, data, struct)
            listed += (Answer(declared.name, outcome.name, one) for one in brought)
        answers[declared.name] = tuple(listed)
    for told, sent in zip(spec.told, machine.told, strict=True):
        declared = _as_command(told)
        commands[sent.struct] = declared
        answers[declared.name] = ()
    starts = tuple(
        instances(
            cast("type[Struct]", machine.start_type), (*spec.key, *spec.given), data
        )
    )
    messages = {message.name: message for message in spec.messages}
    return Model(
        spec,
        machine,
        data,
        order,
        spread,
        starts,
        tuple(
            value
            for struct in cast("tuple[type[Struct], ...]", machine.messages)
            for value in instances(struct, messages[struct.__name__].fields, data)
        ),
        answers,
        commands,
        outcomes,
        {state.name: (*spec.key, *spec.given, *state.fields) for state in spec.states},
        {
            state.name: tuple(
                each.name
                for each in state.fields
                if is_instant(each.type) and each.name not in order.offsets
            )
            for state in spec.states
        },
        looked_at(spec),
        counted(whole),
        frozenset(
            (command.name, outcome.name)
            for command in spec.commands
            for outcome in command.outcomes
            if not asked_again(spec, command.name, outcome.name)
        ),
        f"{machine.name}/{key_text(*(getattr(starts[0], k) for k in machine.key))}/{EPOCH}/",
        reads,
    )


def _as_command(told: core.Told) -> core.Command:
    """What is told to another machine, as the command without outcomes that it is here."""
    fields = told.fields
    name = f"begin {told.machine}"
    if told.message is not None:
        fields = (core.Field("to", TEXT, None, told.span), *fields)
        name = f"tell {told.machine} {told.message}"
    return core.Command(name, fields, (), False, False, None, told.span)


def trigger_name(trigger: core.Trigger) -> str:
    match trigger:
        case core.OnMessage(message):
            return message
        case core.OnOutcome(command, outcome):
            return f"{command}.{outcome}"
        case core.AtDeadline():
            return "Due"


def looked_at(spec: core.Machine) -> dict[tuple[str, str], Look]:
    ladders = {ladder.name: ladder for ladder in spec.ladders}
    every = [stated.pred.expr for stated in spec.properties if stated.word == "across"]
    begun = list(body_expressions(spec.start))
    for again in spec.again:
        if again.guard is not None:
            begun.append(again.guard)
        if isinstance(again.exit, core.Replace):
            begun += [override.value for override in again.exit.overrides]
    found: dict[tuple[str, str], list[core.Expr]] = {
        (state.name, "Start"): [*every, *begun] for state in spec.states
    }
    for clause in spec.clauses:
        roots = found.setdefault(
            (clause.state, trigger_name(clause.trigger)), list(every)
        )
        if clause.guard is not None:
            roots.append(clause.guard)
        if clause.body is not None:
            roots += body_expressions(clause.body)
    return {
        place: look(
            dict.fromkeys(
                inline(root, ladders, shortest)
                for root in roots
                for shortest in (False, True)
            )
        )
        for place, roots in found.items()
    }


def counted(spec: core.Machine) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    for stated in spec.properties:
        predicates = [stated.pred] + ([stated.target] if stated.target else [])
        for predicate in predicates:
            for part in walk(predicate.expr):
                if isinstance(part, core.Ended):
                    found[part.command, part.outcome] = None
    return tuple(found)


def issues(body: core.Body | None, command: str) -> bool:
    return body is not None and any(
        isinstance(issue, core.Do | core.Repeat) and issue.command == command
        for issue in body.issues
    )


def asked_again(spec: core.Machine, command: str, outcome: str) -> bool:
    """Whether after this outcome the same command is asked again: it has done nothing."""
    answered = [
        clause
        for clause in spec.clauses
        if clause.trigger == core.OnOutcome(command, outcome)
        and clause.body is not None
    ]

    def retried(clause: core.Clause) -> bool:
        if clause.body is None or issues(clause.body, command):
            return True
        match clause.body.exit:
            case core.Goto(state=state):
                waiting = state
            case core.Stay() | core.Reject():
                waiting = clause.state
        return any(
            issues(other.body, command)
            for other in spec.clauses
            if other.state == waiting and isinstance(other.trigger, core.AtDeadline)
        )

    return bool(answered) and all(retried(clause) for clause in answered)
