"""One step of one instance, without a store: what the interpreter makes of a reducer.

Pure.  It knows the meaning of a step (what is withdrawn, what is owed, when to
wake) and nothing of rows, sessions or time.  The interpreter and the model checker
both go through it, so what is explored is what runs.
"""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from .machine import Machine, Refused

AnyMachine: TypeAlias = Machine[Any, Any, Any, Any, Any]

S = TypeVar("S", bound=Struct)
B = TypeVar("B", bound=Struct)
M = TypeVar("M", bound=Struct)
O = TypeVar("O", bound=Struct)  # noqa: E741  the letter that `Machine` uses
C = TypeVar("C", bound=Struct)


class Step(Struct, Generic[S, C], frozen=True, gc=False):
    """What follows from a message.

    `withdrawn` is the ticket of an issue that is no longer awaited and was not
    answered by this message.  Not `changed`: an equal state and nothing owed, so
    there is nothing to write.
    """

    state: S
    withdrawn: int | None
    owed: tuple[C, ...]
    wake: int | None
    changed: bool


def step(
    machine: Machine[S, B, M, O, C], state: S | None, message: Any
) -> Step[S, C] | Refused:
    """Reduce `message` in `state`; without a state, `message` is a start."""
    if state is None:
        new, owed = machine.start(message)
        return Step(new, None, owed, machine.wake(new), True)
    result = machine.reduce(state, message)
    if isinstance(result, Refused):
        return result
    new, owed = result
    former = machine.awaited(state)
    withdrawn = None
    if (
        former is not None
        and former != getattr(message, "ticket", None)
        and former != machine.awaited(new)
    ):
        withdrawn = former
    changed = bool(owed) or new != state
    return Step(new, withdrawn, owed, machine.wake(new), changed)
