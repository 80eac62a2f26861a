"""A child's standard input is its lifeline: when the parent is gone, so is the child.

This holds even when the parent was killed and could run nothing.
"""

from __future__ import annotations

import os
import sys
from threading import Thread


def die_with_the_parent() -> None:
    def watch() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        os._exit(1)

    Thread(target=watch, daemon=True).start()
