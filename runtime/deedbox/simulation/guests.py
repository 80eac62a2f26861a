"""A transaction of the caller's in a simulated process: `box.transaction()` as it is.

Nothing else runs within it, as the write lock has it.  Each of its operations, and its
commit, is numbered with all others, and is a point to fail or to die.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import StoreFailed
from ..operations import AnyOperation, Commit, Program, Transaction, ask
from ..stores.driver import drive
from .plan import Fault

if TYPE_CHECKING:
    from .process import Process

T = TypeVar("T")


class Killed(BaseException):
    """The process dies in a transaction of the caller's; no block may catch that."""


class Guest:
    """The transaction, as the caller has it."""

    def __init__(self, process: Process, inner: Transaction) -> None:
        self._process = process
        self._inner = inner

    @property
    def connection(self) -> Any:
        return self._inner.connection

    def run(self, program: Program[T]) -> T:
        return drive(program, self._perform)

    def _perform(self, operation: AnyOperation) -> object:
        fault = self.meets(operation)
        if fault is Fault.FAILS:
            raise StoreFailed(fault.value)
        if fault is Fault.DIES:
            raise Killed
        answer = self._process.world.answer(
            self._process, operation, lambda each: self._inner.run(ask(each))
        )
        if fault is Fault.DIES_AFTER:
            raise Killed
        return answer

    def meets(self, operation: AnyOperation) -> Fault | None:
        """What goes wrong with an operation; what takes time, takes none in here."""
        world, name = self._process.world, self._process.name
        world.operations += 1
        world.note(name, operation)
        trouble = world.mishaps.at_operation(world.operations, operation)
        if trouble is None:
            return None
        world.note(name, f"{trouble.fault.name}: {trouble.fault.value}")
        return trouble.fault


@contextmanager
def inside(process: Process) -> Generator[Guest]:
    """A write transaction, from its begin to its commit or rollback."""
    world = process.world
    if world.holder is not None:
        raise StoreFailed("the write lock is held")
    world.transactions += 1
    with process.store.transaction() as transaction:
        guest = Guest(process, transaction)
        yield guest
        fault = guest.meets(Commit())
        if fault in (Fault.FAILS, Fault.NOT_COMMITTED):
            raise StoreFailed(fault.value)
        if fault is Fault.DIES:
            raise Killed
    world.after_commit(process)
    if fault is Fault.COMMITTED:
        raise StoreFailed(fault.value)
    if fault is Fault.DIES_AFTER:
        raise Killed
