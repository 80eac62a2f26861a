"""The explored form: nothing real lies outside it, and it is its own explored form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, cast

import pytest
from deedbox import Due, Instant, Refused
from deedbox.machine import Machine
from deedbox.step import step
from deedbox_checker.environment.environment import environment
from deedbox_checker.environment.labels import FAULTS
from deedbox_checker.environment.reaction import reactions
from deedbox_checker.instance.abstraction import explored_state
from deedbox_checker.instance.identity import normal
from deedbox_checker.instance.model import Model, model
from deedbox_checker.instance.world import World
from deedbox_checker.search.searching import Searched, search
from deedbox_checker.subjects.subjects import Subject
from msgspec import Struct
from msgspec.structs import replace

from .specimens import lease, order, subject

SUBJECTS: dict[str, Callable[[], Subject]] = {
    "Order": lambda: order(),
    "Lease": lambda: lease(),
    "SyncRetry": lambda: subject("computer/sync.deed", "SyncRetry"),
    "Delivery": lambda: subject("hooks/delivery.deed", "Delivery"),
}


@cache
def searched(name: str) -> Searched:
    each = SUBJECTS[name]()
    made = model(each.machine, each.module)
    steps = environment(made, reactions(made), frozenset(FAULTS.values()))
    return search(steps, 100_000, lambda _: None)


def alone(made: Model, state: Struct) -> Struct | None:
    """The state by itself, its numbers as they are without an environment."""
    return normal(made, World(state, stale=(0,) * len(made.counted))).state


@cache
def explored_states(name: str) -> frozenset[Struct | None]:
    found = searched(name)
    return frozenset(
        alone(found.model, world.state)
        for world in found.closure.states
        if world.state is not None
    )


@pytest.mark.parametrize("name", SUBJECTS)
def test_an_explored_world_is_its_own_explored_form(name: str) -> None:
    found = searched(name)
    for world in found.closure.states:
        assert normal(found.model, world) == world


class Life:
    """A real instance: real names, real milliseconds, real jitter, a far side that answers at random."""

    def __init__(self, name: str, dice: Random) -> None:
        each = SUBJECTS[name]()
        self.dice = dice
        self.machine = cast("Machine[Any, Any, Any, Any, Any]", each.module.machine)
        self.model = searched(name).model
        self.now = 1_764_500_000_000 + dice.randrange(10**9)
        self.names = [f"somebody {n}" for n in range(2)]
        self.owed: list[Struct] = []
        self.state = self.begun()

    def begun(self) -> Struct:
        started = step(self.machine, None, self.real(self.model.starts[0]))
        assert not isinstance(started, Refused)
        self.owed += started.owed
        return cast(Struct, started.state)

    def real(self, message: Struct) -> Struct:
        """A message of the explorer in the words of this life, in its own module's types."""
        types: dict[str, type[Struct]] = {
            type_.__name__: type_
            for type_ in (
                self.machine.start_type,
                *self.machine.messages,
                *(o for c in self.machine.commands for o in c.outcomes),
            )
        }
        fields = {
            field: cast(object, getattr(message, field))
            for field in message.__struct_fields__
        }
        for field, value in fields.items():
            if isinstance(value, str) and value.endswith((" A", " B")):
                fields[field] = self.names["AB".index(value[-1])]
            elif isinstance(value, str):
                fields[field] = f"{value} of this life"
        return types[type(message).__name__](**{**fields, "at": self.now})

    def live(self) -> None:
        """One thing happens."""
        wake = self.machine.wake(self.state)
        choice = self.dice.random()
        message: Struct | None = None
        if self.owed and choice < 0.5:
            command = self.dice.choice(self.owed)
            name = next(
                c.name for c in self.machine.commands if c.struct is type(command)
            )
            answers = self.model.answers[name]
            if not answers:
                self.owed.remove(command)
                return
            answer = self.real(self.dice.choice(answers).message)
            message = replace(answer, ticket=getattr(command, "ticket"))  # noqa: B009
        elif wake is not None and wake <= self.now:
            message = Due(Instant(self.now))
        elif choice < 0.75 and wake is not None:
            later = self.dice.choice([wake, wake - 1, wake + 5_000, self.now + 1])
            self.now = max(self.now, later)
        elif self.model.messages:
            message = self.real(self.dice.choice(self.model.messages))
        if message is not None:
            result = step(self.machine, self.state, message)
            if not isinstance(result, Refused):
                self.state = cast(Struct, result.state)
                ticket = self.machine.awaited(self.state)
                self.owed = [*self.owed, *result.owed]
                self.owed = [
                    c
                    for c in self.owed
                    if getattr(c, "ticket") == ticket  # noqa: B009
                ]


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("seed", range(12))
def test_every_state_of_a_real_life_was_explored(name: str, seed: int) -> None:
    life = Life(name, Random(seed))
    kinds = {type_.__name__: type_ for type_ in life.model.machine.states}
    for _ in range(60):
        life.live()
        state = life.state
        own = kinds[type(state).__name__](
            **{f: getattr(state, f) for f in state.__struct_fields__}
        )
        assert explored_state(life.model, own, life.now) in explored_states(name), state
