"""What must hold when a handler is called: I2, I3, R4, R6 and R20."""

from __future__ import annotations

from msgspec import Struct

from ..operations import COMPANY, Key, OutboxRow
from .far_side import key_of
from .seen import Record


class Calls:
    """The laws of deliveries."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def called(self, process: str, key: Key, command: Struct) -> None:
        """A handler begins.  R1: its row is committed and was claimed for its process."""
        codec, deed = self._record.codecs[key[0]], (key, key_of(command))
        mine = {
            epoch
            for epoch in self._record.claimed.get(deed, ())
            if self._record.held_by.get(epoch) == process
        }
        if not mine:
            self._record.say(f"I2: {process} runs {key}, which it does not hold")
        row = self._record.outbox.get(key)
        if row is not None and row[4] == deed[1]:
            if codec.command(row[11], row[3], row[12]) != command:
                self._record.say(
                    f"R4: {key} is called with {command}, owed is {row[12]}"
                )
            name = codec.commands[row[3]]
            older = [
                other
                for other, each in self._record.outbox.items()
                if other[:2] == key[:2] and other[2] < key[2] and each[3] == row[3]
            ]
            if older and not name.outcomes:
                self._record.say(f"R20: {key} is called before {older}")
            self._is_alone(process, key, row)
        self._record.redriven.discard(deed)
        count = self._record.calls[deed] = self._record.calls.get(deed, 0) + 1
        type_ = next(
            type_ for type_ in codec.machine.commands if type_.struct is type(command)
        )
        if type_.unrepeatable and count > 1:
            self._record.say(f"{key} is unrepeatable, and called {count} times")
        most = max(self._record.rules.deliveries, COMPANY) + 1
        if count > most and not type_.unrepeatable:
            self._record.say(f"R6: {key} is called {count} times")

    def _is_alone(self, process: str, key: Key, row: OutboxRow) -> None:
        """I3: the process that calls holds the row, or its session is over."""
        claim = row[5]
        if claim is None or self._record.held_by.get(claim) == process:
            return
        mine = [
            epoch for epoch, name in self._record.held_by.items() if name == process
        ]
        if mine and mine[-1] in self._record.sessions and self._record.lives(mine[-1]):
            self._record.say(f"I3: {process} runs {key}, and {claim} holds it")
