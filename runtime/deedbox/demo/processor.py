"""A card processor with a warehouse behind it, for the demo: the far side.

It runs as a process of its own, on a loopback port that the kernel chooses, and
keeps one ledger row for each idempotency key in its own SQLite file.  It knows
nothing of the lanes that call it.

The rule: one key, one answer, negative answers included.  An answer is in the
ledger before it is sent.
"""

from __future__ import annotations

import json
import select
import socket
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Lock
from typing import Final

import msgspec

from .lifeline import die_with_the_parent

CREATE: Final = """
create table if not exists ledger (
    shop text not null,
    key text not null,
    verb text not null,
    order_id text not null,
    amount integer not null,
    outcome text not null,
    answer text not null,
    at integer not null,
    primary key (shop, key)
)
"""
KNOWN: Final = "select answer from ledger where shop = ? and key = ?"
DECLINED: Final = """
select count(*) from ledger
where shop = ? and order_id = ? and verb = 'charge' and outcome = 'declined'
"""
WRITE: Final = "insert into ledger values (?, ?, ?, ?, ?, ?, ?, ?)"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a shop asks for; `deed` is the key of the charge that a refund undoes."""

    shop: str
    verb: str
    key: str
    order: str
    amount: int = 0
    ref: str | None = None
    deed: str = ""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    outcome: str
    ref: str = ""
    reason: str = ""
    at: int = 0


class Character(msgspec.Struct, frozen=True):
    """How this processor behaves: what is set when it starts."""

    declines: dict[str, int]
    sold_out: frozenset[str]
    hold_refunds: bool


class Ledger:
    """All keys that were ever answered.  One lock makes decisions serial."""

    def __init__(self, path: Path, character: Character) -> None:
        self._character = character
        self._lock = Lock()
        self._rows = sqlite3.connect(
            path, check_same_thread=False, isolation_level=None
        )
        self._rows.execute("pragma journal_mode = wal")
        self._rows.execute(CREATE)

    def answer(self, request: Request) -> Answer:
        with self._lock:
            known = self._known(request.shop, request.key)
            if known is not None:
                return known
            answer = self._decide(request)
            self._write(request, answer)
            return answer

    def _decide(self, request: Request) -> Answer:
        now = time.time_ns() // 1_000_000
        match request.verb:
            case "charge":
                so_far = self._rows.execute(DECLINED, (request.shop, request.order))
                if so_far.fetchone()[0] < self._character.declines.get(
                    request.order, 0
                ):
                    return Answer("declined", reason="try again later", at=now)
                return Answer("paid", ref=f"pay-{request.order}", at=now)
            case "refund":
                if request.deed and self._known(request.shop, request.deed) is None:
                    void = msgspec.structs.replace(
                        request, verb="charge", key=request.deed
                    )
                    self._write(void, Answer("declined", reason="void", at=now))
                return Answer("refunded", at=now)
            case "reserve" if request.order in self._character.sold_out:
                return Answer("sold_out", at=now)
            case "reserve":
                return Answer("reserved", ref=f"hold-{request.order}", at=now)
            case "release":
                return Answer("released", at=now)
            case "settle":
                return Answer("settled", at=now)
            case verb:
                raise ValueError(f"this processor cannot {verb!r}")

    def _known(self, shop: str, key: str) -> Answer | None:
        row = self._rows.execute(KNOWN, (shop, key)).fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=Answer)

    def _write(self, request: Request, answer: Answer) -> None:
        row = (
            request.shop,
            request.key,
            request.verb,
            request.order,
            request.amount,
            answer.outcome,
            msgspec.json.encode(answer).decode(),
            answer.at,
        )
        self._rows.execute(WRITE, row)


class Gate:
    """Holds refunds, not yet acted on, until it is opened or the caller is gone."""

    def __init__(self, *, closed: bool) -> None:
        self._closed = closed
        self._changed = Condition()
        self._held: list[str] = []

    def held(self) -> list[str]:
        with self._changed:
            return sorted(self._held)

    def open(self) -> None:
        with self._changed:
            self._closed = False
            self._changed.notify_all()

    def passed(self, shop: str, caller: socket.socket) -> bool:
        """True when the caller is still there at the time the gate is open."""
        with self._changed:
            self._held.append(shop)
            try:
                while self._closed and not hung_up(caller):
                    self._changed.wait(timeout=0.05)
            finally:
                self._held.remove(shop)
            return not hung_up(caller)


def hung_up(caller: socket.socket) -> bool:
    readable, _, _ = select.select([caller], [], [], 0)
    return bool(readable) and caller.recv(1, socket.MSG_PEEK) == b""


def serve(ledger: Ledger, gate: Gate) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(json.dumps(gate.held()).encode())

        def do_POST(self) -> None:
            if self.path == "/open":
                gate.open()
                self._send(b"true")
                return
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = msgspec.json.decode(body, type=Request)
            if request.verb == "refund" and not gate.passed(
                request.shop, self.connection
            ):
                return
            self._send(msgspec.json.encode(ledger.answer(request)))

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: standard error belongs to the demo."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def main(arguments: list[str]) -> None:
    """Print the port, then serve until the parent is gone."""
    path, character = arguments
    die_with_the_parent()
    known = msgspec.json.decode(character, type=Character)
    server = serve(Ledger(Path(path), known), Gate(closed=known.hold_refunds))
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
