"""How names are written, and how one name is made from another.

Types, states and messages are `PascalCase`; fields, commands, outcomes and
policies are `snake_case`.  A derived name (`charge` + `paid` = `ChargePaid`) is
made by these functions everywhere, so that a collision is found before any
text is generated.
"""

from __future__ import annotations

import re

_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def is_pascal(name: str) -> bool:
    return _PASCAL.fullmatch(name) is not None


def is_snake(name: str) -> bool:
    return _SNAKE.fullmatch(name) is not None


def pascal(name: str) -> str:
    """`page_oncall` -> `PageOncall`; a name that is Pascal already stays as it is."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(name: str) -> str:
    """`PaymentUndoing` -> `payment_undoing`, `HTTPError` -> `http_error`."""
    return "_".join(part for part in _HUMPS.sub("_", name).lower().split("_") if part)


def told(machine: str, message: str | None) -> str:
    """`TellAccountDeposit`; `BeginTransfer` when it is the start of a `Transfer`."""
    return f"Begin{machine}" if message is None else f"Tell{machine}{message}"
