"""A store in which things go wrong as a test says, and one that is held to the laws.

Both stand before a real store and perform every operation on it that they let through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TypeAlias, TypeVar, cast

from msgspec import Struct

from ..operations import AnyOperation, Program, Store, Transaction
from ..step import AnyMachine
from .laws import Laws

T = TypeVar("T")


class Fault(Struct):
    """What goes wrong at an operation: `problem` is raised, after `instead` was done."""

    problem: Exception
    instead: AnyOperation | None = None


Faults: TypeAlias = Callable[[AnyOperation], "Fault | None"]


def tampered(program: Program[T], faults: Faults) -> Program[T]:
    """The same program over a store in which things go wrong."""
    try:
        operation = next(program)
        while True:
            fault = faults(operation)
            try:
                if fault is None:
                    answer = yield operation
                else:
                    if fault.instead is not None:
                        yield fault.instead
                    raise fault.problem
            except Exception as problem:
                operation = program.throw(problem)
            else:
                operation = program.send(answer)
    except StopIteration as end:
        return cast("T", end.value)


class Watched:
    """A store that checks the laws after each turn of a writer.

    `faults`, when it is set, decides what goes wrong; `seen` are all operations of
    the writer, in their order.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.broken: list[str] = []
        self.seen: list[AnyOperation] = []
        self.faults: Faults | None = None
        self._laws: Laws | None = None

    def watch(self, laws: Laws) -> None:
        self._laws = laws

    def _see(self, operation: AnyOperation) -> Fault | None:
        self.seen.append(operation)
        return None if self.faults is None else self.faults(operation)

    def register(self, machines: Iterable[AnyMachine]) -> None:
        self.store.register(machines)

    def run(self, program: Program[T]) -> T:
        seen = len(self.seen)
        result = self.store.run(tampered(program, self._see))
        if self._laws is not None and len(self.seen) > seen:
            self.broken.extend(self._laws.broken(self.store))
        return result

    def read(self, program: Program[T]) -> T:
        return self.store.read(program)

    def transaction(self) -> AbstractContextManager[Transaction]:
        return self.store.transaction()

    def changed(self, epoch: int) -> bool:
        return self.store.changed(epoch)

    def close(self) -> None:
        self.store.close()
