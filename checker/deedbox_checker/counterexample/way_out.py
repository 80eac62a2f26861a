"""What to write in the spec so that a run is none any more: the usual ways out.

A table: what was found unasked has its way out by name; what a spec states has one for
each sort of step without which its run would not be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from deedbox_dsl import core
from msgspec import Struct

from ..environment.labels import Kind, Label
from ..expressions.evaluate import phase
from ..expressions.trees import walk
from ..instance.world import VOID, World
from ..traces.trace import Run, Trace, raw_world
from ..verdicts.verdict import Verdict
from .columns import wrapped

UNHEARD: Final = (
    "silence says nothing of what was done. Ask again under the same key (`repeat`), or"
    " undo it (`abort with undo`), before the end."
)
TOO_LATE: Final = "Set a sooner deadline on the way, or allow more time (`within`)."
WAYS: Final[Mapping[str, str]] = {
    "no_exception": (
        "Guard the clause, or declare a range for the number (`type Few = int in"
        " 1..16`), so that what raises cannot be asked."
    ),
    "keys_are_own": (
        "Give the command the key that was stored when the deed was done (`deed`);"
        " a `migrate` block has to fill it for states of older versions."
    ),
    "same_arguments": (
        "`repeat` asks again under the same key, so it takes what the first asked with:"
        " store that in the state; what is another request is a `do`."
    ),
    "issues_are_bounded": (
        "Count each issue in the field that the policy is held against, and carry the"
        " count over where a `migrate` block makes a state of another."
    ),
    "waits_are_justified": (
        "Give the state an `at` with a deadline, a command whose answer it awaits, or a"
        " message by which it is left."
    ),
    "no_spin": (
        "Set the deadline anew where it fires (`now + 1m`), or leave the state."
    ),
    "upgrades": (
        "Say in the `migrate` block what becomes of that state and of what it owes."
    ),
}
"""By the name of what is checked unasked; the others are not a spec's to mend."""


def ways_out(verdict: Verdict, trace: Trace) -> Iterator[str]:
    """Lines, with an empty one behind them."""
    found = list(dict.fromkeys(_ways(verdict, trace)))
    for each in found:
        yield from wrapped(each, 2, 4)
    if found:
        yield ""


def _ways(verdict: Verdict, trace: Trace) -> Iterator[str]:
    stated, run = verdict.stated, trace.run
    if stated is None:
        if verdict.name in WAYS:
            yield WAYS[verdict.name]
        return
    if run is not None:
        yield from unheard(run, stated)
        if trace.stays:
            yield from left(run)
        elif trace.loop:
            yield from faster(run, run.labels[len(trace.lines) :])
        elif stated.within is not None:
            yield TOO_LATE


def unheard(run: Run, stated: core.Property) -> Iterator[str]:
    """Steps that go on without an answer of which the property speaks."""
    spoken = {
        part.command
        for pred in (stated.pred, stated.target)
        if pred is not None
        for part in walk(pred.expr)
        if isinstance(part, core.Ended)
    }
    sure: list[str] = []
    unsure: list[str] = []
    for n, label in enumerate(run.labels, 1):
        before, after = run.worlds[n - 1], run.worlds[n]
        if label.kind in (Kind.DUE, Kind.MESSAGE):
            command, outcome = forgotten(run, before, after, label)
            words = f"Step {n} goes on without the answer of {command}"
            if command in spoken and outcome:
                sure.append(f"{words}, which has ended {outcome}")
            elif command in spoken:
                unsure.append(f"{words}, which may end as it likes")
        elif label.kind is Kind.ARRIVAL:
            command, _, outcome = label.subject.partition(".")
            if command in spoken:
                sure.append(
                    f"In step {n} a {command} ends {outcome} that an earlier step had"
                    " stopped waiting for"
                )
    for words in (sure or unsure)[:1]:
        yield f"{words}: {UNHEARD}"


def forgotten(run: Run, before: World, after: World, label: Label) -> tuple[str, str]:
    """Command and outcome of a deed of which the state knows nothing after the step."""
    model, nothing = run.environment.of(before).model, ("", "")
    deed, raw = before.open_deed, raw_world(run.environment, before, after, label)
    if deed is None or raw is None or raw.state is None or deed.fate == VOID:
        return nothing
    asks = raw.open_deed
    places = [raw.state] if asks is None else [raw.state, asks.command]
    values = [cast(object, getattr(p, n)) for p in places for n in p.__struct_fields__]
    known = {model.deed_of(value) for value in values}
    if deed.number in known | {getattr(raw.state, "deed_number", 0)}:
        return nothing
    if isinstance(deed.fate, Struct):
        return model.outcomes[type(deed.fate)]
    return model.commands[type(deed.command)].name, ""


def left(run: Run) -> Iterator[str]:
    """What would end the state in which a run stays."""
    state = run.worlds[-1].state
    if type(state) in run.environment.model.machine.finals:
        yield (
            f"{phase(state)} is an end: do not go there before, or name it in the"
            " property."
        )
    else:
        yield WAYS["waits_are_justified"]


def faster(run: Run, loop: Sequence[Label]) -> Iterator[str]:
    """Commands whose answer a deadline forestalls in every round."""
    at = len(run.labels) - len(loop)
    for n, label in enumerate(loop, at):
        world = run.worlds[n]
        deed = world.open_deed
        if label.kind is Kind.DUE and deed is not None:
            command = run.environment.of(world).model.commands[type(deed.command)]
            said = " or ".join(
                f"`assume {command.name}.{each.name} in the end`"
                for each in command.outcomes
            )
            yield (
                f"Round after round a deadline is faster than the answer of"
                f" {command.name}; ruled out by {said}."
            )
