"""A process that kills itself with a command in its hands."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import deedbox
from deedbox import Worker
from deedbox.testing import FakeClock, settle
from hands import Held
from jobs import job


def killed(path: Path) -> None:
    async def live() -> None:
        url = f"sqlite:///{path}"
        with deedbox.open(url, [job.machine], clock=FakeClock()) as box:
            async with Worker(box, {job.machine: Held()}) as worker:
                await worker.start(job.Start(job="a"))
                await settle(worker)
                os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(live())
