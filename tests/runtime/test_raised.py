"""R6: whatever a handler raises, its row goes back on the ladder and its process goes on."""

from __future__ import annotations

import asyncio

import pytest
from deedbox import Worker
from deedbox.testing import elapse
from hands import Hands
from jobs import job
from place import Place


class Odd(BaseException):
    """As some test kits and event loops have them."""


class Plain(Hands):
    """The same handler as a plain `def`, which runs in a thread."""

    def run(self, cmd: job.Run) -> job.RunOutcome:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  either is a handler
        self.ran.append(cmd)
        return self._answer(cmd)


@pytest.mark.parametrize(
    "problem", [SystemExit(3), Odd("odd"), GeneratorExit(), StopIteration(3)], ids=repr
)
@pytest.mark.parametrize("hands", [Hands, Plain])
async def test_r6_whatever_is_raised_the_handler_is_called_again(
    place: Place, hands: type[Hands], problem: BaseException
) -> None:
    """`sys.exit` too: it would be called at each start of the process, and never parked."""

    def away(cmd: job.Run) -> job.RunOutcome:
        if cmd.job == "a":
            raise problem
        return job.RunRan(result=1)

    box = place.open()
    async with Worker(box, {job.machine: hands(away)}) as worker:
        await worker.start(job.Start(job="a"))
        await worker.start(job.Start(job="b"))
        await elapse(place.clock, 20_000, worker)
        instance = await worker.get(job.machine, "a")
        beside = await worker.wait(job.machine, "b")
    assert isinstance(beside, job.Done)
    assert instance is not None
    (owed,) = instance.owed
    assert owed.deliveries == 5
    assert type(problem).__name__ in str(owed.error)


def test_r6_an_interrupt_ends_the_process_and_counts(place: Place) -> None:
    """Somebody presses Ctrl-C twice; the second comes while a handler runs."""
    place.open().start_many([job.Start(job="a")])
    box = place.open()

    def interrupted(_: job.Run) -> job.RunOutcome:
        raise KeyboardInterrupt

    async def serve() -> None:
        async with Worker(box, {job.machine: Hands(interrupted)}):
            await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(serve())
    instance = box.get(job.machine, "a")
    assert instance is not None
    assert [(owed.deliveries, owed.claimed) for owed in instance.owed] == [(1, False)]
    assert "KeyboardInterrupt" in str(instance.owed[0].error)
