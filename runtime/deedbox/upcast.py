"""Rows of released versions: decoded as what they were, then brought to this version.

A document goes from version to version by the functions that the machine brings
with it; none of them sees a document of another version.  A version that was never
released is read as the next one that was: its documents fit, or are refused.  Pure:
what follows for the store (a withdrawn ticket, commands owed anew) is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union, cast

from msgspec import Struct

from .documents import readable
from .errors import UnknownVersion
from .machine import Command, Instant
from .step import AnyMachine


class Upcast(Struct, frozen=True):
    """The state of this version; `phase` is the stored one, as its own version called it.

    `withdrawn` is the ticket that the older state awaited and this one does not,
    `owed` what it asks for anew.
    """

    state: Struct
    phase: str
    withdrawn: int | None
    owed: tuple[Struct, ...]


class Upcaster:
    """The released versions of one machine, with the decoders of each."""

    __slots__ = ("_commands", "_machine", "_states")

    def __init__(self, machine: AnyMachine) -> None:
        self._machine = machine
        states = {older.version: older.states for older in machine.older}
        states[machine.version] = machine.states
        self._states: dict[int, Callable[[str], Struct]] = {
            version: readable(union(kinds), whole=version == machine.version)
            for version, kinds in states.items()
        }
        commands = [(older.version, older.commands) for older in machine.older]
        own = tuple((command.name, command.struct) for command in machine.commands)
        self._commands: dict[tuple[int, str], Callable[[str], Struct]] = {
            (version, name): readable(struct, whole=version == machine.version)
            for version, pairs in (*commands, (machine.version, own))
            for name, struct in pairs
        }

    def state(self, version: int, document: str, at: int) -> Upcast:
        """`at`: the time of the instance's last step.  Raises what its decoder raises."""
        version = self._released(version)
        state = self._states[version](document)
        phase = str(state.__struct_config__.tag)
        first = held = _ticket(state)
        owed: dict[int, Struct] = {}
        for older in self._machine.older:
            if older.version < version:
                continue
            owed = {
                ticket: self._next(older.command, command)
                for ticket, command in owed.items()
            }
            state, asked = older.state(state, Instant(at))
            now = _ticket(state)
            if held is not None and held != now:
                owed.pop(held, None)
            owed |= {ticket_of(command): command for command in asked}
            held = now
        withdrawn = None if first == held else first
        return Upcast(state, phase, withdrawn, tuple(owed.values()))

    def command(self, version: int, name: str, document: str) -> Struct:
        """An owed command of an older version; raises what its decoder raises."""
        version = self._released(version)
        decode = self._commands.get((version, name))
        if decode is None:
            raise UnknownVersion(f"{self._machine.name} {version}, `{name}`")
        command = decode(document)
        for older in self._machine.older:
            if older.version >= version:
                command = self._next(older.command, command)
        return command

    def _released(self, version: int) -> int:
        later = [known for known in self._states if known >= version]
        if not later:
            raise UnknownVersion(f"{self._machine.name} {version}")
        return min(later)

    def _next(self, way: Callable[[Any], Struct] | None, command: Struct) -> Struct:
        if way is None:
            raise UnknownVersion(f"{self._machine.name}: {type(command).__name__}")
        return way(command)


def union(kinds: tuple[type[Struct], ...]) -> Any:
    """One of these; a type that is known only when a machine is opened."""
    return Union[kinds]  # noqa: UP007  there is no `|` for a tuple of types


def _ticket(state: Struct) -> int | None:
    """The ticket of the answer that a state of any version waits for."""
    ticket: int | None = getattr(state, "ticket", None)
    return ticket


def ticket_of(command: Struct) -> int:
    """The ticket of a command of any version."""
    return cast("Command", command).ticket
