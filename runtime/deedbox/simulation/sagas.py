"""What a saga owes: it goes forward in order, back in the reverse of it, and never both.

Properties 9 and 10.  The laws read what a generated saga says of itself (`SagaRoles`)
and the steps of its instances, and nothing of its states: a step is passed when its
command was answered well, and unanswered while a deed of it is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from ..codec import Codec
from ..machine import SagaRoles, StepRoles
from .seen import Step


class Way(Struct):
    """How far one instance has come: numbers of steps.

    `open`: asked, and not answered.  `undone` is in the order in which it was done.
    """

    passed: list[int]
    open: set[int]
    undoing: list[int]
    undone: list[int]


class Sagas:
    """Follows the steps of all sagas of a run."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._ways: dict[tuple[str, str], Way] = {}

    def stepped(self, codec: Codec, step: Step) -> None:
        roles = codec.machine.saga
        if roles is None:
            return
        name = step.machine, step.id
        if step.before is None or isinstance(step.message, codec.machine.start_type):
            self._ways[name] = Way([], set(), [], [])
        way = self._ways[name]
        for said in self._follow(roles, way, step, codec):
            self._say(f"{step.machine} {step.id}: {said}, by {step.message}")

    def _follow(
        self, roles: SagaRoles, way: Way, step: Step, codec: Codec
    ) -> Iterator[str]:
        asked = {type(command) for command in step.owed}
        names = [
            type_.name for type_ in codec.machine.commands if type_.struct in asked
        ]
        ended = isinstance(step.after, roles.done)
        for number, each in enumerate(roles.steps):
            ahead = roles.steps[number + 1].do if number + 1 < len(roles.steps) else ""
            answers = codec.commands[each.do].outcomes
            if type(step.message) in answers:
                way.open.discard(number)
                if (
                    type(step.message) in each.done
                    or ahead in names
                    or (not ahead and ended and roles.done is not roles.undone)
                ):
                    yield from self._passes(way, number)
            if type(step.message) in each.undone:
                way.undone.append(number)
        for number, each in enumerate(roles.steps):
            if each.do in names:
                yield from self._asks(way, number, each)
            if each.undo in names:
                yield from self._undoes(roles, way, number, each)
        if type(step.after) in codec.machine.finals and step.before != step.after:
            yield from self._ends(roles, way, step.after)

    def _passes(self, way: Way, number: int) -> Iterator[str]:
        if number != len(way.passed):
            yield f"step {number + 1} is passed after {_steps(way.passed)}"
        way.passed.append(number)

    def _asks(self, way: Way, number: int, each: StepRoles) -> Iterator[str]:
        way.open.add(number)
        if number != len(way.passed):
            yield f"`{each.do}` is asked for after {_steps(way.passed)}"
        if way.undoing:
            yield f"`{each.do}` is asked for on the way back"

    def _undoes(
        self, roles: SagaRoles, way: Way, number: int, each: StepRoles
    ) -> Iterator[str]:
        """Property 9: the last first, and nothing that cannot have been done."""
        if number not in way.passed and number not in way.open:
            yield f"`{each.undo}` is asked for, and its step was never done"
        left = [
            later
            for later in way.passed
            if later > number and roles.steps[later].undo and later not in way.undone
        ]
        if left:
            yield f"`{each.undo}` is asked for before {_steps(left)} is undone"
        if number in way.undone:
            yield f"`{each.undo}` is asked for again, and it was done"
        if number not in way.undoing:
            way.undoing.append(number)

    def _ends(self, roles: SagaRoles, way: Way, end: Struct) -> Iterator[str]:
        """Property 10: all of it is done, or all that was done is undone."""
        if len(way.passed) == len(roles.steps):
            if way.undoing:
                yield f"it is done, and {_steps(way.undoing)} was undone"
            if not isinstance(end, roles.done):
                yield f"it is done, and ends as {end}"
            return
        if roles.done is not roles.undone and not isinstance(end, roles.undone):
            yield f"it ends as {end} after {_steps(way.passed)}"
        kept = [
            number
            for number in way.passed
            if roles.steps[number].undo and number not in way.undone
        ]
        if kept:
            yield f"it ends as {end}, and {_steps(kept)} was not undone"
        if way.undone != sorted(way.undone, reverse=True):
            yield f"it undid {_steps(way.undone)} in this order"
        unclear = [
            number
            for number in way.open
            if roles.steps[number].undo and number not in way.undone
        ]
        if unclear:
            yield f"it ends as {end}, and {_steps(unclear)} may have been done"


def _steps(numbers: list[int]) -> str:
    if not numbers:
        return "no step"
    return "step " + ", ".join(str(number + 1) for number in numbers)
