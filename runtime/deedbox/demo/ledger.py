"""The end of the demo: what the processor's ledger and the two stores say.

The rule: the verdict comes from the ledger and the stored rows alone, and the demo
succeeds only when both lanes ended as told.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .picture import Lane

CHARGED: Final = """
select count(*), coalesce(sum(amount), 0) from ledger
where shop = ? and order_id = ? and verb = 'charge' and outcome = 'paid'
"""
REFUNDED: Final = """
select count(*) from ledger
where shop = ? and order_id = ? and verb = 'refund' and outcome = 'refunded'
"""
KEYS: Final = """
select verb, outcome, key from ledger
where shop = ? and verb in ('charge', 'refund') order by rowid
"""


@dataclass(frozen=True, slots=True)
class Account:
    """One order of one shop: its stored status, and its keys in the ledger."""

    shop: str
    order: str
    status: str
    charges: int
    refunds: int
    amount: int

    def meaning(self) -> str:
        match self.status, self.charges, self.refunds:
            case "Settled" | "settled", 1, 0:
                return "paid once, on its way"
            case "Refunded" | "refunded", 1, 1:
                return "paid once, paid back once"
            case _, 0, 0:
                return "ordered, and nobody tries again"
            case _, charges, 0:
                return (
                    f"{charges * self.amount / 100:.2f} gone, and nobody pays it back"
                )
            case _, charges, refunds:
                return f"{charges} charges, {refunds} refunds"


EXPECTED: Final = {
    ("A", "mug"): ("retrying", 0, 0),
    ("A", "lamp"): ("refunding", 1, 0),
    ("B", "mug"): ("Settled", 1, 0),
    ("B", "lamp"): ("Refunded", 1, 1),
}


def accounts(path: Path, lanes: tuple[Lane, Lane]) -> list[Account]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as rows:
        found: list[Account] = []
        for shop, lane in zip("AB", lanes, strict=True):
            for row in lane.rows:
                charges, amount = rows.execute(CHARGED, (shop, row.order)).fetchone()
                (refunds,) = rows.execute(REFUNDED, (shop, row.order)).fetchone()
                account = Account(shop, row.order, row.status, charges, refunds, amount)
                found.append(account)
        return found


def as_told(found: list[Account]) -> bool:
    ends = {
        (one.shop, one.order): (one.status, one.charges, one.refunds) for one in found
    }
    return ends == EXPECTED


def table(path: Path, found: list[Account]) -> list[str]:
    """The lines under which the demo ends."""
    lines = [
        "The processor's ledger, by key, beside what each store says:",
        f"  {'lane':5}{'order':7}{'stored status':15}{'charges':>8}{'refunds':>8}   the customer",
    ]
    lines += [
        f"  {one.shop:5}{one.order:7}{one.status:15}{one.charges:8}{one.refunds:8}   {one.meaning()}"
        for one in found
    ]
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as rows:
        lines.append("Lane B's keys:")
        lines += [
            f"  {verb:7}{outcome:9} {key}"
            for verb, outcome, key in rows.execute(KEYS, ("B",))
        ]
    return lines
