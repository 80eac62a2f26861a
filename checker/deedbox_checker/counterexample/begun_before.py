"""The row with which a test begins whose run a process of an older version has begun.

A project has no code of that version any more, but what it stores is data: the state as
the run has it at the upgrade, and what it owes.  From there on the test goes on under
the code of today, which reads that row as it would read a real one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeGuard, cast

import msgspec
from deedbox.codec import Codec
from deedbox.key import key_text
from deedbox.replay import Arrives, Asks, Decides, Does, HandedOut, Stored
from deedbox.testing import EPOCH as CLOCK
from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH, UNIT
from ..environment.labels import Kind
from ..expressions.evaluate import phase
from ..instance.abstraction import explored_own
from ..instance.model import Model
from ..instance.world import Row, World
from ..time.ranks import live, placed
from ..traces.trace import Run, moved, raw_world
from ..upgrades.takeover import UPGRADES, Version, upcasts
from ..upgrades.upgrade import Upgrade
from ..upgrades.ways import NO_WAY
from .moment import in_full
from .unmapped import Unmapped

MINUTE: Final = 60_000


@dataclass(frozen=True, slots=True)
class Beginning:
    """`steps`: the row, and what is on its way then.  `taken`: how many labels they tell.

    `names`: the number by which a test knows a deed.
    """

    steps: tuple[Does, ...] = ()
    taken: int = 0
    names: Mapping[int, int] = field(default_factory=dict[int, int])


def beginning(run: Run) -> Beginning:
    """Nothing, where the run begins in this version."""
    at = max(
        (n for n, each in enumerate(run.labels) if each.kind is Kind.UPGRADE),
        default=None,
    )
    found = Beginning() if at is None else taken_over(run, at)
    later = run.worlds[found.taken + bool(found.steps) :]
    if any(run.environment.of(world) is not run.environment for world in later):
        raise Unmapped("it is a step of an older version, whose module is not at hand")
    return found


def taken_over(run: Run, at: int) -> Beginning:
    before, after, label = run.worlds[at], run.worlds[at + 1], run.labels[at]
    older, later = versions(run, before)
    if before.row in (Row.SPENT, Row.LOST):
        raise Unmapped("an older version has handed out what is handed out only once")
    if UPGRADES in label.broken:
        row = stored(older, later, before, before, as_it_was(run, older, later, before))
        return Beginning((Does(row, phase(before.state) or ""),), at + 1)
    raw = raw_world(run.environment, before, after, label)
    if raw is None:
        raise Unmapped(f"there is no real counterpart of: {label.text}")
    row = stored(
        older, later, before, raw, as_it_was(run, older, later, before, raw.state)
    )
    numbers = {deed.number: n for n, deed in enumerate(raw.deeds, 1)}
    explored = moved(run.environment, before, after, label)
    now = phase(after.state) or ""
    return Beginning(
        (Does(row, now), *under_way(later.model, raw, numbers, now)),
        at + 1,
        {explored[number]: n for number, n in numbers.items() if number in explored},
    )


def versions(run: Run, before: World) -> tuple[Version, Version]:
    older = run.environment.older
    if not isinstance(older, Upgrade):
        raise Unmapped("it is not known how an older version is read")
    last = older.versions[-1]
    if not isinstance(last.reads, Codec):
        raise Unmapped("the interpreter that was explored is not the one that runs")
    return older.made_by[type(cast("Struct", before.state))], last


def as_it_was(
    run: Run,
    older: Version,
    later: Version,
    before: World,
    becomes: Struct | None = None,
) -> Struct:
    """The older state in milliseconds, as it becomes this one; None: as it becomes none."""
    state = before.state
    assert state is not None
    assert isinstance(run.environment.older, Upgrade)
    ways = run.environment.older.ways[older.number, later.number]
    way = ways.get(phase(state) or "", NO_WAY)
    for was, found in (
        *upcasts(older, later, near(older.model, state), NO_WAY),
        *upcasts(older, later, state, way),
    ):
        made = None if found is None else explored_own(later.model, found.state)
        if becomes is None or made == becomes:
            return was
    raise Unmapped("there is no row of the older version that becomes this")


def why_unread(run: Run) -> str:
    """What the later version says of the row that it cannot read."""
    before = run.worlds[-2]
    older, later = versions(run, before)
    was = near(older.model, as_it_was(run, older, later, before))
    try:
        later.reads.state(older.number, msgspec.json.encode(was).decode(), EPOCH)
        if before.open_deed is not None:
            command = before.open_deed.command
            written = msgspec.json.encode(command).decode()
            later.reads.command(older.number, older.called[type(command)], written)
    except Exception as problem:  # whatever it says of itself
        return f"{type(problem).__name__}: {problem}"
    return "it is read, and what it becomes is not"


def near(model: Model, state: Struct) -> Struct:
    """The state with its instants minutes from now, in their order."""
    distances = live(model.points, state)
    closer = {name: at // UNIT * MINUTE for name, at in distances.items()}
    return placed(model.points, state, closer)


def is_instant(value: object) -> TypeGuard[int]:
    """No other number of a spec is so large."""
    return isinstance(value, int) and value > EPOCH // 2


def stored(
    older: Version, later: Version, before: World, raw: World, was: Struct
) -> Stored:
    wake = older.model.machine.wake(was)
    id = key_text(*(getattr(was, name) for name in later.model.machine.key))
    open_deed = before.open_deed
    owed: tuple[Asks, ...] = ()
    if open_deed is not None:
        command = with_fields(open_deed.command, ticket=getattr(was, "ticket", 0))
        owed = (Asks(older.called[type(command)], document(command)),)
    asked = tuple(
        Asks(later.model.commands[type(deed.command)].name, document(deed.command))
        for deed in raw.deeds
        if type(deed.command) in later.model.commands
    )
    counts = zip(later.model.counted, raw.counts, strict=True)
    many = {pair: count for pair, count in counts if count}
    return Stored(
        older.number,
        id,
        document(was),
        None if wake is None else wake - EPOCH + CLOCK,
        owed,
        asked,
        {
            outcome.__name__: many[pair]
            for outcome, pair in later.model.outcomes.items()
            if pair in many
        },
    )


def under_way(
    model: Model, raw: World, numbers: Mapping[int, int], now: str
) -> Iterator[Does]:
    """What the older process has handed out, and what the far side has said to it."""
    open_deed = raw.open_deed
    if raw.row is Row.OUT:
        yield Does(HandedOut(), now)
    for deed in raw.deeds:
        if isinstance(deed.fate, Struct):
            answer = next(in_full(model, deed.fate), deed.fate)
            if open_deed is not None and deed.number == open_deed.number:
                yield Does(Decides(answer, counts=False), now)
            else:
                yield Does(Arrives(answer, numbers[deed.number], counts=False), now)


def document(struct: Struct) -> Mapping[str, object]:
    """As it is stored, at the time of a test."""
    plain: dict[str, object] = msgspec.to_builtins(struct)
    return {name: at_the_clock(value) for name, value in plain.items()}


def at_the_clock(value: object) -> object:
    """Instants, and the keys in which one stands."""
    match value:
        case int() if is_instant(value):
            return value - EPOCH + CLOCK
        case str():
            return value.replace(f"/{EPOCH}/", f"/{CLOCK}/")
        case list():
            return [at_the_clock(each) for each in cast("list[object]", value)]
        case dict():
            inner = cast("dict[str, object]", value)
            return {name: at_the_clock(each) for name, each in inner.items()}
        case _:
            return value
