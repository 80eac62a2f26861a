"""A shop's account at the processor: how both lanes call it.

A call that gets no answer raises `NoAnswer`: nobody knows whether it took effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException

import msgspec

from .processor import Answer, Request


class NoAnswer(Exception):
    """The processor did not answer."""


@dataclass(frozen=True, slots=True)
class Account:
    """One shop at one processor."""

    port: int
    shop: str

    def ask(
        self,
        verb: str,
        *,
        key: str,
        order: str,
        amount: int = 0,
        ref: str | None = None,
        deed: str = "",
    ) -> Answer:
        request = Request(
            shop=self.shop,
            verb=verb,
            key=key,
            order=order,
            amount=amount,
            ref=ref,
            deed=deed,
        )
        reply = exchange(self.port, "POST", "/", msgspec.json.encode(request))
        return msgspec.json.decode(reply, type=Answer)


def exchange(port: int, method: str, path: str, body: bytes = b"") -> bytes:
    connection = HTTPConnection("127.0.0.1", port)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        reply = response.read()
    except (OSError, HTTPException) as error:
        raise NoAnswer(str(error)) from error
    finally:
        connection.close()
    if response.status != 200:
        raise NoAnswer(f"status {response.status}")
    return reply
