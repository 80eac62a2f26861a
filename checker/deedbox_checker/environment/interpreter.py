"""The interpreter's own steps with one instance: it commits, hands out, takes, wakes.

Every change of the machine goes through the generated reducer and the interpreter's
`step` (`reaction`).  What the store does in one transaction is one step here, so a
crash inside it, or a commit of unknown fate, is the step taken or not taken.
What it promises is a parameter: the protocol, or a wrong interpreter that is to be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from deedbox import Due, Instant
from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH
from ..instance.abstraction import explored_command
from ..instance.identity import forgotten
from ..instance.model import Model
from ..instance.world import Deed, Row, World, exchanged
from ..time.ranks import later
from .labels import Kind, Label
from .promises import Promises
from .reaction import Reaction, Reactions


class Effect(Struct, frozen=True):
    """What `message` does to an instance in the state `before`, and the step's name."""

    before: Struct | None
    reaction: Reaction
    label: Label
    message: Struct


@dataclass(frozen=True, slots=True, eq=False)
class Interpreter:
    """`further`: a state when time has gone on; `asking`: commands in explored form."""

    model: Model
    reactions: Reactions
    promises: Promises
    faults: frozenset[Kind]
    further: dict[Struct, Struct | None] = field(
        default_factory=dict[Struct, Struct | None]
    )
    asking: dict[Struct, Struct] = field(default_factory=dict[Struct, Struct])

    # ---- its commits ---------------------------------------------------------------

    def effects(
        self, state: Struct | None, message: Struct, label: Label
    ) -> Iterator[Effect]:
        """What a message may do to a state, apart from nothing."""
        for reaction in self.reactions.of(state, message):
            if reaction.state is not None or reaction.broken:
                yield Effect(state, reaction, label, message)

    def react(
        self, world: World, message: Struct, label: Label
    ) -> Iterator[tuple[World, Label]]:
        for effect in self.effects(world.state, message, label):
            yield from self.outcomes(world, effect)

    def outcomes(self, world: World, effect: Effect) -> tuple[tuple[World, Label], ...]:
        """The step of the instance; or only what goes out before it is stored."""
        done = self.reacted(world, effect)
        stored = self.promises.stores_first or Kind.CRASH not in self.faults
        if stored or not effect.reaction.commands:
            return (done,)
        return done, self._abandoned(world, done[0])

    def reacted(self, world: World, effect: Effect) -> tuple[World, Label]:
        after, broken = self.committed(world, effect)
        if world.passing is not None and self.model.listing is not None:
            passing, missed = self.model.listing.followed(
                world.passing, world.state, after.state, effect.message
            )
            broken += missed
            if passing != world.passing:
                after = with_fields(after, passing=passing)
        return after, with_fields(
            effect.label, broken=broken
        ) if broken else effect.label

    def committed(self, world: World, effect: Effect) -> tuple[World, tuple[str, ...]]:
        """The transaction: the new state, the old row taken or withdrawn, the new one owed."""
        reaction, kind = effect.reaction, effect.label.kind
        broken = reaction.broken
        if reaction.state is None:
            return world, broken
        if effect.before is not world.state and effect.before != world.state:
            if self._refused(effect):
                return world, ()
            broken += ("history_is_linear",)
        deeds = {deed.number: deed for deed in world.deeds}
        row, asked = world.row, world.asked
        withdrawn = reaction.withdrawn and self.promises.withdraws
        if row is not Row.NONE and (withdrawn or self._answers(effect)):
            if Kind.LATE in self.faults:
                asked |= {self.awaited_command(world)}
            left = world.open_deed
            if row is Row.OUT and left is not None and left.fate is None:
                deeds[left.number] = with_fields(left, loose=True)
            row = Row.NONE
        for command in reaction.commands:
            declared = self.model.commands.get(type(command))
            if declared is None or not declared.outcomes:
                continue
            if row is not Row.NONE:
                broken += ("one_issue_is_owed",)
            row = Row.OWED
            broken += self._asked(deeds, command)
        after = world.to(reaction.state, row, tuple(deeds.values()))
        unarmed = kind is Kind.DUE and not self.promises.rearms
        if asked != world.asked or unarmed != world.unarmed:
            after = with_fields(after, asked=asked, unarmed=unarmed)
        return after, broken

    def _answers(self, effect: Effect) -> bool:
        """Whether its message is the answer to what was awaited."""
        if effect.before is None or type(effect.message) not in self.model.outcomes:
            return False
        ticket = cast(int, getattr(effect.message, "ticket", 0))
        return ticket == self.model.machine.awaited(effect.before)

    def _refused(self, effect: Effect) -> bool:
        """A commit that does not replace the state it was made from: nothing comes of it."""
        if effect.before is None:
            return self.promises.keeps_lives
        return self.promises.checks_rev

    def _asked(self, deeds: dict[int, Deed], command: Struct) -> tuple[str, ...]:
        """The deed that a command asks for is one of `deeds` now; what that breaks."""
        number = self.model.deed_of(getattr(command, "idempotency_key"))  # noqa: B009
        if number is None:
            return ("keys_are_own",)
        asking = self.asking.get(command)
        if asking is None:
            asking = self.asking[command] = explored_command(self.model, command)
        known = deeds.setdefault(number, Deed(number, asking))
        broken: tuple[str, ...] = ()
        if known.command != asking:
            broken += ("same_arguments",)
        keys = self.model.key_parameters.get(type(command), ())
        given = [cast("str | None", getattr(command, name)) for name in keys]
        if any(key is not None and self.model.deed_of(key) is None for key in given):
            broken += ("keys_are_own",)
        return broken

    def _abandoned(self, world: World, after: World) -> tuple[World, Label]:
        known = {deed.number for deed in world.deeds}
        out = tuple(
            with_fields(deed, loose=True)
            for deed in after.deeds
            if deed.number not in known
        )
        label = Label(Kind.CRASH, "worker", "A CRASH BETWEEN HAND-OUT AND COMMIT")
        return world.to(world.state, world.row, world.deeds + out), label

    def awaited_command(self, world: World) -> str:
        """The command whose issue has the row."""
        assert world.state is not None
        return self.reactions.specified.declared(world.state).awaits or ""

    # ---- its rows ------------------------------------------------------------------

    def work(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """The row that is owed is handed out; the answer to it is taken."""
        deed = world.open_deed
        if deed is None:
            return
        if world.row is Row.OWED:
            yield self._handed_out(world, deed)
        if world.row is Row.OUT and isinstance(deed.fate, Struct):
            ticket = cast(int, getattr(state, "ticket", 0))
            answer = with_fields(deed.fate, ticket=ticket)
            name = self.model.trigger(answer)
            for one, text in self._contents(world, deed.command, answer):
                label = Label(
                    Kind.TAKE, "worker", f"take the answer {name}{text}", name
                )
                yield from self.react(world, one, label)

    def _handed_out(self, world: World, deed: Deed) -> tuple[World, Label]:
        command = self.model.commands[type(deed.command)]
        broken = ("handed_out_once",) if deed.started else ()
        label = Label(
            Kind.HAND_OUT, "worker", f"hand out {command.name}", command.name, broken
        )
        deeds, before = world.deeds, deed.loose or deed.fate is not None
        if command.unrepeatable:
            deeds = exchanged(deeds, with_fields(deed, started=True))
        if self.promises.keeps_keys or not before:
            return world.to(world.state, Row.OUT, deeds), label
        others = {one.number for one in deeds if one is not deed}
        stale = forgotten(self.model, world, others)
        deeds = exchanged(deeds, Deed(deed.number, deed.command))
        return with_fields(world, row=Row.OUT, deeds=deeds, stale=stale), label

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

    def fires(self, world: World, state: Struct) -> bool:
        return not world.unarmed and self.due(state)

    def woken(self, state: Struct, label: Label) -> Iterator[Effect]:
        return self.effects(state, Due(Instant(EPOCH)), label)

    def time(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """A deadline fires at its time or later; time goes on to the next place."""
        if self.fires(world, state):
            text = f"{self.reactions.specified.due_field(state)} fires"
            for effect in self.woken(state, Label(Kind.DUE, "time", text)):
                yield from self.outcomes(world, effect)
        if self.reactions.exact:
            return
        if state not in self.further:
            self.further[state] = later(self.model.points, state)
        after = self.further[state]
        if after is not None:
            moved = world.to(after, world.row, world.deeds)
            yield moved, Label(Kind.TIME, "time", "time goes on")
