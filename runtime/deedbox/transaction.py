"""A write transaction of the application's, and who is in one.

What is done in it is durable when its block ends, with the application's own statements.
Inside of it the calls of its box would wait for the block, and the block for them: so it
is known, of each task and thread that comes from the block, that it is inside.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from msgspec import Struct

from .batch import Batch, Desk, Reply, Result, Tell
from .errors import StoreFailed
from .machine import Machine
from .machines import Machines
from .operations import Conflict, Now, Program, Unstorable, ask
from .operations import Transaction as StoreTransaction
from .protocol import inside
from .reading import instance
from .values import Instance, Receipt, Rules

S = TypeVar("S", bound=Struct)
B = TypeVar("B", bound=Struct)
M = TypeVar("M", bound=Struct)
O = TypeVar("O", bound=Struct)  # noqa: E741  the letter that `Machine` uses
C = TypeVar("C", bound=Struct)


class _Block:
    """The block of a transaction of this box; `open`: it has not ended yet."""

    def __init__(self, box: object) -> None:
        self.box = box
        self.open = True


_blocks: ContextVar[tuple[_Block, ...]] = ContextVar("blocks", default=())


@contextmanager
def within(box: object) -> Generator[None]:
    """All that is begun in this block knows that it is."""
    here = _Block(box)
    _blocks.set((*_blocks.get(), here))
    try:
        yield
    finally:
        here.open = False
        _blocks.set(tuple(block for block in _blocks.get() if block is not here))


def is_within(box: object) -> bool:
    """Whether the caller comes from a block of this box that is still open."""
    blocks = _blocks.get()
    return bool(blocks) and any(block.box is box and block.open for block in blocks)


def given(answer: object) -> Receipt:
    """An answer of the writer: the receipt, or what it refused is raised."""
    if isinstance(answer, BaseException):
        raise answer
    return cast("Receipt", answer)


class Transaction:
    """Inside `box.transaction()`: durable when the block ends, not before."""

    def __init__(
        self, machines: Machines, rules: Rules, transaction: StoreTransaction
    ) -> None:
        self._machines = machines
        self._rules = rules
        self._transaction = transaction

    @property
    def connection(self) -> Any:
        """The driver's connection, for your own statements; do not commit on it."""
        return self._transaction.connection

    def start(self, message: Struct, *, message_id: str | None = None) -> Receipt:
        """As `Box.start`, in this transaction."""
        return self._tell(
            lambda reply: self._machines.start(message, message_id, reply)
        )

    def send(
        self,
        machine: Machine[S, B, M, O, C],
        id: str,
        message: M,
        *,
        message_id: str | None = None,
    ) -> Receipt:
        """As `Box.send`, in this transaction."""
        return self._tell(
            lambda reply: self._machines.message(
                machine, id, message, message_id, reply
            )
        )

    def get(self, machine: Machine[S, B, M, O, C], id: str) -> Instance[S] | None:
        """As `Box.get`, with what this transaction has done."""
        codec = self._machines.of(machine)
        found = self._transaction.run(instance(codec, id))
        return cast("Instance[S] | None", found)

    def _tell(self, make: Callable[[Reply], Tell]) -> Receipt:
        answers: list[object] = []
        tell = make(answers.append)
        desk = Desk(self._machines.codecs, self._rules)
        try:
            result = self._transaction.run(_step_inside(desk, Batch(tells=[tell])))
        except (Conflict, Unstorable) as problem:
            raise StoreFailed(str(problem)) from problem
        for reply, answer in result.replies:
            reply(answer)
        return given(answers[0])


def _step_inside(desk: Desk, batch: Batch) -> Program[Result]:
    now = yield from ask(Now())
    return (yield from inside(desk, batch, now))
