"""`deedbox migrate STORE MODULE…`: all rows of older versions brought to this one.

The command of a deployment, after the new code is there: rows are migrated when they
are needed anyway, and what nobody asks for stays as it was until this has run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from .errors import StoreRefused
from .machine import Machine
from .opening import open
from .step import AnyMachine


def migrate(url: str, modules: Sequence[str], page: int) -> int:
    """0 when every row is of this version, 1 when some had to be parked."""
    sys.path.insert(0, str(Path.cwd()))
    machines: list[AnyMachine] = []
    for name in modules:
        found = _machine(name)
        if isinstance(found, str):
            print(f"deedbox: {found}", file=sys.stderr)
            return 2
        machines.append(found)
    parked = 0
    try:
        with open(url, machines) as box:
            for machine in machines:
                done = box.migrate(machine, page=page)
                parked += done.parked
                print(
                    f"{machine.name}: {done.rows} rows, {done.migrated} brought to"
                    f" version {machine.version}, {done.parked} parked"
                )
    except StoreRefused as refusal:
        print(f"deedbox: {refusal}", file=sys.stderr)
        return 2
    return 1 if parked else 0


def _machine(name: str) -> AnyMachine | str:
    """The machine of a generated module such as `orders.order`, or why there is none."""
    try:
        module = import_module(name)
    except ImportError as problem:
        return f"{name} cannot be imported: {problem}"
    machine: object = getattr(module, "machine", None)
    if not isinstance(machine, Machine):
        return f"{name} is no generated module: it has no `machine`"
    return machine  # pyright: ignore[reportUnknownVariableType] - of whatever types
