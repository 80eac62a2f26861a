"""Rows of a released version, as files and as they lie in a store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from deedbox import Machine, Rules
from deedbox.box import Box
from deedbox.operations import (
    Begin,
    Commit,
    Everything,
    History,
    InstanceRow,
    Load,
    OutboxRow,
    Owe,
    Program,
    Save,
    Store,
    ask,
)
from deedbox.testing import FakeClock, Laws, Watched
from msgspec import Raw, Struct

MORNING = 1_700_000_010_000
"""Ten seconds after the instances of the fixtures were born."""

FIXTURES = Path(__file__).parent / "fixtures"
AnyMachine = Machine[Any, Any, Any, Any, Any]


class Owed(Struct):
    ticket: int
    command: str
    key: str
    doc: Raw


class Row(Struct):
    """A stored instance with what it owes, as a fixture says it."""

    id: str
    phase: str
    at: int
    born: int
    wake_at: int | None
    doc: Raw
    owed: list[Owed]


def fixture(version: str, phase: str) -> Row:
    path = FIXTURES / version / f"{phase}.json"
    return msgspec.json.decode(path.read_bytes(), type=Row)


def phases(version: str) -> list[str]:
    return sorted(path.stem for path in (FIXTURES / version).glob("*.json"))


def document(raw: Raw) -> str:
    return json.dumps(json.loads(bytes(raw)), separators=(",", ":"))


def put(store: Store, machine: str, version: int, *rows: Row) -> None:
    """The rows as a process of that version left them, at rev 3."""

    def program() -> Program[None]:
        yield from ask(Begin())
        instances: list[InstanceRow] = []
        outbox: list[OutboxRow] = []
        for row in rows:
            instances.append(
                (
                    row.id,
                    3,
                    row.phase,
                    row.at,
                    row.born,
                    version,
                    row.wake_at,
                    None,
                    document(row.doc),
                )
            )
            outbox += [
                (
                    machine,
                    row.id,
                    owed.ticket,
                    owed.command,
                    owed.key,
                    None,
                    row.at,
                    1,
                    0,
                    None,
                    None,
                    version,
                    document(owed.doc),
                )
                for owed in row.owed
            ]
        yield from ask(Save(machine, instances, []))
        yield from ask(Owe(outbox))
        yield from ask(Commit())

    store.run(program())


def row_of(store: Store, machine: str, id: str) -> InstanceRow:
    (row,) = store.read(ask(Load(machine, [id])))
    return row


def outbox_of(store: Store, id: str) -> dict[int, OutboxRow]:
    """By ticket."""
    rows = store.read(ask(Everything()))
    return {row[2]: row for row in rows if row[1] == id}


def bases_of(store: Store, machine: str, id: str) -> list[tuple[int, int]]:
    """Rev and version of every base in the journal."""
    rows = store.read(ask(History(machine, id)))
    return [(row[2], row[5]) for row in rows if row[4] == "base"]


class Shelf:
    """One store on a clock of its own; every box on it is watched by the laws."""

    def __init__(self, open_store: Callable[[FakeClock], Store]) -> None:
        self.clock = FakeClock(MORNING)
        self.store = open_store(self.clock)
        self._open_store = open_store
        self._watched: list[Watched] = []

    def open(self, *machines: AnyMachine) -> Box:
        """What a process sees of the store."""
        rules = Rules()
        watched = Watched(self._open_store(self.clock))
        box = Box(watched, machines, rules=rules, clock=self.clock, peers=False)
        watched.watch(Laws(machines, rules))
        self.store.register(machines)
        self._watched.append(watched)
        return box

    def broken(self) -> list[str]:
        return [text for watched in self._watched for text in watched.broken]
