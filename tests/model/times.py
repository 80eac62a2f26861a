"""Small machines whose times come from outside, and a life of one in real milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias, cast

import msgspec
from deedbox import Due, Instant, Refused
from deedbox.step import step
from deedbox_checker.data.domain import EPOCH
from deedbox_checker.environment.reaction import Reactions, reactions
from deedbox_checker.expressions.evaluate import Scene, spread_of
from deedbox_checker.expressions.types import is_instant, is_int, is_length
from deedbox_checker.instance.abstraction import (
    explored_command,
    explored_message,
    explored_own,
)
from deedbox_checker.instance.model import Model, model
from deedbox_checker.subjects.subjects import subjects
from deedbox_checker.time.ranks import later
from deedbox_dsl import compile, core
from deedbox_dsl.problems import has_errors
from deedbox_dsl.types import ListOf, Maybe, RecordType, Type
from msgspec import Struct
from msgspec.structs import replace

FOLDER: Final = Path(__file__).parent / "timely"

Choose: TypeAlias = Callable[[list[int]], int]
"""One of some numbers."""

SPECS: Final = {path.stem.title(): path for path in sorted(FOLDER.glob("*.deed"))}


@dataclass(frozen=True, slots=True)
class Known:
    """A machine, and what the explorer has found of single steps so far."""

    spec: core.Machine
    model: Model
    reactions: Reactions


@cache
def known(name: str) -> Known:
    program = compile({SPECS[name].name: SPECS[name].read_text(encoding="utf-8")})
    assert not has_errors(program.problems), program.problems
    (found,) = subjects(program)
    made = model(found.machine, found.module)
    return Known(found.machine, made, reactions(made))


@dataclass(slots=True)
class Life:
    """One instance with real times; `choose` decides all that is free."""

    known: Known
    choose: Choose
    now: int = EPOCH
    state: Struct | None = None

    def marks(self) -> list[int]:
        """Instants that something may hang on: those that are stored, and near them."""
        found = {self.now}
        for name in () if self.state is None else self.state.__struct_fields__:
            value = cast(object, getattr(self.state, name))
            if isinstance(value, int) and value > EPOCH // 2:
                found.add(value)
        spans = (0, 1, 1_000, 60_000, 300_000, 600_000, 3_600_000, 86_400_000)
        return sorted(
            {mark + sign * span for mark in found for span in spans for sign in (1, -1)}
        )

    def is_found(self) -> None:
        """It is in any state that is no end, whether or not anything leads there."""
        made = self.known.model
        states = cast("tuple[type[Struct], ...]", made.machine.states)
        kinds = [kind for kind in states if kind not in made.machine.finals]
        kind = kinds[self.choose(list(range(len(kinds))))]
        wanted = {each.name: each.type for each in msgspec.structs.fields(kind)}
        values: dict[str, object] = dict.fromkeys(wanted, 1)
        values["born"] = EPOCH
        for each in made.fields[kind.__name__]:
            value = self.plain(each.type)
            if is_instant(each.type) and isinstance(value, int):
                # Mostly ahead, where nothing is due and all sorts of things may come.
                value = self.now + abs(value - self.now) - self.choose([0, 0, 300_000])
                if each.name in made.points.behind:
                    value = min(value, self.now)
            values[each.name] = msgspec.convert(value, wanted[each.name])
        self.state = kind(**values)

    def passes(self) -> None:
        """Time goes on to one of the marks, and what is explored follows."""
        before = self.state
        assert before is not None
        at = self.choose([mark for mark in self.marks() if mark >= self.now])
        made = self.known.model
        here = explored_own(made, relative(made, before, self.now))
        there = explored_own(made, relative(made, before, at))
        reached = [here]
        while (further := later(made.points, reached[-1])) is not None:
            reached.append(further)
        assert there in reached, f"{before} from {self.now} to {at}"
        self.now = at

    def steps(self, message: Struct) -> None:
        """The instance takes a message, and the explorer takes the same step."""
        made = self.known.model
        draw = self.choose
        made.spread.drawn = {
            (delay, ladder.jitter): draw(
                [delay - spread_of(delay, ladder.jitter), delay - 1, delay]
                if spread_of(delay, ladder.jitter)
                else [delay]
            )
            for ladder in made.spec.ladders
            for delay in ladder.delays
            if ladder.jitter is not None
        }
        result = step(made.machine, self.state, message)
        before = None
        if self.state is not None:
            before = explored_own(made, relative(made, self.state, self.now))
        said: Struct = Due(Instant(EPOCH))
        if not isinstance(message, Due):
            said = explored_message(made, message)
        explored = self.known.reactions.of(before, said)
        unseen = any(each.state in (None, before) for each in explored)
        if isinstance(result, Refused) or not result.changed:
            assert unseen, f"{self.state}\n by {message}"
            return
        after = cast(Struct, result.state)
        commands = tuple(explored_command(made, one) for one in result.owed)
        new = relative(made, after, self.now)
        wanted = explored_own(made, new), commands, self.breaks(message, new)
        self.state, former = after, self.state
        if wanted == (before, (), ()) and unseen:
            return  # the milliseconds alone are others
        assert wanted in [
            (
                each.state,
                tuple(explored_command(made, one) for one in each.commands),
                each.broken,
            )
            for each in explored
        ], f"{former}\n by {message}\n to {after} at {self.now}\n {explored}"

    def breaks(self, message: Struct, new: Struct) -> tuple[str, ...]:
        """What an `across` says against the step that the instance has just made."""
        made = self.known.model
        if self.state is None:
            return ()
        old = relative(made, self.state, self.now)
        scene = Scene(state=new, old=old, new=new, now=EPOCH, message=message)
        return tuple(
            each.name for each in self.known.reactions.across if not each.holds(scene)
        )

    def brought(self, kind: type[Struct], **more: object) -> Struct:
        """A message or an outcome with any times, at this moment."""
        fields = self.known.model.brought[kind]
        plain = {each.name: self.plain(each.type) for each in fields}
        wanted = {each.name: each.type for each in msgspec.structs.fields(kind)}
        values = {
            name: msgspec.convert(value, wanted[name]) for name, value in plain.items()
        }
        return replace(kind(**values, at=Instant(self.now)), **more)

    def starts(self) -> Struct:
        """A start, of this instance."""
        made = self.known.model
        start = cast("type[Struct]", made.machine.start_type)
        key = {each.name: getattr(made.starts[0], each.name) for each in made.spec.key}
        return self.brought(start, **key)

    def plain(self, type: Type) -> object:
        match type:
            case Maybe(item):
                return None if self.choose([0, 1]) else self.plain(item)
            case RecordType(fields=fields):
                return {name: self.plain(inner) for name, inner in fields}
            case ListOf(item):
                return [self.plain(item) for _ in range(self.choose([0, 1, 2]))]
            case _ if is_instant(type):
                return self.choose(self.marks())
            case _ if is_length(type):
                low, high = next(iter(self.known.model.domain.spans(type)))[0], None
                *_, (_, high) = self.known.model.domain.spans(type)
                spans = [mark - self.now for mark in self.marks()]
                return self.choose([one for one in spans if low <= one <= high])
            case _ if is_int(type):
                return self.choose([1, 2, 3, 4, 5])
            case _:
                return self.known.model.domain.one(type)

    def may_hear(self) -> Iterator[Struct]:
        """Every kind of message that may come now."""
        made = self.known.model
        machine = made.machine
        assert self.state is not None
        wake = machine.wake(self.state)
        if wake is not None and wake <= self.now:
            yield Due(Instant(self.now))
            return
        for kind in cast("tuple[type[Struct], ...]", machine.messages):
            yield self.brought(kind)
        yield self.starts()

    def hears(self) -> None:
        """One of them, or the answer that is awaited."""
        made = self.known.model
        machine = made.machine
        assert self.state is not None
        ticket = machine.awaited(self.state)
        if ticket is not None and self.choose([0, 1]):
            name = next(
                each.awaits
                for each in made.spec.states
                if each.awaits and each.name == type(self.state).__name__
            )
            kinds = [type(answer.message) for answer in made.answers[name]]
            kind = kinds[self.choose(list(range(len(kinds))))]
            self.steps(self.brought(kind, ticket=ticket))
            return
        messages = list(self.may_hear())
        if messages:
            self.steps(messages[self.choose(list(range(len(messages))))])


def relative(made: Model, state: Struct, now: int) -> Struct:
    """The state as it stands at a moment: its instants count from the explorer's now."""
    fields = made.fields[type(state).__name__]
    changes: dict[str, object] = {}
    for each in fields:
        value = cast(object, getattr(state, each.name))
        if is_instant(each.type) and isinstance(value, int):
            changes[each.name] = value - now + EPOCH
    return replace(state, **changes)
