"""Where a run is carried out: in memory, or on SQLite in processes that are killed.

On SQLite each life of the process is a process of its own, and a crash is a SIGKILL.
In memory a crash leaves behind what a SIGKILL leaves (`deedbox.testing.crash`).
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from ..box import Box
from ..machine import Machine
from ..opening import open as open_box
from ..step import AnyMachine
from ..stores.memory import MemoryStore
from ..testing import EPOCH, FakeClock, crash
from ..values import Rules
from ..worker import Worker
from .actions import Crash, Does
from .ledger import Ledger
from .life import Life
from .promises import Promises
from .ran import Ran

S = TypeVar("S", bound=Struct)
B = TypeVar("B", bound=Struct)
M = TypeVar("M", bound=Struct)
O = TypeVar("O", bound=Struct)  # noqa: E741  the letter that `Machine` uses
C = TypeVar("C", bound=Struct)

Where: TypeAlias = Literal["memory", "sqlite"]
RULES: Final = Rules(first_delay=1)
"""A handler that raised is called again at once: of its ladder a run says nothing."""
PATIENT: Final = 1e9
"""Seconds that a handler may take: as long as the run says."""


def replay(
    machine: Machine[S, B, M, O, C], run: Sequence[Does], where: Where, folder: Path
) -> Ran[S]:
    """Carry a run out; `folder` is empty, and `machine` that of an importable module."""
    if where == "memory":
        return asyncio.run(_in_memory(machine, run)).ran(machine)
    module = machine.start_type.__module__
    book = folder / "ledger.json"
    book.write_bytes(msgspec.json.encode(Ledger()))
    for _ in range(1 + sum(isinstance(each.action, Crash) for each in run)):
        life = get_context("spawn").Process(
            target=_process, args=(module, tuple(run), folder)
        )
        life.start()
        life.join()
        if life.exitcode == 0:
            ledger = msgspec.json.decode(book.read_bytes(), type=Ledger)
            return ledger.ran(machine)
        if life.exitcode != -signal.SIGKILL:
            raise RuntimeError(f"a process of the replay ended with {life.exitcode}")
    raise RuntimeError("more processes died than the run says")


async def _in_memory(machine: AnyMachine, run: Sequence[Does]) -> Ledger:
    """The store is what survives a crash; the last box of the run is left as it is."""
    ledger, clock = Ledger(), FakeClock()
    store = MemoryStore(clock)
    crashed = True
    while crashed:
        promises = Promises(machine)
        box = Box(store, [promises.machine], rules=RULES, clock=clock, peers=False)
        life = Life(promises, run, ledger, clock, box)
        async with Worker(box, life.handlers(), limit=PATIENT) as worker:
            crashed = await life.live(worker)
            await crash(worker, box)
    return ledger


def _process(module: str, run: tuple[Does, ...], folder: Path) -> None:
    """One process, up to its crash or to the end of the run."""
    book = folder / "ledger.json"
    ledger = msgspec.json.decode(book.read_bytes(), type=Ledger)
    promises = Promises(import_module(module).machine)
    clock = FakeClock()
    clock.advance(ledger.at - EPOCH)

    async def live() -> None:
        url = f"sqlite:///{folder / 'run.db'}"
        box = open_box(url, [promises.machine], rules=RULES, clock=clock)
        life = Life(promises, run, ledger, clock, box)
        async with Worker(box, life.handlers(), limit=PATIENT) as worker:
            crashed = await life.live(worker)
            book.write_bytes(msgspec.json.encode(ledger))
            if crashed:
                os.kill(os.getpid(), signal.SIGKILL)
            await crash(worker, box)

    asyncio.run(live())
