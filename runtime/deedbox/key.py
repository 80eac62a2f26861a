"""The canonical text of an instance's key.

It names the instance in every table and stands in every idempotency key, so it is
part of what is stored: one key has one text, and two keys never share one.
"""

from __future__ import annotations

from msgspec import json


def key_text(*fields: str | int | bool) -> str:
    """The text itself for a key of one text field, else a compact JSON array."""
    if len(fields) == 1 and isinstance(fields[0], str):
        return fields[0]
    return json.encode(fields).decode()
