"""What a user's type checker says about generated code, and about code against it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HANDLERS = '''
from collections.abc import Awaitable

from deedbox import Instant
from orders import order
from orders.types import HoldId, OrderId, PaymentRef


class Hands:
    """Plain and async handlers mixed, each with the answers of its command."""

    def charge(self, cmd: order.Charge, /) -> order.ChargeOutcome:
        return order.ChargePaid(ref=PaymentRef(cmd.idempotency_key))

    async def refund(self, cmd: order.Refund, /) -> order.RefundOutcome:
        return order.RefundRefunded()

    def reserve(self, cmd: order.Reserve, /) -> order.ReserveSoldOut:
        return order.ReserveSoldOut()

    def release(self, cmd: order.Release, /) -> order.ReleaseOutcome:
        return order.ReleaseFailed(error="busy")

    def settle(self, cmd: order.Settle, /) -> Awaitable[order.SettleOutcome]:
        raise NotImplementedError

    def page_oncall(self, cmd: order.PageOncall, /) -> None:
        return None


fits: order.Handlers = Hands()
'''
WRONG = HANDLERS.replace(
    '-> order.ReleaseOutcome:\n        return order.ReleaseFailed(error="busy")',
    '-> order.ChargeOutcome:\n        return order.ChargeDeclined(reason="busy")',
)
MIXED = """
from deedbox import Instant
from orders import order
from orders.types import HoldId, OrderId, PaymentRef

order.ChargePaid(ref=HoldId("h"))
order.Start(order="plain text", amount=1, lines=())
"""


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The errors of mypy in each file of one folder."""
    folder = tmp_path_factory.mktemp("typed")
    for name in ("orders", "lease"):
        shutil.copytree(
            ROOT / "tests" / "replay" / name,
            folder / name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    lease = folder / "lease" / "lease.py"
    whole = lease.read_text("utf-8")
    lease.write_text(
        whole.replace(
            '        case Acquire():  # lease.deed:44\n            return Refused("rejected", "already held")\n',
            "",
        )
    )
    assert lease.read_text("utf-8") != whole
    for name, text in (("fits", HANDLERS), ("wrong", WRONG), ("mixed", MIXED)):
        (folder / f"{name}.py").write_text(text)
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-incremental"),
            *("--config-file=", "--no-error-summary", "."),
        ],
        cwd=folder,
        env={"MYPYPATH": str(ROOT / "runtime"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    found: dict[str, list[str]] = {}
    for line in ran.stdout.splitlines():
        if ": error: " in line:
            file, _, text = line.partition(":")
            found.setdefault(file, []).append(text)
    return found


def test_handlers_plain_and_async_fit_the_protocol(
    complaints: dict[str, list[str]],
) -> None:
    assert "fits.py" not in complaints
    assert not any(file.startswith("orders/") for file in complaints)


def test_a_handler_with_an_answer_of_another_command_does_not_fit(
    complaints: dict[str, list[str]],
) -> None:
    (complaint,) = complaints["wrong.py"]
    assert "Hands" in complaint
    assert "Handlers" in complaint


def test_ids_of_different_types_do_not_mix(complaints: dict[str, list[str]]) -> None:
    one, other = complaints["mixed.py"]
    assert '"HoldId"; expected "PaymentRef"' in one
    assert '"str"; expected "OrderId"' in other


def test_a_reducer_that_forgets_a_message_names_it(
    complaints: dict[str, list[str]],
) -> None:
    (complaint,) = complaints["lease/lease.py"]
    assert '"_late" has incompatible type "Acquire |' in complaint
