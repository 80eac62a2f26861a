"""The names that a machine's module gives to things of its own.

A private function may need another name than the first that comes to mind; the
names that a user sees (classes, methods, constants) follow from the spec alone.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field

from deedbox_dsl import core
from deedbox_dsl.spelling import pascal, snake

TAKEN = frozenset({"_key", "_ended", "_start_again", "_begin"})
LOCALS = frozenset({"state", "msg", "wake", "spread", "key_text"})
"""What a function of the module calls or holds by itself."""


@dataclass(slots=True)
class Names:
    """Names of one scope, each given once."""

    taken: set[str] = field(default_factory=lambda: set(TAKEN))

    def unique(self, wanted: str) -> str:
        name = wanted
        while name in self.taken or is_pythons(name):
            name += "_"
        self.taken.add(name)
        return name


def is_pythons(name: str) -> bool:
    return keyword.iskeyword(name) or hasattr(builtins, name)


@dataclass(frozen=True, slots=True)
class Functions:
    """The function of each state that does not end, and of each policy's wait."""

    states: Mapping[str, str]
    waits: Mapping[str, str]
    seeded: frozenset[str]
    attempts: Mapping[str, str]


def functions(machine: core.Machine, names: Names) -> Functions:
    return Functions(
        states={
            state.name: names.unique("_" + snake(state.name))
            for state in machine.states
            if not state.final
        },
        waits={
            each.name: names.unique(f"_{each.name}_wait") for each in machine.ladders
        },
        seeded=frozenset(each.name for each in machine.ladders if each.jitter),
        attempts={
            each.name: f"{each.name.upper()}_ATTEMPTS" for each in machine.ladders
        },
    )


def command_class(command: str) -> str:
    return pascal(command)


def outcome_class(command: str, outcome: str) -> str:
    return pascal(command) + pascal(outcome)
