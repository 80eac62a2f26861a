"""A process over a store that can lose its power at any operation, without a thread.

It runs the interpreter's own writer turn after turn; its handlers do nothing and
succeed.  What was running when the power went hears nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from deedbox import Rules
from deedbox.batch import Answered, Held
from deedbox.machines import Machines
from deedbox.operations import Commit, Key, Program, Rollback, Store
from deedbox.step import AnyMachine
from deedbox.testing import FakeClock
from deedbox.writer import Serve, Writer


class PowerCut(Exception):
    """Nothing runs any more."""


class Process:
    """One worker process, whose power lasts for so many operations (None: for ever).

    `commits`: when the last of them is a commit, it is made, and nobody hears of it.
    """

    def __init__(
        self,
        store: Store,
        machines: Iterable[AnyMachine],
        clock: FakeClock,
        *,
        power: int | None = None,
        commits: bool = False,
        rules: Rules | None = None,
    ) -> None:
        self.machines = Machines(machines)
        store.register(codec.machine for codec in self.machines.codecs.values())
        codecs = self.machines.codecs
        self.writer = Writer(store, codecs, rules or Rules(), clock, peers=False)
        self.handled: list[str] = []
        self._store = store
        self._power = power
        self._commits = commits
        self._held: list[Held] = []
        room = {
            (name, command): 8
            for name, codec in codecs.items()
            for command in codec.commands
        }
        self.writer.submit(Serve(self, room))

    def deliver(self, started: list[Held], ended: Iterable[Key]) -> None:
        gone = set(ended)
        self._held = [held for held in self._held if held.key not in gone]
        self._held += started

    def flush(self) -> None:
        """`run` starts the handlers, when the turn has ended."""

    def run(self) -> None:
        """Turn after turn, until nothing is to be done before a deadline."""
        while True:
            wait = self._store.run(self._powered(self.writer.turn()))
            handled, self._held = self._held, []
            for held in handled:
                self.handled.append(held.type.name)
                self.writer.submit(Answered(held.key, None))
            if not self.writer.queued and wait != 0:
                return

    def _powered(self, program: Program[int | None]) -> Program[int | None]:
        try:
            operation = next(program)
            while True:
                if self._power is not None:
                    self._power -= 1
                    if self._power <= 0:
                        last = isinstance(operation, Commit) and self._commits
                        yield operation if last else Rollback()
                        raise PowerCut
                try:
                    answer = yield operation
                except Exception as problem:
                    operation = program.throw(problem)
                else:
                    operation = program.send(answer)
        except StopIteration as end:
            result: int | None = end.value
            return result
