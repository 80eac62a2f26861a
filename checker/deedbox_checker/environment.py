"""Everything that may happen to one instance, one step at a time.

The interpreter's own steps (a command is handed out, an answer is taken, a deadline
fires), the far side, time, what others send, and the faults.  Every change of the
machine goes through the generated reducer and the interpreter's `step` (`reaction`).

What the store does in one transaction is one step here, so a crash inside it, or a
commit of unknown fate, is the step taken or not taken.  Messages are always
possible: duplicates, reordering and messages to a finished instance need no queue.
A wake is always possible too: one with nothing due must change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Literal, TypeAlias, cast

from deedbox import Due, Instant
from msgspec import Struct
from msgspec.structs import replace as with_fields

from .abstraction import VOID, Deed, Row, World, explored_command, normal, references
from .domain import EPOCH
from .model import Answer, Model
from .points import later
from .reaction import Reaction, Reactions


class Kind(StrEnum):
    """What sort of step it is; fairness and reports go by it."""

    START = "start"
    MESSAGE = "message"
    HAND_OUT = "hand out"
    TAKE = "take"
    DUE = "due"
    TIME = "time"
    FAR_SIDE = "far side"
    ARRIVAL = "late arrival"
    CRASH = "crash"
    RAISE = "raise"
    LATE = "late answer"
    EARLY = "early wake"


Who: TypeAlias = Literal["sender", "worker", "time", "far side"]

FAULTS: dict[str, Kind] = {
    "crash": Kind.CRASH,
    "raise": Kind.RAISE,
    "late_arrival": Kind.ARRIVAL,
    "late_answer": Kind.LATE,
    "early_wake": Kind.EARLY,
}
"""The switches of `faults all except …`; the others cost nothing and are always on."""

COUNTED = frozenset({Kind.CRASH, Kind.RAISE, Kind.LATE, Kind.EARLY})
"""Kinds of which a counterexample should have as few as possible."""

ENDING = COUNTED | {Kind.START, Kind.MESSAGE}
"""Kinds that happen any number of times, and then no more."""

PLAIN = frozenset({Kind.HAND_OUT, Kind.TIME, Kind.CRASH, Kind.RAISE})
"""Kinds after which every deed is still what it was, and needed."""


@dataclass(frozen=True, slots=True)
class Label:
    """A step by name.  `broken`: what it breaks, whatever the state it leads to."""

    kind: Kind
    who: Who
    text: str
    subject: str = ""
    broken: tuple[str, ...] = ()


class Undo(Enum):
    """What the far side does with the undo of a deed that it has not decided.

    It makes the key void: that is the contract.  A far side that does `NOTHING`, and
    takes the deed when it arrives later, shows what the contract is for.
    """

    VOIDS = "voids"
    NOTHING = "nothing"


Effect: TypeAlias = tuple[Reaction, Label, Struct]
"""What a message does to a state, the step's name, and the message."""

Known: TypeAlias = tuple[Struct | None, tuple[Deed, ...], tuple[int, ...]]
"""What of a world its explored form looks at: state, deeds, stale."""


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """`first` and `sent`: messages and their labels; `effects`: what `sent` does to a state.

    So `late` for late answers, `further` for time that goes on, `explored` for `normal`.
    """

    model: Model
    reactions: Reactions
    faults: frozenset[Kind]
    undo: Undo
    first: tuple[tuple[Struct, Label], ...]
    sent: tuple[tuple[Struct, Label], ...]
    effects: dict[Struct, tuple[Effect, ...]] = field(
        default_factory=dict[Struct, tuple[Effect, ...]]
    )
    late: dict[tuple[Struct, frozenset[str]], tuple[Effect, ...]] = field(
        default_factory=dict[tuple[Struct, frozenset[str]], tuple[Effect, ...]]
    )
    further: dict[Struct, Struct | None] = field(
        default_factory=dict[Struct, Struct | None]
    )
    explored: dict[Known, Known] = field(default_factory=dict[Known, Known])

    def steps(self, world: World) -> Iterator[tuple[World, Label]]:
        """Every step of `world` that changes it, or breaks something."""
        for raw, label in self.raw_steps(world):
            after = raw if label.kind in PLAIN else self._explored(raw)
            if after != world or label.broken:
                yield after, label

    def _explored(self, world: World) -> World:
        """`normal`, found once for all worlds that differ in what it does not look at."""
        place = (world.state, world.deeds, world.stale)
        known = self.explored.get(place)
        if known is None:
            found = normal(self.model, world)
            known = self.explored[place] = (found.state, found.deeds, found.stale)
        if known == place:
            return world
        state, deeds, stale = known
        after = world.to(state, world.row, deeds)
        return after if stale == world.stale else replace(after, stale=stale)

    def raw_steps(self, world: World) -> Iterator[tuple[World, Label]]:
        """The same before anything is renumbered or forgotten."""
        if world.state is None:
            yield from self._starts(world)
            return
        yield from self._worker(world, world.state)
        yield from self._time(world, world.state)
        yield from self._far_side(world)
        yield from self._senders(world, world.state)
        yield from self._faults(world)

    # ---- the machine ---------------------------------------------------------------

    def _starts(self, world: World) -> Iterator[tuple[World, Label]]:
        empty = replace(
            world,
            counts=(0,) * len(self.model.counted),
            stale=(0,) * len(self.model.counted),
        )
        listing = self.model.listing
        passes = (None,) if listing is None else tuple(listing.passes())
        for message, label in self.first:
            for passing in passes:
                begun = replace(empty, passing=passing)
                yield from self._react(begun, message, label)

    def _react(
        self, world: World, message: Struct, label: Label
    ) -> Iterator[tuple[World, Label]]:
        for reaction in self.reactions.of(world.state, message):
            if reaction.state is not None or reaction.broken:
                yield self._reacted(world, reaction, label, message)

    def _reacted(
        self, world: World, reaction: Reaction, label: Label, message: Struct
    ) -> tuple[World, Label]:
        after, broken = self._commit(world, reaction, label.kind is Kind.TAKE)
        if world.passing is not None and self.model.listing is not None:
            passing, missed = self.model.listing.followed(
                world.passing, world.state, after.state, message
            )
            broken += missed
            if passing != world.passing:
                after = replace(after, passing=passing)
        return after, replace(label, broken=broken) if broken else label

    def _commit(
        self, world: World, reaction: Reaction, taken: bool
    ) -> tuple[World, tuple[str, ...]]:
        """The transaction: the new state, the old row taken or withdrawn, the new one owed."""
        if reaction.state is None:
            return world, reaction.broken
        model = self.model
        broken = reaction.broken
        deeds = {deed.number: deed for deed in world.deeds}
        row, asked = world.row, world.asked
        if row is not Row.NONE and (taken or reaction.withdrawn):
            if Kind.LATE in self.faults:
                asked |= {self._awaited_command(world.state)}
            left = world.open_deed
            if row is Row.OUT and left is not None and left.fate is None:
                deeds[left.number] = replace(left, loose=True)
            row = Row.NONE
        for command in reaction.commands:
            declared = model.commands.get(type(command))
            if declared is None or not declared.outcomes:
                continue
            row = Row.OWED
            number = model.deed_of(getattr(command, "idempotency_key"))  # noqa: B009
            asking = explored_command(model, command)
            if number is None:
                broken += ("keys_are_own",)
                continue
            known = deeds.get(number)
            if known is None:
                deeds[number] = Deed(number, asking)
            elif known.command != asking:
                broken += ("same_arguments",)
        after = world.to(reaction.state, row, tuple(deeds.values()))
        return after if asked == world.asked else replace(after, asked=asked), broken

    def _awaited_command(self, state: Struct | None) -> str:
        name = type(state).__name__
        return next(s.awaits or "" for s in self.model.spec.states if s.name == name)

    # ---- the interpreter -----------------------------------------------------------

    def _worker(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        deed = world.open_deed
        if deed is None:
            return
        command = self.model.commands[type(deed.command)]
        if world.row is Row.OWED:
            text = f"hand out {command.name}"
            label = Label(Kind.HAND_OUT, "worker", text, command.name)
            yield world.to(state, Row.OUT, world.deeds), label
        if world.row is Row.OUT and isinstance(deed.fate, Struct):
            ticket = cast(int, getattr(state, "ticket", 0))
            answer = with_fields(deed.fate, ticket=ticket)
            name = self.model.trigger(answer)
            for one, text in self._contents(world, deed.command, answer):
                label = Label(
                    Kind.TAKE, "worker", f"take the answer {name}{text}", name
                )
                yield from self._react(world, one, label)

    def _contents(
        self, world: World, command: Struct, answer: Struct
    ) -> Iterator[tuple[Struct, str]]:
        """An answer; of a page every one that it may be."""
        listing = self.model.listing
        if listing is None or not isinstance(answer, listing.page):
            yield answer, ""
        elif world.passing is not None:
            for page in listing.answers(command, answer, world.passing):
                yield page, f": {listing.told(page)}"

    def _time(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        if self.due(state):
            label = Label(Kind.DUE, "time", f"{self.reactions.due_field(state)} fires")
            yield from self._react(world, Due(Instant(EPOCH)), label)
        elif Kind.EARLY in self.faults:
            label = Label(Kind.EARLY, "time", "a wake comes early")
            yield from self._react(world, Due(Instant(EPOCH)), label)
        if self.reactions.exact:
            return
        if state not in self.further:
            self.further[state] = later(self.model.points, state)
        after = self.further[state]
        if after is not None:
            moved = world.to(after, world.row, world.deeds)
            yield moved, Label(Kind.TIME, "time", "time goes on")

    def due(self, state: Struct) -> bool:
        wake = self.model.machine.wake(state)
        return wake is not None and wake <= EPOCH

    # ---- the others ----------------------------------------------------------------

    def _senders(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """Due deadlines fire before a message is reduced, so with one due there is none."""
        if self.due(state):
            return
        effects = self.effects.get(state)
        if effects is None:
            effects = tuple(
                (reaction, label, message)
                for message, label in self.sent
                for reaction in self.reactions.of(state, message)
                if reaction.state is not None or reaction.broken
            )
            self.effects[state] = effects
        for reaction, label, message in effects:
            yield self._reacted(world, reaction, label, message)

    def _far_side(self, world: World) -> Iterator[tuple[World, Label]]:
        current = world.open_deed
        for deed in world.deeds:
            if deed.fate is not None:
                continue
            handed_out = deed is current and world.row is Row.OUT
            if not handed_out and not (deed.loose and Kind.ARRIVAL in self.faults):
                continue
            kind = Kind.FAR_SIDE if handed_out else Kind.ARRIVAL
            name = self.model.commands[type(deed.command)].name
            for answer in self.model.answers[name]:
                text = f"{name} ends {answer.outcome}"
                if kind is Kind.ARRIVAL:
                    text = f"{name} arrives late and ends {answer.outcome}"
                subject = f"{answer.command}.{answer.outcome}"
                after = self._decided(world, deed, answer)
                yield after, Label(kind, "far side", text, subject)
        if Kind.ARRIVAL in self.faults:
            yield from self._stale(world)

    def _decided(self, world: World, deed: Deed, answer: Answer) -> World:
        """The far side has ended a deed; an undo acts on the deed whose key it was given."""
        pair = (answer.command, answer.outcome)
        counts = self._counted(world.counts, pair)
        deeds = {one.number: one for one in world.deeds}
        deeds[deed.number] = replace(deed, fate=answer.message, loose=False)
        for target in (
            self._undone(world, deed) if pair in self.model.gives_back else ()
        ):
            if self.undo is Undo.VOIDS:
                deeds[target.number] = replace(target, fate=VOID, loose=False)
            else:
                counts = world.counts
        return replace(world, deeds=tuple(deeds.values()), counts=counts)

    def _undone(self, world: World, deed: Deed) -> Iterator[Deed]:
        """The undecided deeds whose keys a command was given."""
        for number in references(self.model, deed.command):
            target = world.deed(number)
            if number != deed.number and target is not None and target.fate is None:
                yield target

    def _counted(
        self, counts: tuple[int, ...], pair: tuple[str, str]
    ) -> tuple[int, ...]:
        return tuple(
            min(count + 1, 2) if pair == known else count
            for count, known in zip(counts, self.model.counted, strict=True)
        )

    def _stale(self, world: World) -> Iterator[tuple[World, Label]]:
        """A hand-out which everybody has forgotten reaches the far side after all."""
        for n, many in enumerate(world.stale):
            if not many:
                continue
            name = self.model.counted[n][0]
            for answer in self.model.answers[name]:
                pair = (answer.command, answer.outcome)
                counts = self._counted(world.counts, pair)
                text = f"a forgotten {name} arrives late and ends {answer.outcome}"
                label = Label(Kind.ARRIVAL, "far side", text, ".".join(pair))
                for left in (1, 2) if many == 2 else (0,):
                    stale = (*world.stale[:n], left, *world.stale[n + 1 :])
                    yield replace(world, counts=counts, stale=stale), label

    # ---- faults --------------------------------------------------------------------

    def _faults(self, world: World) -> Iterator[tuple[World, Label]]:
        deed = world.open_deed
        if world.row is Row.OUT and deed is not None:
            command = self.model.commands[type(deed.command)]
            dropped = world.to(
                world.state,
                Row.SPENT if command.unrepeatable else Row.OWED,
                tuple(
                    replace(one, loose=one.loose or one.fate is None)
                    if one is deed
                    else one
                    for one in world.deeds
                ),
            )
            if Kind.CRASH in self.faults:
                yield dropped, Label(Kind.CRASH, "worker", "THE PROCESS CRASHES")
            if Kind.RAISE in self.faults:
                text = f"THE HANDLER OF {command.name} RAISES"
                yield dropped, Label(Kind.RAISE, "worker", text)
        if Kind.LATE in self.faults and world.asked and world.state is not None:
            place = (world.state, world.asked)
            if place not in self.late:
                self.late[place] = tuple(self._late_answers(*place))
            for reaction, label, message in self.late[place]:
                yield self._reacted(world, reaction, label, message)

    def _late_answers(self, state: Struct, asked: frozenset[str]) -> Iterator[Effect]:
        for command_name in sorted(asked):
            for answer in self.model.answers[command_name]:
                name = f"{answer.command}.{answer.outcome}"
                text = f"AN EARLIER {command_name} IS ANSWERED {answer.outcome}"
                label = Label(Kind.LATE, "worker", text, name)
                for reaction in self.reactions.of(state, answer.message):
                    if reaction.state is not None or reaction.broken:
                        yield reaction, label, answer.message


def environment(
    model: Model,
    reactions: Reactions,
    faults: frozenset[Kind],
    undo: Undo = Undo.VOIDS,
) -> Environment:
    starts = [(message, shown(message, model.starts)) for message in model.starts]
    return Environment(
        model,
        reactions,
        faults,
        undo,
        tuple((message, Label(Kind.START, "sender", text)) for message, text in starts),
        tuple(
            (
                message,
                Label(
                    Kind.MESSAGE,
                    "sender",
                    shown(message, model.messages),
                    type(message).__name__,
                ),
            )
            for message in model.messages
        )
        + tuple(
            (message, Label(Kind.MESSAGE, "sender", f"{text} again", "Start"))
            for message, text in starts
        ),
    )


def shown(message: Struct, among: tuple[Struct, ...]) -> str:
    """A message by name, with the fields in which messages of its type differ."""
    same = [other for other in among if type(other) is type(message)]
    parts: list[str] = []
    for name in message.__struct_fields__:
        value = cast(object, getattr(message, name))
        if any(getattr(other, name) != value for other in same):
            parts.append(f"{name}: {value}")
    name = type(message).__name__
    return f"{name} {{ {', '.join(parts)} }}" if parts else name
