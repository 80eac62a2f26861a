"""The interpreter's own steps with one instance: it commits, hands out, takes, wakes.

Every change of the machine goes through the generated reducer and the interpreter's
`step` (`reaction`).  What the store does in one transaction is one step here, so a
crash inside it, or a commit of unknown fate, is the step taken or not taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from deedbox import Due, Instant
from msgspec import Struct
from msgspec.structs import replace as with_fields

from .abstraction import Deed, Row, World, explored_command
from .domain import EPOCH
from .labels import Kind, Label
from .model import Model
from .points import later
from .reaction import Reaction, Reactions

Effect: TypeAlias = tuple[Reaction, Label, Struct]
"""What a message does to a state, the step's name, and the message."""


@dataclass(frozen=True, slots=True, eq=False)
class Interpreter:
    """`remembers`: whether it matters which issues are no longer awaited.

    `further`: a state when time has gone on.
    """

    model: Model
    reactions: Reactions
    remembers: bool
    further: dict[Struct, Struct | None] = field(
        default_factory=dict[Struct, Struct | None]
    )

    def effects(
        self, state: Struct | None, message: Struct, label: Label
    ) -> Iterator[Effect]:
        """What a message may do to a state, apart from nothing."""
        for reaction in self.reactions.of(state, message):
            if reaction.state is not None or reaction.broken:
                yield reaction, label, message

    def react(
        self, world: World, message: Struct, label: Label
    ) -> Iterator[tuple[World, Label]]:
        for effect in self.effects(world.state, message, label):
            yield self.reacted(world, effect)

    def reacted(self, world: World, effect: Effect) -> tuple[World, Label]:
        reaction, label, message = effect
        after, broken = self.committed(world, reaction, label.kind is Kind.TAKE)
        if world.passing is not None and self.model.listing is not None:
            passing, missed = self.model.listing.followed(
                world.passing, world.state, after.state, message
            )
            broken += missed
            if passing != world.passing:
                after = replace(after, passing=passing)
        return after, replace(label, broken=broken) if broken else label

    def committed(
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
            if self.remembers:
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

    # ---- its rows ------------------------------------------------------------------

    def work(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """The row that is owed is handed out; the answer to it is taken."""
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
                yield from self.react(world, one, label)

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

    # ---- its wakes -----------------------------------------------------------------

    def due(self, state: Struct) -> bool:
        wake = self.model.machine.wake(state)
        return wake is not None and wake <= EPOCH

    def wake(self, world: World, label: Label) -> Iterator[tuple[World, Label]]:
        yield from self.react(world, Due(Instant(EPOCH)), label)

    def time(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """A deadline fires at its time or later; time goes on to the next place."""
        if self.due(state):
            text = f"{self.reactions.due_field(state)} fires"
            yield from self.wake(world, Label(Kind.DUE, "time", text))
        if self.reactions.exact:
            return
        if state not in self.further:
            self.further[state] = later(self.model.points, state)
        after = self.further[state]
        if after is not None:
            moved = world.to(after, world.row, world.deeds)
            yield moved, Label(Kind.TIME, "time", "time goes on")
