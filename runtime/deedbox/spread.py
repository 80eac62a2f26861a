"""The delay that one asking really waits: its ladder's delay, less a part that its seed decides.

Retries of many instances must not fall on one moment, and a replay must give the
delay it gave before.  So the part comes from a hash of saved data and from nothing
else: never from a clock, a random source, or Python's own salted `hash`.
The result is never later than the ladder says, and a full spread is never zero.
"""

from __future__ import annotations

from hashlib import sha256
from struct import Struct
from typing import Final, Literal

from .machine import Duration

FIRST: Final = Struct(">Q")
"""The first eight bytes, big-endian."""


def spread(delay: int, jitter: int | Literal["full"], seed: str) -> Duration:
    """`delay`, shortened by up to `jitter` percent, or by anything short of all of it.

    All in milliseconds.  `seed` is `machine/id/born/ticket`; its UTF-8 bytes are hashed with SHA-256, and
    the first eight bytes of the digest, big-endian, choose the part.
    """
    width = delay if jitter == "full" else delay * jitter // 100 + 1
    if width <= 1:
        return Duration(delay)
    chosen: int = FIRST.unpack_from(sha256(seed.encode()).digest())[0]
    return Duration(delay - chosen % width)
