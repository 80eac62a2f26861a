"""A simulated run, held against what the checker explored of the same machine.

A run is seen as the steps of one instance and what the far side decided for it.  Of the
explored worlds those are kept that agree with everything seen so far; what is not seen
(hand-outs, deaths, handlers that raise, time) may happen in between.  Each state, each
step and each decision must be one that the checker explored: when no world is left, the
run has gone where the checker never was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, Final, TypeAlias, cast

import msgspec
from deedbox import Due
from deedbox.codec import Codec
from deedbox.key import key_text
from deedbox.machine import CommandType
from deedbox.simulation import Decided, Plan, Step, Vocabulary, plan, simulate
from deedbox.step import AnyMachine
from deedbox.testing import EPOCH as CLOCK
from deedbox_checker.data.domain import EPOCH
from deedbox_checker.environment.environment import environment
from deedbox_checker.environment.labels import FAULTS, Kind, Label
from deedbox_checker.environment.reaction import reactions
from deedbox_checker.expressions.evaluate import phase
from deedbox_checker.expressions.types import bounds, is_instant, is_int, is_length
from deedbox_checker.instance.abstraction import explored_message, explored_own
from deedbox_checker.instance.identity import normal
from deedbox_checker.instance.model import Model
from deedbox_checker.instance.world import World
from deedbox_checker.subjects.subjects import Subject, subjects
from deedbox_checker.time.regions import FAR
from deedbox_checker.verdicts.verify import Searched, prepared, search
from deedbox_dsl.types import ListOf, Maybe, RecordType, Type
from gallery import one_module, subject
from msgspec import Struct
from msgspec.structs import replace

UNSEEN: Final = frozenset(
    {Kind.HAND_OUT, Kind.CRASH, Kind.RAISE, Kind.TIME, Kind.EARLY, Kind.SECOND}
)
DECIDES: Final = frozenset({Kind.FAR_SIDE, Kind.ARRIVAL})
LIMIT: Final = 150_000
LONGER: Final = 4
"""So many times as much is sent in a long run as in another, and once."""
SPANS: Final = (0, 1, 1_000, 60_000, 600_000, 7_200_000, 90_000_000, 40 * 86_400_000)


Sort: TypeAlias = tuple[str | None, str | None, Kind, str]


@dataclass(frozen=True, slots=True)
class Edge:
    number: int
    label: Label
    target: int


@dataclass(slots=True, eq=False)
class Explored:
    """What the checker explored of a machine; `taken` are the edges that runs took.

    `shape`: what of a state its worlds are told apart by.
    """

    searched: Searched
    states: tuple[Struct | None, ...]
    shape: Callable[[Struct | None], Struct | None] = lambda state: state
    taken: set[int] = field(default_factory=set[int])
    closures: dict[int, frozenset[int]] = field(
        default_factory=dict[int, frozenset[int]]
    )

    @property
    def model(self) -> Model:
        return self.searched.model

    def edges(self, world: int) -> Iterable[Edge]:
        tables = self.searched.tables
        for number in tables.steps(world):
            label = self.searched.labels[tables.labels[number]]
            yield Edge(number, label, tables.targets[number])

    def unseen(self, world: int) -> frozenset[int]:
        """The worlds that this one may have become without anybody seeing it."""
        found = self.closures.get(world)
        if found is None:
            reached, left = {world}, [world]
            while left:
                for edge in self.edges(left.pop()):
                    if edge.label.kind in UNSEEN and edge.target not in reached:
                        reached.add(edge.target)
                        left.append(edge.target)
            found = self.closures[world] = frozenset(reached)
        return found

    def told(self) -> str:
        """How much of what was explored the runs have shown.

        A sort is a step by its phases and its name: a machine with counters has many
        steps of one sort.
        """
        visible = self.visible()
        every, shown = set[Sort](), set[Sort]()
        for world in range(len(self.states)):
            for edge in self.edges(world):
                if edge.number in visible:
                    phases = phase(self.states[world]), phase(self.states[edge.target])
                    sort = (*phases, edge.label.kind, edge.label.subject)
                    every.add(sort)
                    if edge.number in self.taken:
                        shown.add(sort)
        share = len(self.taken & visible) * 100 // len(visible)
        return (
            f"{len(self.taken)} of {len(visible)} explored steps ({share} %),"
            f" {len(shown)} of {len(every)} sorts"
        )

    def visible(self) -> set[int]:
        """The explored edges that a run could show."""
        tables = self.searched.tables
        kinds = [label.kind for label in self.searched.labels]
        return {
            number
            for number, label in enumerate(tables.labels)
            if kinds[label] not in UNSEEN
        }


def explored(name: str) -> Explored | str:
    """The machine of the gallery, explored; or why it is not."""
    found = subject(name)
    made = prepared(found.machine, found.module)
    if isinstance(made, str):
        return made
    steps = environment(made, reactions(made), frozenset(FAULTS.values()))
    searched = search(steps, LIMIT, lambda _: None)
    states = tuple(
        alone(made, world.state) if world.state is not None else None
        for world in searched.closure.states
    )
    return Explored(searched, states)


def alone(made: Model, state: Struct) -> Struct | None:
    """The state by itself, its numbers as they are without an environment."""
    return normal(made, World(state, stale=(0,) * len(made.counted))).state


def seen_as(made: Model, state: Struct, at: int) -> Struct | None:
    """The explored form of a state at its logical time; its texts are the explorer's own."""
    key = key_text(*(getattr(state, name) for name in made.machine.key))
    own = f"{made.machine.name}/{key}/{getattr(state, 'born')}/"  # noqa: B009
    changes: dict[str, object] = {"born": EPOCH}
    for each in made.fields[type(state).__name__]:
        value = cast(object, getattr(state, each.name))
        if each.name in made.machine.key:
            changes[each.name] = getattr(made.starts[0], each.name)
        elif is_instant(each.type) and isinstance(value, int):
            changes[each.name] = value - at + EPOCH
        elif isinstance(value, str) and value.startswith(own):
            changes[each.name] = made.prefix + value.removeprefix(own)
    return alone(made, explored_own(made, replace(state, **changes)))


class Words:
    """What the explorer sends and answers, in the types of the machine that runs.

    What the explorer does not tell apart is drawn anew each time.
    """

    def __init__(self, made: Model, machine: AnyMachine) -> None:
        self.model = made
        self.codec = Codec(machine)
        own: list[type[Struct]] = [
            *machine.states,
            machine.start_type,
            *machine.messages,
            *(outcome for command in machine.commands for outcome in command.outcomes),
        ]
        self._own = {kind.__name__: kind for kind in own}
        self._explored = {
            kind.__name__: kind for kind in (*made.machine.states, *made.outcomes)
        }

    def ours(self, message: Struct) -> Struct:
        """A message of the explorer, not stamped yet."""
        kind = self._own[type(message).__name__]
        return replace(_as(kind, message), at=-1)

    def drawn(self, among: Sequence[Struct], random: Random) -> Struct:
        """One of these messages, or one that is the same to the explorer."""
        message = random.choice(among)
        fields = self.model.brought[type(message)]
        changes = {
            each.name: drawn(self.model, each.type, getattr(message, each.name), random)
            for each in fields
            if each.name not in self.codec.machine.key
        }
        found = replace(message, **changes)
        assert explored_message(self.model, found) == message
        return self.ours(found)

    def theirs(self, state: Struct) -> Struct:
        return _as(self._explored[type(state).__name__], state)

    def start(self, random: Random) -> Struct:
        start = self.drawn(self.model.starts, random)
        keys = {
            name: random.choice(("a", "b"))
            for name in self.codec.machine.key
            if isinstance(getattr(start, name), str)
        }
        return replace(start, **keys)

    def message(self, random: Random) -> Struct | None:
        if not self.model.messages:
            return None
        return self.drawn(self.model.messages, random)

    # -- the far side of a run

    def answer(
        self,
        codec: Codec,
        type_: CommandType,
        command: Struct,
        random: Random,
        now: int,
    ) -> Struct:
        del codec, command, now
        answers = [each.message for each in self.model.answers[type_.name]]
        return self.drawn(answers, random)

    def gives_back(self, codec: Codec, type_: CommandType, answer: Struct) -> bool:
        del codec
        return (type_.name, self.outcome(answer)) in self.model.gives_back

    def outcome(self, answer: Struct) -> str:
        return self.model.outcomes[self._explored[type(answer).__name__]][1]

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.codec, self.start, self.message)

    @property
    def age(self) -> int:
        """Milliseconds in which something comes that lies far ahead."""
        return self.model.domain.longest // 4 + 1

    def plan(self, seed: int) -> Plan:
        return planned(seed, [self.vocabulary], self.age)


def _as(kind: type[Struct], value: Struct) -> Struct:
    return msgspec.json.decode(msgspec.json.encode(value), type=kind)


def planned(seed: int, vocabularies: Sequence[Vocabulary], age: int) -> Plan:
    """A plan that keeps everybody: the explorer does not know how instances are removed.

    Every other one is long, and waits for deadlines most of the time, once for an `age`.
    """
    made = plan(seed, vocabularies)
    sendings, calls = list(made.sendings), list(made.calls)
    if seed % 2:
        for further in range(1, LONGER + 1):
            more = plan(seed + further * 10_000, vocabularies)
            sendings += more.sendings
            calls += [replace(one, at=one.at + further * 6) for one in more.calls]
        dice = Random(f"waits {seed}")
        aged = dice.randrange(len(sendings))
        sendings = [
            replace(
                one,
                after=age if n == aged else dice.choice((one.after, None, None)),
                message_id=one.message_id and f"{one.message_id} of {n}",
            )
            for n, one in enumerate(sendings)
        ]
    return replace(
        made,
        sendings=tuple(sendings),
        calls=tuple(sorted(calls, key=lambda one: one.at)),
        rules=replace(made.rules, keep=None),
    )


def drawn(made: Model, type: Type, value: object, random: Random) -> object:
    """A value that the explorer does not tell apart from this one."""
    plain = made.domain.carried(type)
    match type:
        case _ if value is None:
            return None
        case Maybe(item):
            return drawn(made, item, value, random)
        case RecordType(fields=fields):
            struct = cast(Struct, value)
            return replace(
                struct,
                **{
                    name: drawn(made, inner, getattr(struct, name), random)
                    for name, inner in fields
                },
            )
        case ListOf(item):
            listed = cast("tuple[object, ...]", value)
            if plain and listed:
                listed = listed * random.choice((1, 1, 2))
            return tuple(drawn(made, item, one, random) for one in listed)
        case _ if is_instant(type):
            return CLOCK + random.choice(SPANS) * random.choice((-1, 1))
        case _ if is_length(type):
            low, high = made.domain.span(type, cast(int, value))
            spans = [span for span in SPANS if low <= span <= high]
            return random.choice([low, *spans, *([high] if high < FAR else [])])
        case _ if is_int(type) and plain:
            least, most = bounds(type)
            numbers = [n for n in (0, 1, 2, 7) if least is None or least <= n]
            return random.choice([n for n in numbers if most is None or n <= most])
        case _ if isinstance(value, str) and plain:
            return random.choice((value, "a", "b"))
        case _:
            return value


class Follower:
    """The explored worlds in which one instance may be."""

    def __init__(self, words: Words, known: Explored) -> None:
        self._words = words
        self._known = known
        self._worlds: frozenset[int] = frozenset({0})

    def sees(self, event: Step | Decided, current: Struct | None) -> str | None:
        """What is wrong with the event, None when it was explored."""
        match event:
            case Step():
                return self._step(event)
            case Decided():
                return self._decided(event, current)

    def _unseen(self) -> frozenset[int]:
        return frozenset[int]().union(*map(self._known.unseen, self._worlds))

    def _step(self, event: Step) -> str | None:
        known, words = self._known, self._words
        at = cast(int, getattr(event.message, "at"))  # noqa: B009
        worlds, before = self._unseen(), None
        if event.before is not None:
            before = known.shape(seen_as(known.model, words.theirs(event.before), at))
        worlds = frozenset(world for world in worlds if known.states[world] == before)
        if not worlds:
            return (
                f"the state {event.before}\n  is {before} at {at},"
                f"\n  {self._said(self._worlds)}"
            )
        after = known.shape(seen_as(known.model, words.theirs(event.after), at))
        kind, subject = self._kind(event)
        taken = [
            edge
            for world in worlds
            for edge in known.edges(world)
            if edge.label.kind in kind
            and (subject is None or edge.label.subject == subject)
            and known.states[edge.target] == after
        ]
        if not taken and after == before:
            return None  # a step that only the milliseconds show
        self._worlds = frozenset(edge.target for edge in taken)
        known.taken.update(edge.number for edge in taken)
        if not taken:
            return (
                f"the step from {before}\n  by {event.message}\n  to {after}"
                f"\n  {self._said(worlds)}"
            )
        return None

    def _kind(self, event: Step) -> tuple[frozenset[Kind], str | None]:
        name = type(event.message).__name__
        machine = self._words.codec.machine
        if isinstance(event.message, Due):
            return frozenset({Kind.DUE}), None
        if event.before is None:
            return frozenset({Kind.START}), None
        if isinstance(event.message, machine.start_type):
            return frozenset({Kind.MESSAGE}), "Start"
        for command in machine.commands:
            for outcome in command.outcomes:
                if type(event.message) is outcome:
                    said = self._words.outcome(event.message)
                    return frozenset({Kind.TAKE}), f"{command.name}.{said}"
        return frozenset({Kind.MESSAGE}), name

    def _decided(self, event: Decided, current: Struct | None) -> str | None:
        if event.answer is None or current is None:
            return None
        subject = f"{event.command}.{self._words.outcome(event.answer)}"
        worlds = self._unseen()
        taken = [
            edge
            for world in worlds
            for edge in self._known.edges(world)
            if edge.label.kind in DECIDES and edge.label.subject == subject
        ]
        number = getattr(current, "deed_number", None)
        awaited = self._words.codec.machine.awaited(current) is not None
        is_open = awaited and event.key.endswith(f"/{number}")
        if not taken and is_open:
            return f"the far side ends {subject} in {current}\n  {self._said(worlds)}"
        self._known.taken.update(edge.number for edge in taken)
        self._worlds = frozenset(edge.target for edge in taken)
        if not is_open:
            # A deed that nobody asks for any more is known only as long as it matters.
            self._worlds |= worlds
        return None

    def _said(self, worlds: frozenset[int]) -> str:
        """What the checker has instead, for a reader."""
        known = self._known
        lines = [
            f"{known.states[world]} --{edge.label.text}--> {known.states[edge.target]}"
            for world in sorted(worlds)[:4]
            for edge in known.edges(world)
            if edge.label.kind not in UNSEEN
        ]
        return "the checker explored here:\n    " + "\n    ".join(lines[:12])


@dataclass(frozen=True, slots=True)
class Party:
    """Machines that run together, each held against what was explored of it alone.

    What one tells another is a message like any other to the one that hears it.
    """

    members: Mapping[str, tuple[Words, Explored]]

    def run(self, seed: int) -> list[Step | Decided]:
        """What happened to the instances in the run of a seed; no law was broken."""
        everyone = [words for words, _ in self.members.values()]
        age = max(words.age for words in everyone)
        made = planned(seed, [words.vocabulary for words in everyone], age)
        done = simulate(made, [words.codec.machine for words in everyone], self)
        assert done.broken == []
        return done.events

    def outside(self, events: Iterable[Step | Decided]) -> list[str]:
        """Where a run leaves what was explored; each instance by itself."""
        followers: dict[tuple[str, str], Follower] = {}
        states: dict[tuple[str, str], Struct] = {}
        for event in events:
            place = event.machine, event.id
            follower = followers.get(place)
            if follower is None:
                follower = followers[place] = Follower(*self.members[event.machine])
            wrong = follower.sees(event, states.get(place))
            if wrong is not None:
                return [f"{event.machine} {event.id}: {wrong}"]
            if isinstance(event, Step):
                states[place] = event.after
        return []

    # -- the far side of a run

    def answer(
        self,
        codec: Codec,
        type_: CommandType,
        command: Struct,
        random: Random,
        now: int,
    ) -> Struct:
        words, _ = self.members[codec.name]
        return words.answer(codec, type_, command, random, now)

    def gives_back(self, codec: Codec, type_: CommandType, answer: Struct) -> bool:
        words, _ = self.members[codec.name]
        return words.gives_back(codec, type_, answer)


def outside(
    events: Iterable[Step | Decided], words: Words, known: Explored
) -> list[str]:
    """Where a run of one machine leaves what was explored."""
    return Party({words.codec.name: (words, known)}).outside(events)


def party(*names: str) -> Party | str:
    """These machines, or why one of them is not explored."""
    members: dict[str, tuple[Words, Explored]] = {}
    for name in names:
        found = pair(name)
        if isinstance(found, str):
            return f"{name}: {found}"
        members[name] = found
    return Party(members)


@lru_cache(maxsize=6)
def pair(name: str) -> tuple[Words, Explored] | str:
    """A machine to run, and what was explored of a copy of it."""
    known = explored(name)
    if isinstance(known, str):
        return known
    return Words(known.model, running(name)), known


def running(name: str) -> AnyMachine:
    """The machine in a module of its own: the explorer changes the one that it takes."""
    found: Subject = next(
        each for each in subjects(one_module(name)) if each.machine.name == name
    )
    return cast(AnyMachine, cast(Any, found.module).machine)
