"""The ordered list that a scan reads, and what a pass over it owes.

A list has up to 2 * page + 1 records, and changes at any time: records come, go, and
have another due time, except one, which is `watched`: it stays, and is due.  Every
record may be the watched one, so what holds for it holds for each.  Of the others
only how many lie between the cursor, the watched one and the end can be told apart;
what a page holds is settled when it is taken, since nobody can know it before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, cast

import msgspec
from deedbox_dsl.roles import Scan
from deedbox_dsl.types import Maybe, RecordType, Type
from msgspec import Struct
from msgspec.structs import fields as struct_fields
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH, UNIT, Domain, Plain
from ..expressions.evaluate import phase
from .pages import longest

MISSED: Final = "no_record_is_missed"
TWICE: Final = "no_record_is_taken_twice"
EMPTY_PAGE: Final = "another_page_only_if_seen"

SAYS: Final = {
    MISSED: "a record that is due and stays in the list is taken in every pass",
    TWICE: "no record is taken twice in one pass",
    EMPTY_PAGE: "another page is asked for only when a record of it was seen",
}
"""What is checked of every scan without being asked."""


class Pass(Struct, frozen=True, cache_hash=True):
    """How far a pass has come: `watched` is a place in the list, 0 for none.

    `more`: the page at hand showed a record beyond itself.
    """

    watched: int = 0
    taken: bool = False
    more: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """`names` are the values of the records' cursors, in the order of the list."""

    scanning: Scan
    names: tuple[str, ...]
    page: type[Struct]
    listed: object
    record: dict[str, Plain]
    dues: tuple[Plain, ...]

    def passes(self) -> Iterator[Pass]:
        for watched in range(len(self.names) + 1):
            yield Pass(watched)

    def answers(
        self, command: Struct, answer: Struct, passing: Pass
    ) -> Iterator[Struct]:
        """The pages that may be the answer to a fetch, by its cursor and its limit."""
        after = cast("str | None", getattr(command, self.scanning.cursor))
        limit = cast(int, getattr(command, self.scanning.limit))
        for places in self.windows(self.place(after), limit, passing.watched):
            free = [
                self.dues if n != passing.watched else self.dues[:1] for n in places
            ]
            for dues in product(*free):
                yield with_fields(
                    answer,
                    **{
                        self.scanning.listed: msgspec.convert(
                            [
                                self.made(place, due)
                                for place, due in zip(places, dues, strict=True)
                            ],
                            self.listed,
                        )
                    },
                )

    def windows(self, after: int, limit: int, watched: int) -> list[tuple[int, ...]]:
        """The places of the records that a fetch may bring.

        Behind the watched record there is one more, or none: in a longer list a later
        one is watched.  With none watched a page may be full, and one more be seen.
        """
        size = min(len(self.names), (watched or self.scanning.page) + 1)
        found: dict[tuple[int, ...], None] = {}
        if watched <= after:
            for many in range(max(min(limit, size - after), 0) + 1):
                found[tuple(range(after + 1, after + 1 + many))] = None
            return list(found)
        for before in range(watched - after):
            ahead = tuple(range(after + 1, after + 1 + before))
            for behind in ((), (watched + 1,) if watched < size else ()):
                found[(*ahead, watched, *behind)[:limit]] = None
        return list(found)

    def place(self, name: str | None) -> int:
        return 0 if name is None else self.names.index(name) + 1

    def made(self, place: int, due: Plain) -> dict[str, Plain]:
        changes = {self.scanning.by: self.names[place - 1]}
        if self.scanning.due is None:
            return {**self.record, **changes}
        return {**self.record, **changes, self.scanning.due: due}

    def told(self, page: Struct) -> str:
        """The records of a page in a few words."""
        told: list[str] = []
        for record in cast("tuple[Struct, ...]", getattr(page, self.scanning.listed)):
            name = cast(str, getattr(record, self.scanning.by))
            late = self.scanning.due is not None and getattr(
                record, self.scanning.due
            ) != (EPOCH)
            told.append(f"{name} (not due)" if late else name)
        return ", ".join(told) or "no record"

    # ---- what a pass owes ----------------------------------------------------------

    def followed(
        self, passing: Pass, old: Struct | None, new: Struct | None, message: Struct
    ) -> tuple[Pass, tuple[str, ...]]:
        """How far the pass is after a step, and what the step breaks."""
        if old is None or new is None or old == new:
            return passing, ()
        is_page = isinstance(message, self.page)
        if type(message).__name__ == "Start":
            return Pass(passing.watched), ()
        if is_page:
            records = cast("tuple[Struct, ...]", getattr(message, self.scanning.listed))
            passing = with_fields(passing, more=len(records) > self.scanning.page)
        match phase(old), phase(new):
            case ("Fetching" | "Working", "Working") if taken_anew(old, new):
                return self._taken(passing, new)
            case ("Fetching" | "Working" | "WorkWaiting" | "WorkSilent", "Pausing"):
                broken = () if passing.more else (EMPTY_PAGE,)
                return with_fields(passing, more=False), broken
            case ("Fetching", "Resting") if not is_page:
                if getattr(new, self.scanning.cursor) is None:
                    return Pass(passing.watched), ()
                return passing, ()
            case (before, "Resting") if before != "Resting":
                missed = passing.watched and not passing.taken
                return Pass(passing.watched), (MISSED,) if missed else ()
            case _:
                return passing, ()

    def _taken(self, passing: Pass, new: Struct) -> tuple[Pass, tuple[str, ...]]:
        record = cast(Struct, getattr(new, self.scanning.item))
        if self.place(cast(str, getattr(record, self.scanning.by))) != passing.watched:
            return passing, ()
        return with_fields(passing, taken=True), (TWICE,) if passing.taken else ()


def taken_anew(old: Struct, new: Struct) -> bool:
    """Whether a step into `Working` takes a record, and not only a message."""
    return getattr(old, "deed_number", 0) != getattr(new, "deed_number", 0)


def told_apart(data: Domain, scanning: Scan | None) -> Domain:
    """The classes of data, the cursor's values among them."""
    if scanning is None:
        return data
    return replace(
        data,
        compared=data.compared | {scanning.by_type},
        spare={**data.spare, scanning.by_type: longest(scanning) - 1},
    )


def listing(scanning: Scan, data: Domain, page: type[Struct]) -> Listing:
    """The list that a scan reads; `page` is the outcome that brings some of it."""
    names = cast("tuple[str, ...]", data.values(scanning.by_type)[-longest(scanning) :])
    listed = {each.name: each.type for each in struct_fields(page)}[scanning.listed]
    dues: tuple[Plain, ...] = (None,)
    if scanning.due is not None:
        dues = (EPOCH, EPOCH + UNIT)
        if isinstance(field_type(scanning.record, scanning.due), Maybe):
            dues += (None,)
    return Listing(
        scanning,
        names,
        page,
        listed,
        {name: data.one(type) for name, type in scanning.record.fields},
        dues,
    )


def field_type(record: RecordType, name: str) -> Type:
    return dict(record.fields)[name]
