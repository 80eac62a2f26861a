"""The one loop that runs a part of the protocol against a store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from ..operations import AnyOperation, Program

T = TypeVar("T")


def drive(program: Program[T], perform: Callable[[AnyOperation], object]) -> T:
    """Perform each operation; a failure is raised where the program asked for it."""
    try:
        operation = next(program)
        while True:
            try:
                answer = perform(operation)
            except Exception as problem:
                operation = program.throw(problem)
            else:
                operation = program.send(answer)
    except StopIteration as end:
        return cast("T", end.value)
