"""What the commands of the checker have in common on their command lines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Protocol

from ..environment.labels import FAULTS


class Commands(Protocol):
    """What argparse calls subparsers."""

    def add_parser(self, name: str, /, *, help: str) -> argparse.ArgumentParser: ...


def add_without(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument(
        "--without", action="append", default=[], choices=tuple(FAULTS), help=help
    )


def add_paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="spec files or folders of them (default: specs/ in the project)",
    )


def positive(text: str) -> int:
    """A number of things, of which there is at least one."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number
