"""What the commands of the checker have in common on their command lines."""

from __future__ import annotations

import argparse
from typing import Protocol

from ..environment.labels import FAULTS


class Commands(Protocol):
    """What argparse calls subparsers."""

    def add_parser(self, name: str, /, *, help: str) -> argparse.ArgumentParser: ...


def add_without(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument(
        "--without", action="append", default=[], choices=tuple(FAULTS), help=help
    )
