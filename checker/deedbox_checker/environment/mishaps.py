"""What goes wrong around one instance, one step at a time, any number of times.

A fault that is an order of other steps (a message twice or late, a late wake, a commit
of unknown fate) needs nothing here.  Neither does one that the protocol turns into
nothing: a commit from a state that has been replaced is refused, a clock that is set
back stands still.  Where an interpreter does not promise that, they happen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH
from ..instance.world import Row, World, exchanged
from .interpreter import Effect, Interpreter
from .labels import Kind, Label
from .senders import Senders

CRASHES: Final = Label(Kind.CRASH, "worker", "THE PROCESS CRASHES")
TAKEN_FOR_DEAD: Final = Label(Kind.SECOND, "worker", "A WORKER IS TAKEN FOR DEAD")


@dataclass(frozen=True, slots=True, eq=False)
class Mishaps:
    """`late`: what answers to earlier issues do to a state; `early`: what a wake does.

    `loads`: another worker's load and commit are steps of their own.
    """

    interpreter: Interpreter
    senders: Senders
    loads: bool
    late: dict[tuple[Struct, frozenset[str]], tuple[Effect, ...]] = field(
        default_factory=dict[tuple[Struct, frozenset[str]], tuple[Effect, ...]]
    )
    early: dict[Struct, tuple[Effect, ...]] = field(
        default_factory=dict[Struct, tuple[Effect, ...]]
    )

    def steps(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        if world.row is not Row.NONE or not self.interpreter.promises.stores_wakes:
            yield from self._deaths(world)
        if Kind.LATE in self.interpreter.faults and world.asked:
            place = (state, world.asked)
            if place not in self.late:
                self.late[place] = tuple(self._late_answers(*place))
            for effect in self.late[place]:
                yield from self.interpreter.outcomes(world, effect)
        if Kind.EARLY in self.interpreter.faults:
            if state not in self.early:
                self.early[state] = tuple(self._early_wake(state))
            for effect in self.early[state]:
                yield from self.interpreter.outcomes(world, effect)
        if self.loads and Kind.SECOND in self.interpreter.faults:
            yield from self._another(world, state)
        if not self.interpreter.promises.clamps:
            yield from self._clock(world, state)

    # ---- a process dies, or is taken for dead --------------------------------------

    def _deaths(self, world: World) -> Iterator[tuple[World, Label]]:
        dropped = self._dropped(world)
        if Kind.CRASH in self.interpreter.faults:
            yield self._lost(dropped), CRASHES
        deed = world.open_deed
        if world.row is not Row.OUT or deed is None:
            return
        if Kind.RAISE in self.interpreter.faults:
            name = self.interpreter.model.commands[type(deed.command)].name
            text = f"THE HANDLER OF {name} RAISES"
            yield dropped, Label(Kind.RAISE, "worker", text)
        if Kind.SECOND in self.interpreter.faults:
            yield dropped, TAKEN_FOR_DEAD

    def _dropped(self, world: World) -> World:
        """A row that is handed out is owed again, and its hand-out may go on."""
        deed = world.open_deed
        if world.row is not Row.OUT or deed is None:
            return world
        command = self.interpreter.model.commands[type(deed.command)]
        spent = command.unrepeatable and self.interpreter.promises.marks_started
        loose = with_fields(deed, loose=deed.loose or deed.fate is None)
        return world.to(
            world.state,
            Row.SPENT if spent else Row.OWED,
            exchanged(world.deeds, loose),
        )

    def _lost(self, dropped: World) -> World:
        """What a crash takes along, of what the interpreter does not promise to keep."""
        promises, row = self.interpreter.promises, dropped.row
        if row is Row.OWED and not promises.keeps_rows:
            row = Row.NONE
        elif row is Row.OWED and not promises.reaps:
            row = Row.LOST
        if row is dropped.row and promises.stores_wakes:
            return dropped
        unarmed = dropped.unarmed or not promises.stores_wakes
        return with_fields(dropped, row=row, unarmed=unarmed)

    # ---- a wake with nothing due, an answer to an earlier issue ---------------------

    def _early_wake(self, state: Struct) -> Iterator[Effect]:
        if not self.interpreter.due(state):
            label = Label(Kind.EARLY, "time", "A WAKE COMES EARLY")
            yield from self.interpreter.woken(state, label)

    def _late_answers(self, state: Struct, asked: frozenset[str]) -> Iterator[Effect]:
        promises, model = self.interpreter.promises, self.interpreter.model
        for command_name in sorted(asked):
            for answer in model.answers[command_name]:
                name = f"{answer.command}.{answer.outcome}"
                text = f"AN EARLIER {command_name} IS ANSWERED {answer.outcome}"
                label = Label(Kind.LATE, "worker", text, name)
                message = answer.message
                if not promises.heeds_tickets:
                    ticket = model.machine.awaited(state) or 0
                    message = with_fields(message, ticket=ticket)
                for effect in self.interpreter.effects(state, message, label):
                    yield heeded(effect)

    # ---- another worker, another clock ---------------------------------------------

    def _another(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """It loads the instance, and commits a step from there, whatever is stored then."""
        if world.loaded is None:
            label = Label(Kind.SECOND, "worker", "ANOTHER WORKER LOADS IT")
            yield with_fields(world, loaded=state), label
            return
        idle = with_fields(world, loaded=None)
        yield idle, Label(Kind.BEHIND, "worker", "the other worker does nothing")
        for effect in self._from(world, world.loaded):
            text = f"the other worker commits {effect.label.text}"
            label = with_fields(effect.label, kind=Kind.BEHIND, who="worker", text=text)
            yield self.interpreter.reacted(idle, with_fields(effect, label=label))

    def _from(self, world: World, loaded: Struct) -> Iterator[Effect]:
        """What that worker may make of it: a deadline that is due, else a message or an answer."""
        if self.interpreter.due(loaded):
            name = f"{self.interpreter.reactions.specified.due_field(loaded)} fires"
            label = Label(Kind.DUE, "time", name)
            yield from self.interpreter.woken(loaded, label)
        else:
            yield from self.senders.effects(loaded)
        ticket = self.interpreter.model.machine.awaited(loaded)
        deed = world.deed(cast(int, getattr(loaded, "deed_number", 0)))
        if ticket is not None and deed is not None and isinstance(deed.fate, Struct):
            answer = with_fields(deed.fate, ticket=ticket)
            name = self.interpreter.model.trigger(answer)
            label = Label(Kind.TAKE, "worker", f"take the answer {name}", name)
            yield from self.interpreter.effects(loaded, answer, label)

    def _clock(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        """A message whose time is before everything that is stored."""
        if self.interpreter.fires(world, state):
            return
        before = EPOCH - 2 * (self.interpreter.model.domain.longest + 1)
        for message, label in self.senders.sent:
            text = f"{label.text}, WITH THE CLOCK SET BACK"
            back = with_fields(label, kind=Kind.CLOCK, text=text)
            yield from self.interpreter.react(
                world, with_fields(message, at=before), back
            )


def heeded(effect: Effect) -> Effect:
    """A late answer that changes something breaks what is promised of it."""
    reaction, name = effect.reaction, "late_answers_change_nothing"
    if reaction.state is None or name in reaction.broken:
        return effect
    broken = (*reaction.broken, name)
    return with_fields(effect, reaction=with_fields(reaction, broken=broken))
