"""Lane A: the worker that most of us have written once.

The ladder is a loop with a sleep in it, the refund is the next line, and a row in
a table says how far the order is.  Nothing here is made to fail: kill the process,
and what it was about to do is gone with it.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Final
from uuid import uuid4

from .account import Account
from .lifeline import die_with_the_parent

WAITS: Final = (2, 4, 8)

CREATE: Final = """
create table if not exists orders (
    id text primary key,
    amount integer not null,
    status text not null,
    attempt integer not null
)
"""
PLACE: Final = "insert into orders values (?, ?, 'new', 0)"
ROWS: Final = "select id, status, attempt from orders order by rowid"
NEW: Final = "select id, amount from orders where status = 'new' order by rowid"
REPORT: Final = "update orders set status = ?, attempt = ? where id = ?"


def connect(path: Path) -> sqlite3.Connection:
    rows = sqlite3.connect(path, isolation_level=None)
    rows.execute("pragma journal_mode = wal")
    rows.execute(CREATE)
    return rows


def fulfil(path: Path, account: Account, order: str, amount: int) -> None:
    """Take the payment, reserve the stock, settle; give the money back if we cannot."""
    rows = connect(path)

    def report(status: str, attempt: int) -> None:
        rows.execute(REPORT, (status, attempt, order))

    def ask(verb: str, ref: str = "") -> tuple[str, str]:
        key = uuid4().hex
        answer = account.ask(verb, key=key, order=order, amount=amount, ref=ref)
        return answer.outcome, answer.ref

    attempt = 1
    report("charging", attempt)
    outcome, payment = ask("charge")
    while outcome == "declined":
        if attempt > len(WAITS):
            report("declined", attempt)
            return
        report("retrying", attempt)
        time.sleep(WAITS[attempt - 1])
        attempt += 1
        outcome, payment = ask("charge")

    report("reserving", attempt)
    outcome, _ = ask("reserve")
    if outcome == "sold_out":
        report("refunding", attempt)
        ask("refund", payment)
        report("refunded", attempt)
        return

    report("settling", attempt)
    ask("settle", payment)
    report("settled", attempt)


def main(arguments: list[str]) -> None:
    path, port = Path(arguments[0]), int(arguments[1])
    die_with_the_parent()
    account = Account(port, "A")
    rows = connect(path)
    taken: set[str] = set()
    while True:
        for order, amount in rows.execute(NEW).fetchall():
            if order not in taken:
                taken.add(order)
                work = (path, account, order, amount)
                Thread(target=fulfil, args=work, daemon=True).start()
        time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1:])
