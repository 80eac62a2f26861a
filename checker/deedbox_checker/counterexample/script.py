"""A run of the explorer as a script for the real interpreter.

What the interpreter does by itself (time that passes without a deadline) is left out;
deeds are named by the order in which they were first owed.  Some steps have no
counterpart, since the store or the timers do not let them happen: a run with such a
step is refused, and the refusal says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from deedbox.replay import (
    Action,
    Answers,
    Begin,
    Crash,
    Decides,
    Does,
    Fires,
    HandedOut,
    Raises,
    Tell,
)
from deedbox_dsl import core
from deedbox_dsl.types import Base
from msgspec import Struct

from ..abstraction import World, normal
from ..environment import PLAIN, Environment, Kind, Label
from ..evaluate import phase, walk
from ..trace import Run, moved
from ..verify import Verdict


class Unmapped(Exception):
    """The run cannot be replayed on the real interpreter, and this says why."""


def script(verdict: Verdict) -> tuple[Does, ...]:
    """The steps of the run that breaks a property of states."""
    trace = verdict.trace
    if trace is None or trace.run is None:
        raise Unmapped(f"{verdict.name} is not broken by a run from the start")
    if trace.run.environment.model.listing is not None:
        raise Unmapped(f"{verdict.name} is broken by a scan over a list of its own")
    if trace.loop or trace.stays:
        raise Unmapped(f"{verdict.name} is broken by what never comes, and a test ends")
    if any(label.broken for label in trace.run.labels):
        raise Unmapped(
            f"{verdict.name} is broken by a step, and a replay sees states only"
        )
    return tuple(_steps(trace.run))


def _steps(run: Run) -> Iterator[Does]:
    names: dict[int, int] = {}
    spoken = 0
    for before, after, label in zip(
        run.worlds[:-1], run.worlds[1:], run.labels, strict=True
    ):
        action = _action(run.environment, before, after, label, names)
        names_after: dict[int, int] = {}
        numbers = moved(run.environment, before, after, label)
        for raw, explored in sorted(numbers.items()):
            name = names.get(raw)
            if name is None and after.deed(explored) is not None:
                spoken += 1
                name = spoken
            if name is not None:
                names_after[explored] = name
        names = names_after
        if action is not None:
            yield Does(action, phase(after.state) or "")


def _action(
    environment: Environment,
    before: World,
    after: World,
    label: Label,
    names: dict[int, int],
) -> Action | None:
    match label.kind:
        case Kind.START:
            return Begin(_message(environment.first, label))
        case Kind.MESSAGE:
            message = _message(environment.sent, label)
            starts = isinstance(message, environment.model.machine.start_type)
            return Begin(message) if starts else Tell(message)
        case Kind.HAND_OUT:
            return HandedOut()
        case Kind.TAKE:
            return Answers()
        case Kind.DUE:
            return Fires()
        case Kind.TIME:
            return None
        case Kind.CRASH:
            return Crash()
        case Kind.RAISE:
            return Raises()
        case Kind.FAR_SIDE | Kind.ARRIVAL:
            return _decision(environment, before, after, label, names)
        case Kind.EARLY:
            raise Unmapped("a wake comes early, and the interpreter's timers never do")
        case Kind.LATE:
            raise Unmapped(
                "an issue that is no longer awaited is answered, and the store keeps"
                " such an answer from the machine"
            )
        case Kind.UPGRADE:
            raise Unmapped("an older version has begun it, whose module is not at hand")
        case _:
            assert_never(label.kind)


def _message(among: tuple[tuple[Struct, Label], ...], label: Label) -> Struct:
    return next(message for message, known in among if known == label)


def _decision(
    environment: Environment,
    before: World,
    after: World,
    label: Label,
    names: dict[int, int],
) -> Decides:
    model = environment.model
    command, _, outcome = label.subject.partition(".")
    for raw, told in environment.raw_steps(before):
        explored = raw if told.kind in PLAIN else normal(model, raw)
        if told != label or explored != after:
            continue
        deed: int | None = None
        answer = next(
            each.message for each in model.answers[command] if each.outcome == outcome
        )
        for known in raw.deeds:
            was = before.deed(known.number)
            decided = isinstance(known.fate, Struct)
            if was is not None and was.fate is None and decided:
                assert isinstance(known.fate, Struct)
                deed, answer = names.get(known.number), known.fate
        counts = True
        for pair, old, new in zip(
            model.counted, before.counts, raw.counts, strict=True
        ):
            if pair == (command, outcome):
                counts = new > old or old > 1
        return Decides(deed, command, outcome, answer, counts)
    raise Unmapped(f"there is no real counterpart of: {label.text}")


def compared(verdict: Verdict) -> tuple[str, ...]:
    """The fields whose values at the end are part of what is broken."""
    if verdict.stated is None:
        return ()
    found: dict[str, None] = {}
    for part in walk(verdict.stated.pred.expr):
        if isinstance(part, core.Read) and part.scope not in ("key", "given"):
            if part.type not in (Base.BOOL, Base.INT):
                raise Unmapped(
                    f"{verdict.name} compares `{part.name}`, which a replay does not"
                )
            found[part.name] = None
    return tuple(found)
