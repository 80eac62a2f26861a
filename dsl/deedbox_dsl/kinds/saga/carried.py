"""The fields of a saga's states, and what names stand for in them.

A field of a state is part of its loop (`attempt`, `due`), of the way back (`cause`), or
carried: a value that a step brought, or the key of its deed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ... import syntax
from ...source import Span
from .. import asking, trees
from ..trees import Maker
from .plan import Plan
from .steps import Step, Undo


@dataclass(frozen=True, slots=True)
class Work:
    """The plan, and the names by which clauses call an outcome and a message."""

    plan: Plan
    out: str
    message: str


def work_of(found: Plan) -> Work:
    taken = {part.name.text for part in (*found.key, *found.given)}
    taken |= {name for step in found.steps for name in (*step.captured, step.deed)}
    return Work(found, asking.unused("out", taken), asking.unused("m", taken))


# ---- fields of states ---------------------------------------------------------------------


def running_fields(step: Step, work: Work) -> list[syntax.Field]:
    span = step.name.span
    return [
        *asking.loop_fields(step.loop, span),
        *asking.silent_field(step.loop, span),
        *_carried(step, work, back=False),
        *_cancelled_field(work.plan.cancellable, span),
    ]


def waiting_fields(step: Step, work: Work) -> list[syntax.Field]:
    span = step.name.span
    return [
        *asking.loop_fields(step.loop, span),
        trees.field("due", "instant", span),
        trees.field("cause", "text", span),
        *_carried(step, work, back=False),
    ]


def silent_fields(step: Step, work: Work) -> list[syntax.Field]:
    remembers = remembers_in_silence(step, work.plan)
    return [
        *waiting_fields(step, work),
        *_cancelled_field(remembers, step.name.span),
    ]


def remembers_in_silence(step: Step, found: Plan) -> bool:
    blind = step.undo is not None and step.undo.blind
    return found.cancellable and not blind


def undoing_fields(step: Step, undo: Undo, work: Work) -> list[syntax.Field]:
    span = undo.loop.span
    return [
        *asking.loop_fields(undo.loop, span),
        *asking.silent_field(undo.loop, span),
        trees.field("cause", "text", span),
        *_carried(step, work, back=True),
    ]


def undo_waiting_fields(step: Step, undo: Undo, work: Work) -> list[syntax.Field]:
    span = undo.loop.span
    return [
        *asking.loop_fields(undo.loop, span),
        trees.field("cause", "text", span),
        trees.field("due", "instant", span),
        trees.field("error", "text", span),
        *_carried(step, work, back=True),
    ]


def _cancelled_field(remembered: bool, span: Span) -> Iterator[syntax.Field]:
    if remembered:
        kind = trees.optional(trees.type_name("text", span))
        yield trees.field("cancelled", kind, span)


def _carried(step: Step, work: Work, *, back: bool) -> list[syntax.Field]:
    """Captured values, then deeds: of the first step first, on the way back of the last."""
    found = work.plan
    live = found.undoing[step.number] if back else found.running[step.number]
    steps: Sequence[Step] = found.steps[::-1] if back else found.steps
    fields: list[syntax.Field] = []
    for other in steps:
        for own, kind in other.captured.items():
            if own in live:
                unknown = back and other is step and step.number in found.blindly
                fields.append(
                    trees.field(
                        own, trees.optional(kind) if unknown else kind, kind.span
                    )
                )
    fields += [
        trees.field(other.deed, "text", other.name.span)
        for other in steps
        if other.deed in live
    ]
    return fields


# ---- what names stand for -----------------------------------------------------------------


def in_state(work: Work, step: Step, *, back: bool) -> dict[str, Maker]:
    """Every carried name is a field of the state."""
    return {
        f.name.text: trees.itself(f.name.text) for f in _carried(step, work, back=back)
    }


def _brought(
    step: Step,
    work: Work,
    rule: syntax.Rule | syntax.SilenceRule | None,
    *,
    known: bool,
) -> dict[str, Maker]:
    """What the step itself brings as it is left: its outcome's fields, or nothing known."""
    answered = known and isinstance(rule, syntax.Rule)
    own: dict[str, Maker] = {
        name: trees.of(work.out, name) if answered else trees.nothing
        for name in step.captured
    }
    own[step.deed] = trees.itself("deed")
    return own


def left(
    step: Step,
    rule: syntax.Rule | syntax.SilenceRule | None,
    work: Work,
    *,
    known: bool,
) -> dict[str, Maker]:
    """What names stand for as `XRunning` is left."""
    return {
        **in_state(work, step, back=False),
        **_brought(step, work, rule, known=known),
    }
