"""The ordered lists that scans read: they change at any time, and each state is kept.

A list belongs to one instance of a scan and outlives it.  A page is what stands behind
the cursor when the far side decides, at most as many records as were asked for.  The
lists are as long as a page, one more, one less, or two pages, since that is where a
scan goes wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final, Protocol, cast, get_args, get_type_hints, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from ..codec import Codec
from ..machine import ScanRoles
from . import draw

MANY: Final = 8
"""A longer list has few records that are due, or the run would only work through it."""
DUE_OF_MANY: Final = 0.04
EDITS: Final = (0, 0, 0, 1, 1, 2)

Records = tuple[Struct, ...]


@runtime_checkable
class Librarian(Protocol):
    """A character that also says what the records of a list are, but for their order.

    `record`: one with this value of its `by`.
    """

    def record(self, by: str, random: Random, now: int) -> Struct: ...


class Lists:
    """All lists of a run, by machine and id; `versions` has every state of each."""

    def __init__(self, seed: int, record: Callable[[str, Random, int], Struct] | None):
        self.versions: dict[str, list[Records]] = {}
        self.read: dict[str, int] = {}
        """Which version a page was taken from, by the key of its deed."""
        self._seed = seed
        self._record = record

    def page(self, codec: Codec, command: Struct, answer: Struct, now: int) -> Struct:
        """The answer with what stands in the list now."""
        roles = codec.machine.scan
        if roles is None:
            return answer
        self._stir(roles, command, now)
        if not isinstance(answer, roles.page):
            return answer
        key, name = _names(command)
        after = cast("str | None", getattr(command, roles.cursor))
        limit = cast(int, getattr(command, roles.limit))
        records = self.versions[name][-1]
        self.read[key] = len(self.versions[name]) - 1
        behind = [each for each in records if after is None or by(roles, each) > after]
        return replace(answer, **{roles.listed: tuple(behind[: max(limit, 0)])})

    def _stir(self, roles: ScanRoles, command: Struct, now: int) -> None:
        """Somebody may change the list, whatever it is that the far side is asked."""
        key, name = _names(command)
        random = Random(f"list {self._seed} {key}")
        found = self.versions.get(name)
        if found is None:
            self.versions[name] = [self._begun(roles, random, now)]
            return
        records = found[-1]
        for _ in range(random.choice(EDITS)):
            records = self._edited(roles, records, random, now)
        if records != found[-1]:
            found.append(records)

    def _begun(self, roles: ScanRoles, random: Random, now: int) -> Records:
        size = roles.size
        length = random.choice((0, 1, size - 1, size, size, size + 1, 2 * size + 1))
        if length > MANY and roles.due is None:
            length = random.choice((0, 1, 3, length))
        names = range(1, _room(roles) + 1)
        return tuple(
            self._drawn(roles, name, length > MANY, random, now)
            for name in sorted(random.sample(names, length))
        )

    def _edited(
        self, roles: ScanRoles, records: Records, random: Random, now: int
    ) -> Records:
        number = random.randrange(1, _room(roles) + 1)
        name = _by(number)
        left = tuple(each for each in records if by(roles, each) != name)
        if len(left) < len(records) and random.random() < 0.5:
            return left
        if len(left) > 2 * roles.size:
            return records
        drawn = self._drawn(roles, number, len(left) > MANY, random, now)
        return tuple(sorted((*left, drawn), key=lambda each: by(roles, each)))

    def _drawn(
        self, roles: ScanRoles, number: int, many: bool, random: Random, now: int
    ) -> Struct:
        name = _by(number)
        if self._record is not None:
            return self._record(name, random, now)
        record = draw.struct(_kind(roles.page, roles.listed), random, now)
        changes: dict[str, object] = {roles.by: name}
        if many and roles.due is not None and random.random() > DUE_OF_MANY:
            changes[roles.due] = now + random.choice((60_000, 3_600_000, 86_400_000))
        return replace(record, **changes)


def by(roles: ScanRoles, record: Struct) -> str:
    return cast(str, getattr(record, roles.by))


def _by(number: int) -> str:
    return f"r{number:04}"


def _room(roles: ScanRoles) -> int:
    """How many values of `by` there are: some more than records."""
    return 2 * roles.size + 3


def _names(command: Struct) -> tuple[str, str]:
    key = cast(str, getattr(command, "idempotency_key"))  # noqa: B009
    return key, key.rsplit("/", 2)[0]


@cache
def _kind(page: type[Struct], listed: str) -> type[Struct]:
    """The type of a record."""
    hints = get_type_hints(page, include_extras=True)
    return cast("type[Struct]", get_args(hints[listed])[0])
