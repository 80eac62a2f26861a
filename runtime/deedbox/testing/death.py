"""The death of a process, without a process: what SIGKILL leaves behind, in one test.

Handlers are dropped where they stand, the writer ends without a word, and nothing is
given back: claims and session stay, and whoever comes next finds the session dead,
as it would find a kernel lock that nobody holds any more.
"""

from __future__ import annotations

import asyncio

from ..box import Box
from ..stores.memory import MemoryStore
from ..worker import Worker
from .faults import Watched


async def crash(worker: Worker, box: Box) -> None:
    """The process of `box` and its `worker` dies here; neither can be used any more.

    A transaction that has begun is finished by its writer first: of a process that is
    killed nobody knows either whether it came so far.
    """
    epoch = worker.epoch
    worker.abandon()
    await asyncio.to_thread(box.abandon)
    store = box.store
    while isinstance(store, Watched):
        store = store.store
    if not isinstance(store, MemoryStore):
        store.close()
    elif epoch in store.sessions.rows:
        store.sessions.rows[epoch].alive = False
