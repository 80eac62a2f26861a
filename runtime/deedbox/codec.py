"""A machine as the interpreter holds it: its decoders, built once, and its names.

A value from outside that does not fit its type raises `WrongType`, here and nowhere
later; a stored document that does not, `msgspec.MsgspecError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, cast

import msgspec
from msgspec import Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from .documents import readable, text
from .errors import Rejected, UnknownMachine, WrongType
from .key import key_text
from .machine import CommandType, Due, Told
from .step import AnyMachine
from .upcast import Upcast, Upcaster, union
from .values import Receipt

LONGEST_ID: Final = 512


class Addressed(Protocol):
    """What a machine tells another, when it is no start."""

    @property
    def to(self) -> str: ...


class Codec:
    """What the interpreter needs of one machine at every step."""

    __slots__ = (
        "_commands",
        "_messages",
        "_older",
        "_told",
        "command_types",
        "commands",
        "decode_state",
        "ends",
        "machine",
        "name",
        "phases",
        "targets",
        "version",
    )

    def __init__(self, machine: AnyMachine) -> None:
        self.machine = machine
        self.name = machine.name
        self.version = machine.version
        self.decode_state = readable(union(machine.states))
        self.phases: dict[type[Struct], str] = {
            state: str(state.__struct_config__.tag) for state in machine.states
        }
        self.ends = frozenset(self.phases[final] for final in machine.finals)
        self.commands: dict[str, CommandType] = {
            command.name: command for command in machine.commands
        }
        self.command_types: dict[type[Struct], CommandType] = {
            command.struct: command for command in machine.commands
        }
        self._commands: dict[str, Callable[[str], Struct]] = {
            command.name: readable(command.struct) for command in machine.commands
        }
        inbound = {machine.start_type, *machine.messages}
        for command in machine.commands:
            inbound.update(command.outcomes)
        self._told = {
            kind.__struct_config__.tag: kind
            for kind in (machine.start_type, *machine.messages)
        }
        self.targets: dict[str, str] = {}
        for target in dict.fromkeys(told.machine for told in machine.told):
            self._tells(
                target, [told for told in machine.told if told.machine == target]
            )
        self._older = Upcaster(machine)
        self._messages = {kind: Decoder[Any](kind).decode for kind in inbound}

    def _tells(self, target: str, told: list[Told]) -> None:
        """All that is told to one machine is one command: so it arrives in its order."""
        name = f"tell {target}"
        kinds = tuple(each.struct for each in told)
        command = CommandType(name, Struct, (), unrepeatable=False, deadline=True)
        self.targets[name] = target
        self.commands[name] = command
        self.command_types |= dict.fromkeys(kinds, command)
        self._commands[name] = readable(union(kinds))

    def id_of(self, start: Struct) -> str:
        """The id of the instance that this start message begins."""
        return self.checked_id(
            key_text(*(getattr(start, name) for name in self.machine.key))
        )

    def checked_id(self, id: str) -> str:
        if not isinstance(cast("object", id), str) or not id:
            raise WrongType(f"an id is a text of at least one character, not {id!r}")
        try:
            size = len(id.encode())
        except UnicodeError as problem:
            raise WrongType(f"the id {id!r}: {problem}") from problem
        if "\0" in id:
            raise WrongType("an id holds the character U+0000")
        if size > LONGEST_ID:
            raise WrongType(f"an id may have {LONGEST_ID} bytes, this one has {size}")
        return id

    def validated(self, message: Struct) -> tuple[Struct, str]:
        """An equal message that keeps every declared type, and its document."""
        decode = self._messages.get(type(message))
        if decode is None:
            raise UnknownMachine(f"{self.name} takes no {type(message).__name__}")
        document = text(message)
        try:
            return decode(document), document
        except msgspec.MsgspecError as problem:
            raise WrongType(f"{type(message).__name__}: {problem}") from problem

    def told(self, command: Struct) -> tuple[str, Struct]:
        """Which instance another machine tells something by this command, and what."""
        kind = self._told.get(command.__struct_config__.tag)
        if kind is None:
            raise UnknownMachine(
                f"{self.name} takes no {command.__struct_config__.tag}"
            )
        try:
            message: Struct = self._messages[kind](text(command))
        except msgspec.MsgspecError as problem:
            raise WrongType(f"{type(command).__name__}: {problem}") from problem
        if kind is self.machine.start_type:
            return self.checked_id(self.id_of(message)), message
        return self.checked_id(cast("Addressed", command).to), message

    def outcome(self, command: CommandType, answer: object) -> Struct | None:
        """A handler's answer, checked against the outcomes of its command."""
        if not command.outcomes:
            if answer is None:
                return None
            raise WrongType(
                f"{command.name} has no outcomes; its handler gave {answer!r}"
            )
        if type(answer) not in command.outcomes:
            expected = ", ".join(outcome.__name__ for outcome in command.outcomes)
            raise WrongType(
                f"{command.name} is answered by {expected}; not by {answer!r}"
            )
        return self.validated(cast("Struct", answer))[0]

    def state(self, version: int, document: str, at: int) -> Upcast:
        """A stored state of this version or an older one, `at` the time of its last step.

        Raises `msgspec.MsgspecError`, or `UnknownVersion`.
        """
        if version != self.version:
            return self._older.state(version, document, at)
        state: Struct = self.decode_state(document)
        return Upcast(state, self.phases[type(state)], None, ())

    def command(self, version: int, name: str, document: str) -> Struct:
        """A stored command, likewise; what is told has the version of who is told it."""
        if name in self.targets:
            return self._commands[name](document)
        if version != self.version:
            return self._older.command(version, name, document)
        command: Struct = self._commands[name](document)
        return command

    def journaled(self, document: str) -> Struct:
        """A message of the journal, decoded."""
        tag = cast("dict[str, object]", msgspec.json.decode(document))["type"]
        if tag == Due.__name__:
            return msgspec.json.decode(document, type=Due)
        for kind, decode in self._messages.items():
            if kind.__struct_config__.tag == tag:
                message: Struct = decode(document)
                return message
        raise UnknownMachine(f"{self.name} takes no {tag}")


def stamped(message: Struct, at: int) -> Struct:
    """The message with the logical time at which it is reduced."""
    return replace(message, at=at)


def answered(outcome: Struct, at: int, ticket: int) -> Struct:
    """The outcome with its time and the ticket of the issue that it answers."""
    return replace(outcome, at=at, ticket=ticket)


class Recorded(Struct, frozen=True):
    """An answer in the inbox: a receipt, or the text of a refusal."""

    receipt: Receipt | None = None
    rejected: str | None = None


_recall = msgspec.json.Decoder(Recorded).decode


def recorded(answer: Receipt | Rejected) -> str:
    if isinstance(answer, Receipt):
        return text(Recorded(receipt=answer))
    return text(Recorded(rejected=str(answer.args[0])))


def recalled(said: str) -> Receipt | Rejected:
    known = _recall(said)
    return known.receipt or Rejected(known.rejected or "")
