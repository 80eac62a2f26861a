"""SIGKILL at each of the seven points of a command's life, for a charge and a refund.

The second charge of a purchase and its second refund are the ones struck: both are
on a ladder, and both must survive.  A run is: a worker process that dies at the
point, then a fresh one with the same arguments that comes to the end.  The end must
be that of a run which nobody killed (OS-09, OS-10, OS-13).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import deedbox
import pytest
from deedbox import Rules
from deedbox.testing import Laws
from far_side import Side, counts
from purchases import purchase

Verb: TypeAlias = Literal["charge", "refund"]
VERBS: Final[tuple[Verb, ...]] = ("charge", "refund")

HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Inside:
    """Killed by a fail point of the interpreter, at its n-th hit for each verb."""

    name: str
    hits: dict[Verb, int]


@dataclass(frozen=True, slots=True)
class Handler:
    """Killed in the handler, on one side of the far side's act."""

    side: Side


@dataclass(frozen=True, slots=True)
class Outside:
    """Killed by somebody else, once the wait before the second asking is stored.

    Its clock stands still then, so that the wait is not over before it is seen.
    """


Kill: TypeAlias = Inside | Handler | Outside


@dataclass(frozen=True, slots=True)
class Point:
    """Where it dies; which phase is then stored; how often the far side has acted."""

    kill: Kill
    stored: Literal["waits", "asks"]
    acted: int


POINTS: Final = {
    "before the save": Point(
        Inside("before_save", {"charge": 3, "refund": 7}), "waits", 1
    ),
    "after the save, before the command": Point(
        Inside("after_save", {"charge": 3, "refund": 7}), "asks", 1
    ),
    "during the command, before the other side acted": Point(
        Handler("before"), "asks", 1
    ),
    "after the other side acted, before its answer": Point(Handler("after"), "asks", 2),
    "after the answer, before the save": Point(
        Inside("answer_before_save", {"charge": 2, "refund": 5}), "asks", 2
    ),
    "during the wait": Point(Outside(), "waits", 1),
    "between the wake and the save": Point(
        Inside("wake_before_save", {"charge": 1, "refund": 2}), "waits", 1
    ),
}
PHASES: Final = {
    ("charge", "waits"): "PaymentBackoff",
    ("charge", "asks"): "PaymentRunning",
    ("refund", "waits"): "PaymentUndoBackoff",
    ("refund", "asks"): "PaymentUndoing",
}

ENDS: Final[dict[Verb, str]] = {"charge": "Settled", "refund": "Refunded"}
LEDGER: Final[dict[Verb, dict[str, int]]] = {
    "charge": {"charge.declined": 1, "charge.paid": 1, "reserve.reserved": 1},
    "refund": {
        "charge.declined": 1,
        "charge.paid": 1,
        "reserve.sold_out": 1,
        "refund.failed": 1,
        "refund.refunded": 1,
    },
}


@dataclass(frozen=True, slots=True)
class Run:
    """The files of one purchase that goes as far as the verb asks."""

    folder: Path
    verb: Verb

    @property
    def store(self) -> str:
        return f"sqlite:///{self.folder / 'purchases.db'}"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"

    def work(self, kill: Kill | None = None) -> int:
        """A worker process from its start to its end; how it ended."""
        environment = {**os.environ, "PYTHONPATH": str(HERE)}
        sold_out = "sold_out" if self.verb == "refund" else "in_stock"
        arguments = [str(HERE / "worker.py"), self.store, str(self.ledger), sold_out]
        match kill:
            case Inside(name, hits):
                environment["DEEDBOX_FAILPOINT"] = f"{name}:{hits[self.verb]}"
            case Handler(side):
                arguments += [self.verb, side]
            case Outside():
                arguments += [self.verb, "waits"]
            case None:
                pass
        child = subprocess.Popen(
            [sys.executable, *arguments],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        if isinstance(kill, Outside):
            self.until_it_waits(child)
            child.kill()
        _, said = child.communicate()
        assert child.returncode in (0, -signal.SIGKILL), said
        return child.returncode

    def until_it_waits(self, child: subprocess.Popen[str]) -> None:
        while child.poll() is None and self.phase() != PHASES[self.verb, "waits"]:
            time.sleep(0.01)

    def phase(self) -> str | None:
        with deedbox.open(self.store, [purchase.machine]) as box:
            instance = box.get(purchase.machine, "p-1")
        return None if instance is None else type(instance.state).__name__

    def broken(self, laws: Laws) -> list[str]:
        """What of I1 to I8 does not hold in the store."""
        with deedbox.open(self.store, [purchase.machine]) as box:
            return laws.broken(box.store)

    def seen(self) -> tuple[str | None, dict[str, int]]:
        """The stored phase, and how many keys ended with each outcome."""
        return self.phase(), counts(self.ledger)


@pytest.mark.parametrize("verb", VERBS)
def test_a_run_without_a_kill(tmp_path: Path, verb: Verb) -> None:
    run = Run(tmp_path, verb)
    assert run.work() == 0
    assert run.seen() == (ENDS[verb], LEDGER[verb])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS.keys())
def test_a_kill_changes_nothing_of_the_end(
    tmp_path: Path, verb: Verb, point: Point
) -> None:
    run = Run(tmp_path, verb)
    assert run.work(point.kill) == -signal.SIGKILL
    laws = Laws([purchase.machine], Rules())
    assert run.broken(laws) == []
    phase, ledger = run.seen()
    acted = sum(ledger[one] for one in ledger if one.startswith(verb))
    assert (phase, acted) == (PHASES[verb, point.stored], point.acted)

    assert run.work() == 0
    assert run.broken(laws) == []
    assert run.seen() == (ENDS[verb], LEDGER[verb])
