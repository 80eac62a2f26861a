"""What a scan owes: every record in a pass, none twice, and no page read for nothing.

Property 11.  A pass begins with a page from the beginning of the list and ends with
the first that showed no record beyond itself.  What is due on a page must be taken in
hand one after the other, each with an issue of its own; the cursor stands behind what
was consumed, and goes back only where the pass is given up.  At its end a pass is held
against the list as it was meanwhile (`Lists`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from msgspec import Struct

from ..codec import Codec
from ..machine import ScanRoles
from .lists import Lists, Records, by
from .seen import Step


class Pass(Struct):
    """`hand`: the record at hand and those of its page still to come.

    `cursor`: behind which the next page is read.  `read`: the versions of the list of
    which pages were taken.  `at`: when the first page came.
    """

    cursor: str | None = None
    hand: Records = ()
    taken: list[str] = []
    read: list[int] = []
    at: int = 0
    last: bool = False


class Scans:
    """Follows the passes of all scans of a run."""

    def __init__(self, lists: Lists, say: Callable[[str], None]) -> None:
        self._lists = lists
        self._say = say
        self._passes: dict[tuple[str, str], Pass] = {}

    def stepped(self, codec: Codec, step: Step) -> None:
        roles = codec.machine.scan
        if roles is None:
            return
        name = step.machine, step.id
        if step.before is None or isinstance(step.message, codec.machine.start_type):
            self._passes[name] = Pass()
        for said in self._follow(codec, roles, self._passes[name], step):
            self._say(f"{step.machine} {step.id}: {said}, by {step.message}")

    def _follow(
        self, codec: Codec, roles: ScanRoles, passing: Pass, step: Step
    ) -> Iterator[str]:
        if isinstance(step.message, roles.page) and step.answers is not None:
            self._page(roles, passing, step)
            yield from self._first(codec, roles, passing, step)
        else:
            yield from self._next(codec, roles, passing, step)
        if not passing.hand and passing.last:
            yield from self._over(step, roles, passing)
        yield from self._stands(codec, roles, passing, step)
        fetch = codec.commands[roles.fetch].struct
        for command in step.owed:
            if isinstance(command, fetch):
                yield from self._asks(roles, passing, command)

    def _page(self, roles: ScanRoles, passing: Pass, step: Step) -> None:
        """A page has come: what is due on it is taken in hand, the others passed over."""
        at = cast(int, getattr(step.message, "at"))  # noqa: B009
        records = cast(Records, getattr(step.message, roles.listed))
        consumed = records[: roles.size]
        passing.last = len(records) <= roles.size
        if not passing.read:
            passing.at = at
        passing.read.append(self._lists.read[step.answers or ""])
        passing.hand = tuple(each for each in consumed if _is_due(roles, each, at))
        passing.cursor = None if passing.last else by(roles, consumed[-1])

    def _first(
        self, codec: Codec, roles: ScanRoles, passing: Pass, step: Step
    ) -> Iterator[str]:
        if not passing.hand:
            if _hand(roles, step.after):
                yield "nothing is due on the page, and something is taken"
            return
        if _hand(roles, step.after) != passing.hand:
            yield f"due on the page is {passing.hand}, and it is {step.after}"
        yield from self._takes(codec, roles, passing, step)

    def _next(
        self, codec: Codec, roles: ScanRoles, passing: Pass, step: Step
    ) -> Iterator[str]:
        """The record at hand stays at hand, or the next one is."""
        if not passing.hand:
            return
        hand = _hand(roles, step.after)
        if hand == passing.hand:
            return
        if hand != passing.hand[1:]:
            yield f"behind {passing.hand[0]} comes {passing.hand[1:]}, not {hand}"
        passing.hand = hand
        if hand:
            yield from self._takes(codec, roles, passing, step)

    def _takes(
        self, codec: Codec, roles: ScanRoles, passing: Pass, step: Step
    ) -> Iterator[str]:
        """A record is at hand for the first time: once in a pass, with an issue."""
        name = by(roles, passing.hand[0])
        if passing.taken and name <= passing.taken[-1]:
            yield f"{name} is taken after {passing.taken[-1]}"
        passing.taken.append(name)
        fetch = codec.commands[roles.fetch].struct
        if not any(not isinstance(command, fetch) for command in step.owed):
            yield f"{name} is taken, and nothing is asked for it"

    def _stands(
        self, codec: Codec, roles: ScanRoles, passing: Pass, step: Step
    ) -> Iterator[str]:
        """The cursor of the state; a fetch that is given up may go back to the beginning."""
        if not hasattr(step.after, roles.cursor):
            return
        cursor = cast("str | None", getattr(step.after, roles.cursor))
        if cursor == passing.cursor:
            return
        machine = codec.machine
        gives_up = (
            cursor is None
            and step.before is not None
            and hasattr(step.before, roles.cursor)
            and machine.awaited(step.before) is not None
            and machine.awaited(step.after) is None
        )
        if not gives_up:
            yield f"the cursor is {cursor}, consumed is up to {passing.cursor}"
        _begin(passing)

    def _asks(self, roles: ScanRoles, passing: Pass, command: Struct) -> Iterator[str]:
        after = cast("str | None", getattr(command, roles.cursor))
        limit = cast(int, getattr(command, roles.limit))
        if after != passing.cursor:
            yield f"what is behind {after} is asked for, not behind {passing.cursor}"
        if limit != roles.size + 1:
            yield f"{limit} records are asked for, a page is {roles.size}"

    def _over(self, step: Step, roles: ScanRoles, passing: Pass) -> Iterator[str]:
        """At the end of a pass: what stood in the list all the while was taken."""
        versions = self._lists.versions[f"{step.machine}/{step.id}"]
        first, last = min(passing.read), max(passing.read)
        stayed = [
            record
            for record in versions[first]
            if _is_due(roles, record, passing.at)
            and all(record in version for version in versions[first : last + 1])
        ]
        missed = [record for record in stayed if by(roles, record) not in passing.taken]
        if missed:
            yield f"a pass took {passing.taken}, and {missed} stood in the list"
        pages = len(passing.read)
        if first == last and pages != max(-(-len(versions[first]) // roles.size), 1):
            yield f"{pages} pages were read, and the list has {len(versions[first])}"
        _begin(passing)


def _begin(passing: Pass) -> None:
    passing.cursor, passing.hand, passing.last = None, (), False
    passing.taken, passing.read = [], []


def _hand(roles: ScanRoles, state: Struct) -> Records:
    """The record that a state works on, and those behind it."""
    if not hasattr(state, roles.item):
        return ()
    todo = cast(Records, getattr(state, "todo"))  # noqa: B009
    return (cast(Struct, getattr(state, roles.item)), *todo)


def _is_due(roles: ScanRoles, record: Struct, at: int) -> bool:
    if roles.due is None:
        return True
    due = cast("int | None", getattr(record, roles.due))
    return due is not None and due <= at
