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
    """`broken`: what the reducer was seen to break.

    `slip`: what it is handed next, in place of a message; `slipped`: what came of that.
    """

    def __init__(self, machine: AnyMachine) -> None:
        self.broken: set[str] = set()
        self.slip: Struct | None = None
        self.slipped: Struct | None = None
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
        reduce, slip = self._own.reduce, self.slip
        if slip is None:
            return self._watched(reduce(state, message), reduce(state, message))
        self.slip = None
        result = self._watched(reduce(state, slip), reduce(state, slip))
        self.slipped = None if isinstance(result, Refused) else result[0]
        return result

    def _watched(self, result: Any, again: Any) -> Any:
        if result != again:
            self.broken.add("deterministic")
        if not isinstance(result, Refused):
            state: Struct = result[0]
            if not survives_storage(state):
                self.broken.add("survives_storage")
        return result


def survives_storage(state: Struct) -> bool:
    """Whether a state is read as it was written."""
    try:
        stored = msgspec.json.encode(state)
        return bool(msgspec.json.decode(stored, type=type(state)) == state)
    except msgspec.MsgspecError:
        return False
