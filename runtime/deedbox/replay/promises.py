"""A machine under watch: its reducer is run twice, and may be handed what never comes.

The descriptor is the machine's own but for its reducer, so the interpreter, the store
and the handlers take it for the machine.  What it tells other machines is a command
without outcomes here: a run is of one instance, and nobody else is there to be told.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct

from ..machine import CommandType, Refused
from ..step import AnyMachine


class Promises:
    """`broken`: what the reducer was seen to break; `slip`: what it is handed next."""

    def __init__(self, machine: AnyMachine) -> None:
        self.broken: set[str] = set()
        self.slip: Struct | None = None
        self._own = machine
        told = [
            CommandType(
                name=f"tell {each.machine} {each.struct.__name__}",
                struct=each.struct,
                outcomes=(),
                unrepeatable=False,
                deadline=True,
            )
            for each in machine.told
        ]
        self.machine: AnyMachine = replace(
            machine,
            start=self._start,
            reduce=self._reduce,
            commands=(*machine.commands, *told),
            told=(),
        )

    def _start(self, message: Any) -> Any:
        return self._watched(self._own.start(message), self._own.start(message))

    def _reduce(self, state: Any, message: Any) -> Any:
        if self.slip is not None:
            message, self.slip = self.slip, None
        reduce = self._own.reduce
        return self._watched(reduce(state, message), reduce(state, message))

    def _watched(self, result: Any, again: Any) -> Any:
        if result != again:
            self.broken.add("deterministic")
        if not isinstance(result, Refused):
            state: Struct = result[0]
            stored = msgspec.json.encode(state)
            if msgspec.json.decode(stored, type=type(state)) != state:
                self.broken.add("survives_storage")
        return result
