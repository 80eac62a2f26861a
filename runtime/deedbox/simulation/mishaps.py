"""When the faults of a plan happen: at which operation, at which call of a handler."""

from __future__ import annotations

from ..operations import AnyOperation, Commit, Rollback
from .plan import ONLY_COMMIT, Fault, Plan, Trouble


class Mishaps:
    """The faults that are still to come; none come any more when it is `quiet`."""

    def __init__(self, plan: Plan) -> None:
        self.quiet = False
        self._operations = list(plan.operations)
        self._calls = list(plan.calls)
        self._cursed: set[str] = set()

    @property
    def left(self) -> bool:
        return bool(self._operations or self._calls)

    def at_operation(self, number: int, operation: AnyOperation) -> Trouble | None:
        """What goes wrong with the n-th operation."""
        if self.quiet:
            return None
        for index, trouble in enumerate(self._operations):
            if trouble.at > number:
                return None
            if isinstance(operation, Rollback) and trouble.fault is not Fault.FAILS:
                continue
            if trouble.fault in ONLY_COMMIT and not isinstance(operation, Commit):
                continue
            del self._operations[index]
            return trouble
        return None

    def at_call(self, number: int, key: str) -> Trouble | None:
        """What goes wrong with the n-th call; a cursed key kills until the end."""
        if key in self._cursed:
            return Trouble(number, Fault.CURSED, 0)
        if self.quiet or not self._calls or self._calls[0].at > number:
            return None
        trouble = self._calls.pop(0)
        if trouble.fault is Fault.CURSED:
            self._cursed.add(key)
        return trouble
