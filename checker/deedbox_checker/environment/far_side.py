"""What the world beyond the handlers does: it ends deeds, one answer for one key.

A hand-out may reach it long after everybody has stopped waiting (`late_arrival`).  An
undo acts on the deed whose key it was given: it gives back, or it makes the key void.
Knows nothing of the machine's state beyond the issue that is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..instance.identity import references
from ..instance.model import Model
from ..instance.outside import Answer
from ..instance.world import VOID, Deed, Row, World, exchanged
from .labels import Kind, Label


class Undo(Enum):
    """What the far side does with the undo of a deed that it has not decided.

    It makes the key void: that is the contract.  A far side that does `NOTHING`, and
    takes the deed when it arrives later, shows what the contract is for.
    """

    VOIDS = "voids"
    NOTHING = "nothing"


Ways: TypeAlias = dict[type[Struct], tuple[tuple[Answer, Label, Label], ...]]
"""By command: how it may end, and that step's name, in time and late."""


@dataclass(frozen=True, slots=True)
class FarSide:
    """`late`: whether hand-outs that nobody waits for reach it after all."""

    model: Model
    undo: Undo
    late: bool
    ways: Ways

    def steps(self, world: World) -> Iterator[tuple[World, Label]]:
        current = world.open_deed if world.row is Row.OUT else None
        for deed in world.deeds:
            if deed.fate is None and (deed is current or (deed.loose and self.late)):
                for answer, in_time, late in self.ways[type(deed.command)]:
                    label = in_time if deed is current else late
                    yield self._decided(world, deed, answer), label
        if self.late:
            yield from self._stale(world)

    def _decided(self, world: World, deed: Deed, answer: Answer) -> World:
        """The far side has ended a deed; an undo acts on the deed whose key it was given."""
        pair = (answer.command, answer.outcome)
        counts = self._counted(world.counts, pair)
        ended = Deed(deed.number, deed.command, answer.message, started=deed.started)
        deeds = exchanged(world.deeds, ended)
        for target in (
            self._undone(world, deed) if pair in self.model.gives_back else ()
        ):
            if self.undo is Undo.VOIDS:
                void = with_fields(target, fate=VOID, loose=False)
                deeds = exchanged(deeds, void)
            else:
                counts = world.counts
        after = world.to(world.state, world.row, deeds)
        return after if counts == world.counts else with_fields(after, counts=counts)

    def _undone(self, world: World, deed: Deed) -> Iterator[Deed]:
        """The undecided deeds whose keys a command was given."""
        for number in references(self.model, deed.command):
            target = world.deed(number)
            if number != deed.number and target is not None and target.fate is None:
                yield target

    def _counted(
        self, counts: tuple[int, ...], pair: tuple[str, str]
    ) -> tuple[int, ...]:
        if pair not in self.model.counted:
            return counts
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
                    yield with_fields(world, counts=counts, stale=stale), label


def far_side(model: Model, undo: Undo, *, late: bool) -> FarSide:
    ways: Ways = {}
    for struct, command in model.commands.items():
        name = command.name
        ways[struct] = tuple(
            (
                answer,
                ending(Kind.FAR_SIDE, answer, f"{name} ends"),
                ending(Kind.ARRIVAL, answer, f"{name} arrives late and ends"),
            )
            for answer in model.answers[name]
        )
    return FarSide(model, undo, late, ways)


def ending(kind: Kind, answer: Answer, words: str) -> Label:
    subject = f"{answer.command}.{answer.outcome}"
    return Label(kind, "far side", f"{words} {answer.outcome}", subject)
