"""A machine as the explorer takes it: its spec, its generated module, its finite data.

Built once from a core machine and the descriptor of the module that was generated
from it; everything else asks this.  The module must be the explorer's own copy
(`load`): its `spread` is exchanged, so that a delay is tried at its longest and at
its shortest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Literal, cast

from deedbox import Machine
from deedbox.key import key_text
from deedbox.step import AnyMachine
from deedbox_dsl import core, roles
from deedbox_dsl.types import TEXT
from msgspec import Struct

from ..data.classes import domain
from ..data.domain import EPOCH, Domain
from ..data.keys import key_parameters
from ..data.meeting import apart
from ..expressions.trees import walk
from ..expressions.types import is_instant
from ..scans.listing import Listing, listing, told_apart
from ..time.looking import Looks, looks
from ..time.points import Points, points, read_instants
from .outside import Answer, brought_by, instances
from .undoing import done


class Spread:
    """Stands for `deedbox.spread` in the explorer's copy: each delay as it is drawn.

    `drawn`: by the full delay and its jitter; what is not in it is in full.
    """

    __slots__ = ("drawn",)

    def __init__(self) -> None:
        self.drawn: Mapping[tuple[int, int | str], int] = {}

    def __call__(self, delay: int, jitter: int | Literal["full"], seed: str) -> int:
        del seed
        return self.drawn.get((delay, jitter), delay)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """`fields`: by state, its fields, key and given included; `brought`: by message and
    outcome, its fields; `read`: the instants that are looked at; `unread`, `untold`: by
    state the others, and those whose order nobody asks for; `looks`: by state and
    trigger, what its clauses and the properties look at in such a step.
    `counted`: the pairs of command and outcome that a property counts.
    `seen_values`: the explored form of what a field of a struct has held so far.
    `gives_back`: (command, outcome) pairs by which an undo has done its work.
    `key_parameters`: by command, the parameters that are keys of deeds.
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
    brought: Mapping[type[Struct], tuple[core.Field, ...]]
    read: tuple[str, ...]
    unread: Mapping[str, tuple[str, ...]]
    untold: Mapping[str, tuple[str, ...]]
    looks: Looks
    counted: tuple[tuple[str, str], ...]
    gives_back: frozenset[tuple[str, str]]
    key_parameters: Mapping[type[Struct], frozenset[str]]
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


def model(
    spec: core.Machine, module: ModuleType, beside: core.Machine | None = None
) -> Model:
    """`module` is a private copy of the generated module of `spec`.

    `beside` says what is told apart where more than `spec` looks at an instance.
    """
    spec, whole = apart(spec, beside or spec)
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
    keys = key_parameters(spec)
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
    read = tuple(sorted(read_instants(whole)))
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
        brought_by(spec, machine),
        read,
        {state.name: instants_without(spec, state, read) for state in spec.states},
        {
            state.name: instants_without(spec, state, order.offsets)
            for state in spec.states
        },
        looks(spec, order, data),
        counted(whole),
        done(spec),
        {struct: keys.get(each.name, frozenset()) for struct, each in commands.items()},
        f"{machine.name}/{key_text(*(getattr(starts[0], k) for k in machine.key))}/{EPOCH}/",
        reads,
    )


def at_their_ends(made: Model) -> Model:
    """The same, but lengths of time come from outside at the ends of their range only.

    They stay what they are, for a search that counts milliseconds.
    """
    data = replace(made.domain, ends=True)

    def every(kinds: Iterable[type[Struct]]) -> tuple[Struct, ...]:
        return tuple(
            one for kind in kinds for one in instances(kind, made.brought[kind], data)
        )

    def again(answers: tuple[Answer, ...]) -> Iterator[Answer]:
        for kind in dict.fromkeys(type(answer.message) for answer in answers):
            known = [answer for answer in answers if type(answer.message) is kind]
            if made.listing is not None and kind is made.listing.page:
                yield from known
            else:
                yield from (replace(known[0], message=one) for one in every([kind]))

    return replace(
        made,
        domain=data,
        starts=every([type(made.starts[0])]),
        messages=every(dict.fromkeys(map(type, made.messages))),
        answers={name: tuple(again(known)) for name, known in made.answers.items()},
        seen_values={},
    )


def instants_without(
    spec: core.Machine, state: core.State, kept: Container[str]
) -> tuple[str, ...]:
    """The instants of a state that are not among `kept`, those of the given included."""
    return tuple(
        each.name
        for each in (*spec.given, *state.fields)
        if is_instant(each.type) and each.name not in kept
    )


def _as_command(told: core.Told) -> core.Command:
    """What is told to another machine, as the command without outcomes that it is here."""
    fields = told.fields
    name = f"begin {told.machine}"
    if told.message is not None:
        fields = (core.Field("to", TEXT, None, told.span), *fields)
        name = f"tell {told.machine} {told.message}"
    return core.Command(name, fields, (), False, False, None, told.span)


def counted(spec: core.Machine) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    for stated in spec.properties:
        predicates = [stated.pred] + ([stated.target] if stated.target else [])
        for predicate in predicates:
            for part in walk(predicate.expr):
                if isinstance(part, core.Ended):
                    found[part.command, part.outcome] = None
    return tuple(found)
