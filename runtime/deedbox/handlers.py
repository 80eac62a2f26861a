"""Which handler serves which command, found once, before anything is served.

Every command has its method, or the worker does not open; what machines tell each other
has none, and needs the machine that is told.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from .box import Box
from .errors import (
    MissingHandlers,
    MissingMachines,
)
from .operations import Name
from .step import AnyMachine


class Handler(Struct, frozen=True):
    """How one command is called: on the loop, or in a thread."""

    call: Callable[[Any], Any]
    on_loop: bool


def told(box: Box) -> list[Name]:
    """What the machines of the box tell each other, as the names of commands."""
    codecs = box.machines.codecs
    pairs = [
        (codec.name, name, target)
        for codec in codecs.values()
        for name, target in codec.targets.items()
    ]
    missing = [f"{name} tells {to}" for name, _, to in pairs if to not in codecs]
    if missing:
        raise MissingMachines("; ".join(missing))
    return [(machine, name) for machine, name, _ in pairs]


def found(
    handlers: Mapping[AnyMachine, object], only: Collection[str] | None
) -> dict[Name, Handler]:
    """The method of each served command."""
    served: dict[Name, Handler] = {}
    missing: list[str] = []
    known: set[str] = set()
    for machine, methods in handlers.items():
        for command in machine.commands:
            name = f"{machine.name}.{command.name}"
            known.add(name)
            if only is not None and name not in only:
                continue
            call = getattr(methods, command.name, None)
            if not callable(call):
                missing.append(
                    f"{type(methods).__name__} lacks {command.name} of {name}"
                )
                continue
            served[machine.name, command.name] = Handler(
                call, inspect.iscoroutinefunction(call)
            )
    missing.extend(
        f"there is no command {name}" for name in sorted(set(only or ()) - known)
    )
    if missing:
        raise MissingHandlers("; ".join(missing))
    return served
