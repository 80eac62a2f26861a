"""Credits between accounts, by `tell` and `begin`, on the real interpreter and SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deedbox
import pytest

Generated = Callable[[str], Any]


class Persons:
    """Who is asked when a transfer takes too long."""

    async def ask_person(self, cmd: object, /) -> None:
        raise AssertionError(f"nothing takes an hour here: {cmd}")


@pytest.mark.parametrize(
    ("room", "ends", "balances"),
    [
        ({"a": 8, "b": 0}, "Moved", (3, 5)),
        ({"a": 4, "b": 0}, "NotMoved", (4, 0)),
        ({"a": 8, "b": 12}, "NotMoved", (8, 12)),
    ],
)
def test_credits_move_whole_or_not_at_all(
    generated: Generated,
    tmp_path: Path,
    room: dict[str, int],
    ends: str,
    balances: tuple[int, int],
) -> None:
    """Enough credits and room; too few credits; no room on the other side."""
    account, transfer = generated("transfer.account"), generated("transfer.transfer")
    standing = generated("transfer.standing_order")
    machines = [account.machine, transfer.machine, standing.machine]

    async def play() -> tuple[str, tuple[int, int], int]:
        with deedbox.open(f"sqlite:///{tmp_path / 'accounts.db'}", machines) as box:
            async with deedbox.Worker(box, {transfer.machine: Persons()}) as worker:
                for name, credits in room.items():
                    await worker.start(account.Start(account=name))
                    for part in (credits // 2, credits - credits // 2):
                        if part:
                            loaded = account.Loaded(credits=part)
                            await worker.send(account.machine, name, loaded)
                await worker.start(
                    transfer.Start(
                        order="o", number=1, source="a", target="b", credits=5
                    )
                )
                ended = await worker.wait(transfer.machine, '["o",1]', timeout=20)
                held = [
                    await worker.wait(account.machine, name, phases=["Open"])
                    for name in room
                ]
                while held[0].held:
                    await asyncio.sleep(0.01)
                    found = await worker.get(account.machine, "a")
                    assert found is not None
                    held[0] = found.state
                kept = (held[0].balance, held[1].balance)
                return type(ended).__name__, kept, held[0].held

    assert asyncio.run(play()) == (ends, balances, 0)


def test_a_standing_order_begins_one_transfer_for_each_date(
    generated: Generated,
) -> None:
    """A date that has come begins its transfer under the number of that date."""
    standing = generated("transfer.standing_order")
    start = standing.Start(
        order="o",
        source="a",
        target="b",
        credits=2,
        every=3_600_000,
        times=3,
        at=deedbox.Instant(0),
    )
    state, _ = standing.start(start)
    numbers: list[int] = []
    while type(state).__name__ == "Planned":
        due = deedbox.Due(at=standing.wake(state))
        state, begun = standing.reduce(state, due)
        numbers += [command.number for command in begun]
    assert numbers == [1, 2, 3]
    assert type(state).__name__ == "Complete"
