"""The machines of a box: from a message of the application to an item of the queue.

What cannot be sent is refused here, before it waits for anybody: a value of another type,
an id that no store can keep, a machine that was not opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import TypeGuard, cast

from msgspec import Struct

from .batch import Reply, Tell
from .codec import Codec
from .documents import digest
from .errors import UnknownMachine, WrongType
from .machine import Machine
from .step import AnyMachine


def checked(value: object) -> AnyMachine:
    """What is given as a machine: the generated module itself is taken for one easily."""
    if _is_machine(value):
        return value
    if isinstance(value, ModuleType):
        name = value.__name__.rpartition(".")[2]
        raise WrongType(f"{name} is a module; its machine is `{name}.machine`")
    raise WrongType(f"{value!r} is no machine")


def _is_machine(value: object) -> TypeGuard[AnyMachine]:
    return isinstance(value, Machine)


def _listed(machines: object) -> Iterable[object]:
    if isinstance(machines, Iterable):
        return cast("Iterable[object]", machines)
    raise WrongType(f"{machines!r} is no list of machines")


class Machines:
    """The machines of a box, by name and by type of message."""

    def __init__(self, machines: Iterable[AnyMachine]) -> None:
        self.codecs: dict[str, Codec] = {}
        self._starts: dict[type[Struct], Codec] = {}
        for machine in map(checked, _listed(machines)):
            if machine.name in self.codecs:
                raise UnknownMachine(f"two machines are called {machine.name}")
            codec = self.codecs[machine.name] = Codec(machine)
            self._starts[machine.start_type] = codec

    def of(self, machine: AnyMachine) -> Codec:
        codec = self.codecs.get(checked(machine).name)
        if codec is None or codec.machine is not machine:
            raise UnknownMachine(f"{machine.name} was not given to `open`")
        return codec

    def start(self, message: Struct, message_id: str | None, reply: Reply) -> Tell:
        codec = self._starts.get(type(message))
        if codec is None:
            raise UnknownMachine(f"{type(message).__name__} starts none of them")
        valid, document = codec.validated(message)
        return self._tell(codec, codec.id_of(valid), valid, document, message_id, reply)

    def message(
        self,
        machine: AnyMachine,
        id: str,
        message: Struct,
        message_id: str | None,
        reply: Reply,
    ) -> Tell:
        codec = self.of(machine)
        if type(message) not in machine.messages:
            raise UnknownMachine(f"{machine.name} takes no {type(message).__name__}")
        valid, document = codec.validated(message)
        return self._tell(
            codec, codec.checked_id(id), valid, document, message_id, reply
        )

    def _tell(
        self,
        codec: Codec,
        id: str,
        message: Struct,
        document: str,
        message_id: str | None,
        reply: Reply,
    ) -> Tell:
        seal = ""
        if message_id is not None:
            codec.checked_id(message_id)
            seal = digest(type(message), document)
        starts = type(message) is codec.machine.start_type
        return Tell(codec, id, message, starts, message_id, seal, reply)
