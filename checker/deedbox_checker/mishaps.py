"""The faults that have a switch: what goes wrong around one instance, one step at a time.

Each may happen any number of times.  Those that are an order of other steps (a message
twice or late, a late wake, a commit of unknown fate) need nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from msgspec import Struct

from .abstraction import Row, World
from .interpreter import Effect, Interpreter
from .labels import Kind, Label


@dataclass(frozen=True, slots=True, eq=False)
class Mishaps:
    """`late`: what answers to earlier issues do to a state."""

    interpreter: Interpreter
    faults: frozenset[Kind]
    late: dict[tuple[Struct, frozenset[str]], tuple[Effect, ...]] = field(
        default_factory=dict[tuple[Struct, frozenset[str]], tuple[Effect, ...]]
    )

    def steps(self, world: World, state: Struct) -> Iterator[tuple[World, Label]]:
        model = self.interpreter.model
        deed = world.open_deed
        if world.row is Row.OUT and deed is not None:
            command = model.commands[type(deed.command)]
            dropped = world.to(
                state,
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
        if Kind.LATE in self.faults and world.asked:
            place = (state, world.asked)
            if place not in self.late:
                self.late[place] = tuple(self._late_answers(*place))
            for effect in self.late[place]:
                yield self.interpreter.reacted(world, effect)
        if Kind.EARLY in self.faults and not self.interpreter.due(state):
            label = Label(Kind.EARLY, "time", "a wake comes early")
            yield from self.interpreter.wake(world, label)

    def _late_answers(self, state: Struct, asked: frozenset[str]) -> Iterator[Effect]:
        for command_name in sorted(asked):
            for answer in self.interpreter.model.answers[command_name]:
                name = f"{answer.command}.{answer.outcome}"
                text = f"AN EARLIER {command_name} IS ANSWERED {answer.outcome}"
                label = Label(Kind.LATE, "worker", text, name)
                yield from self.interpreter.effects(state, answer.message, label)
