"""What pytest is told on its command line, or in its configuration.

Loaded by every pytest of a project that has deedbox: it needs nothing but pytest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

import pytest

LIMIT: Final = 1_000_000


def declare(parser: pytest.Parser) -> None:
    group = parser.getgroup("deedbox", "model checking of specs")
    group.addoption(
        "--deed-fault",
        action="append",
        default=[],
        metavar="FAULT",
        help="explore with this fault and no other; may be given again",
    )
    group.addoption(
        "--deed-without",
        action="append",
        default=[],
        metavar="FAULT",
        help="explore without this fault; may be given again",
    )
    group.addoption(
        "--deed-deep",
        action="store_true",
        help="explore two instances beside each other",
    )
    group.addoption(
        "--deed-limit",
        type=int,
        metavar="STATES",
        help=f"a machine with more states fails ({LIMIT:,})",
    )
    group.addoption(
        "--deed-no-cache",
        action="store_true",
        help="explore again what has not changed, and keep nothing",
    )
    group.addoption(
        "--deed-trace",
        type=Path,
        metavar="FILE",
        help="write the run that breaks an item, in the Informal Trace Format",
    )
    group.addoption(
        "--deed-replay",
        metavar="ID",
        help="carry the run of this name out on the interpreter, in memory",
    )
    parser.addini("deed_fault", "as --deed-fault, a fault a line", type="linelist")
    parser.addini("deed_without", "as --deed-without, a fault a line", type="linelist")
    parser.addini("deed_deep", "as --deed-deep", type="bool", default=False)
    parser.addini("deed_limit", "as --deed-limit", default=str(LIMIT))


def chosen(config: pytest.Config, name: str) -> list[str]:
    """What the command line says, or else the file."""
    said = cast("list[str]", config.getoption(f"--deed-{name}"))
    return said or cast("list[str]", config.getini(f"deed_{name}"))


def limit(config: pytest.Config) -> int:
    """How many states a machine may have."""
    said = cast("int | None", config.getoption("--deed-limit"))
    text = cast(str, config.getini("deed_limit")) if said is None else str(said)
    if not text.isdecimal() or int(text) < 1:
        raise pytest.UsageError(f"deed_limit is a number of states, and not {text}")
    return int(text)
