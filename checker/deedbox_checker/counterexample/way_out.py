"""What to write in the spec so that a run is none any more: the usual ways out.

A table: what was found unasked has its way out by name; what a spec states has one for
each sort of step without which its run would not be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from deedbox_dsl import core
from msgspec import Struct

from ..environment.labels import Kind, Label
from ..expressions.trees import walk
from ..instance.world import World
from ..traces.trace import Run, Trace, raw_world
from ..verdicts.verdict import Verdict
from .columns import wrapped

UNHEARD: Final = (
    "silence says nothing of what was done. Ask again under the same key (`repeat`), or"
    " undo it (`abort with undo`), before the end."
)
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
    if verdict.stated is None:
        if verdict.name in WAYS:
            yield WAYS[verdict.name]
        return
    if trace.run is not None:
        yield from unheard(trace.run, verdict.stated)
    if trace.stays and trace.run is not None:
        machine = trace.run.environment.model.machine
        if type(trace.run.worlds[-1].state) not in machine.finals:
            yield WAYS["waits_are_justified"]


def unheard(run: Run, stated: core.Property) -> Iterator[str]:
    """Steps that go on without an answer of which the property speaks."""
    spoken = {
        part.command
        for pred in (stated.pred, stated.target)
        if pred is not None
        for part in walk(pred.expr)
        if isinstance(part, core.Ended)
    }
    for n, label in enumerate(run.labels, 1):
        before, after = run.worlds[n - 1], run.worlds[n]
        if label.kind in (Kind.DUE, Kind.MESSAGE):
            left = left_behind(run, before, after, label)
            if left is not None and left[0] in spoken:
                command, outcome = left
                yield (
                    f"Step {n} goes on without the answer of {command}, which has ended"
                    f" {outcome}: {UNHEARD}"
                )
        elif label.kind is Kind.ARRIVAL:
            command, _, outcome = label.subject.partition(".")
            if command in spoken:
                yield (
                    f"In step {n} a {command} ends {outcome} that an earlier step had"
                    f" stopped waiting for: {UNHEARD}"
                )


def left_behind(
    run: Run, before: World, after: World, label: Label
) -> tuple[str, str] | None:
    """Command and outcome of an answer that is there, and is no longer waited for."""
    environment = run.environment.of(before)
    deed, raw = before.open_deed, raw_world(environment, before, after, label)
    if deed is None or raw is None or not isinstance(deed.fate, Struct):
        return None
    waits = raw.open_deed
    if waits is not None and waits.number == deed.number:
        return None
    return environment.model.outcomes[type(deed.fate)]
