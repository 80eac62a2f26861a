"""Scans in refinement: places in a list are told apart by their order alone.

The checker explores short lists with one watched record, and gives a record the name
of its place.  A real list has other names, and nobody watches it.  So two explored
worlds are one here when they differ only in names that lie in the same order, and in
what is watched; every step between them is kept.  The far side of a run then reads
from a real list, which changes at any time, with as many records as the checker has.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Final, cast

import msgspec
from deedbox_checker.data.domain import EPOCH
from deedbox_checker.engine import lists
from deedbox_checker.engine.tables import tables
from deedbox_checker.instance.world import Deed, World
from deedbox_checker.scans.listing import Listing
from deedbox_checker.search.searching import Searched
from drawn import Words
from msgspec import Struct
from msgspec.structs import replace
from refinement import running
from shown import Explored, explored

SPANS: Final = (-86_400_000, -1_000, 0, 0, 1_000, 3_600_000, 86_400_000)


class Reader:
    """A far side with lists: what it answers is the explorer's, the pages are real."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.answer = words.answer
        self.gives_back = words.gives_back

    def record(self, by: str, random: Random, now: int) -> Struct:
        listing = listing_of(self._words)
        plain = {**listing.record, listing.scanning.by: by}
        if listing.scanning.due is not None:
            plain[listing.scanning.due] = now + random.choice(SPANS)
        roles = self._words.codec.machine.scan
        assert roles is not None
        page = msgspec.convert({roles.listed: [plain]}, list_of(roles.page))
        return cast("tuple[Struct, ...]", getattr(page, roles.listed))[0]


def list_of(page: type[Struct]) -> type[Struct]:
    """The type of a page, without its tag."""
    fields = [
        (field.name, field.type)
        for field in msgspec.structs.fields(page)
        if field.required
    ]
    return msgspec.defstruct("Page", fields)


def listing_of(words: Words) -> Listing:
    listing = words.model.listing
    assert listing is not None
    return listing


class Order:
    """What is left of names: their order, and whether there is one."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def state(self, state: Struct | None) -> Struct | None:
        """A state with the first names of all, in the order of those that it has."""
        scanning = self._listing.scanning
        if state is None:
            return None
        records = tuple(self._records(state))
        named = [
            cast(str, getattr(state, name))
            for name in ("upto", scanning.cursor)
            if getattr(state, name, None) is not None
        ]
        found = sorted({*named, *(self._by(record) for record in records)})
        rank = dict(zip(found, self._listing.names, strict=False))
        changes: dict[str, object] = {}
        for name in ("upto", scanning.cursor):
            value = cast("str | None", getattr(state, name, None))
            if value is not None:
                changes[name] = rank[value]
        if records:
            first, *todo = (self._ranked(record, rank) for record in records)
            changes |= {scanning.item: first, "todo": tuple(todo)}
        return replace(state, **changes)

    def _records(self, state: Struct) -> Iterator[Struct]:
        item = cast("Struct | None", getattr(state, self._listing.scanning.item, None))
        if item is not None:
            yield item
            yield from cast("tuple[Struct, ...]", getattr(state, "todo"))  # noqa: B009

    def _by(self, record: Struct) -> str:
        return cast(str, getattr(record, self._listing.scanning.by))

    def _ranked(self, record: Struct, rank: dict[str, str]) -> Struct:
        """What a state holds was due when its page came."""
        scanning = self._listing.scanning
        changes: dict[str, object] = {scanning.by: rank[self._by(record)]}
        if scanning.due is not None:
            changes[scanning.due] = EPOCH
        return replace(record, **changes)

    def world(self, world: World) -> World:
        """The world without names and without what is watched."""
        return replace(
            world,
            state=self.state(world.state),
            deeds=tuple(map(self._deed, world.deeds)),
            passing=None,
        )

    def _deed(self, deed: Deed) -> Deed:
        names = self._listing.names
        command = deed.command
        changes = {
            name: names[0]
            for name in command.__struct_fields__
            if getattr(command, name) in names
        }
        return replace(deed, command=replace(command, **changes))


@cache
def listed(name: str) -> tuple[Words, Explored]:
    """A scan to run, and what was explored of it, its places told apart by order."""
    known = explored(name)
    assert not isinstance(known, str), known
    listing = known.model.listing
    assert listing is not None
    order = Order(listing)
    worlds: dict[World, int] = {}
    states: list[Struct | None] = []
    number: list[int] = []
    for world, state in zip(known.searched.closure.states, known.states, strict=True):
        at = worlds.setdefault(order.world(world), len(worlds))
        if at == len(states):
            states.append(order.state(state))
        number.append(at)
    return (
        Words(known.model, running(name)),
        Explored(merged(known.searched, number), tuple(states), shape=order.state),
    )


def merged(searched: Searched, number: list[int]) -> Searched:
    """The explored steps, between what the worlds have become."""
    before = searched.tables
    rows: list[dict[tuple[int, int], None]] = [{} for _ in range(max(number) + 1)]
    for world, at in enumerate(number):
        for step in before.steps(world):
            rows[at][number[before.targets[step]], before.labels[step]] = None
    made = tables(len(rows), 1, number[0], rows, before.faults)
    return Searched(
        searched.environment, searched.closure, searched.labels, lists.explore(made)
    )
