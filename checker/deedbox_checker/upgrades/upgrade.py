"""A version upgrade in flight: instances that processes of older versions have stepped.

An older version is explored as it was released, by its own generated code.  At any
moment a process of a newer one may take an instance over (`takeover`), and from there
on the newer code runs.  An older process leaves such a row alone, so all it can still
do is what it has handed out.

An upcaster sees the time of the last step, not now.  What it makes of a state is the
same whenever it is asked, so one that looks at that time is asked before time goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from ..environment.environment import Environment
from ..environment.labels import Kind, Label
from ..expressions.evaluate import phase
from ..instance.world import World
from .takeover import UPGRADES, Version, taken_over
from .ways import NO_WAY, Way

MOVES = frozenset(
    {
        Kind.START,
        Kind.MESSAGE,
        Kind.TAKE,
        Kind.DUE,
        Kind.LATE,
        Kind.EARLY,
        Kind.BEHIND,
        Kind.CLOCK,
    }
)
"""Kinds of steps that the instance takes itself."""


Ways: TypeAlias = Mapping[tuple[int, int], Mapping[str, Way]]
"""By the numbers of two versions, and a state of the older."""


@dataclass(frozen=True, slots=True, eq=False)
class Upgrade:
    """`versions`: the oldest first; the last is the one that is verified."""

    versions: tuple[Version, ...]
    ways: Ways
    made_by: Mapping[type[Struct], Version]

    def owner(self, world: World) -> Environment | None:
        if world.state is None:
            return None
        version = self.made_by.get(type(world.state))
        return None if version is None else version.environment

    def allowed(self) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for version in self.versions[:-1]:
            for name, most in version.counters.items():
                found[name] = max(most, found.get(name, 0))
        return found

    def steps(self, world: World) -> Iterator[tuple[World, Label]]:
        if world.state is None:
            for version in self.versions[:-1]:
                yield from self._older(version, world)
            return
        made_by = self.made_by.get(type(world.state))
        if made_by is not None:
            yield from self._older(made_by, world)
            for later in self.versions:
                if later.number > made_by.number:
                    yield from self._taken_over(made_by, later, world)

    def _older(self, version: Version, world: World) -> Iterator[tuple[World, Label]]:
        """What happens to an instance while its version runs; it is not judged."""
        for raw, label in version.environment.raw_steps(world):
            broken = tuple(name for name in label.broken if name == UPGRADES)
            words = label.text
            if label.kind is Kind.START:
                words = f"{words}, in version {version.number}"
            if broken != label.broken or words != label.text:
                label = replace(label, text=words, broken=broken)
            fresh = label.kind in MOVES or (world.fresh and label.kind is not Kind.TIME)
            fresh = fresh and self._looks_at_time(version, raw)
            yield raw if raw.fresh == fresh else replace(raw, fresh=fresh), label

    def _looks_at_time(self, version: Version, world: World) -> bool:
        name = phase(world.state) or ""
        return any(
            ways.get(name, NO_WAY).at_once
            for (older, _), ways in self.ways.items()
            if older == version.number
        )

    # ---- the step to the newer version ---------------------------------------------

    def _taken_over(
        self, older: Version, later: Version, world: World
    ) -> Iterator[tuple[World, Label]]:
        assert world.state is not None
        label = Label(Kind.UPGRADE, "worker", f"UPGRADE TO VERSION {later.number}")
        way = self.ways[older.number, later.number].get(
            phase(world.state) or "", NO_WAY
        )
        if way.at_once and not world.fresh:
            return
        for after, broken in taken_over(older, later, world, way):
            yield after, replace(label, broken=broken) if broken else label


def upgrade(versions: Iterable[Version], ways: Ways) -> Upgrade:
    ordered = tuple(sorted(versions, key=lambda each: each.number))
    return Upgrade(
        ordered,
        ways,
        {
            cast("type[Struct]", state): version
            for version in ordered[:-1]
            for state in version.model.machine.states
        },
    )
