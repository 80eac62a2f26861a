"""How a run breaks its property: what holds at its end, or why it goes on for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deedbox_dsl import core
from deedbox_dsl.source import Text

from ..data.domain import EPOCH, UNIT
from ..environment.labels import Kind
from ..expressions.evaluate import Scene, phase, truth, value
from ..expressions.trees import inline
from ..expressions.types import is_instant
from ..instance.world import Row
from ..properties.stated import predicate
from ..search.runs import FREE
from ..traces.pictures import duration
from ..traces.trace import Run, Trace
from ..upgrades.takeover import UPGRADES
from ..verdicts.verdict import Verdict
from .begun_before import why_unread
from .columns import padded, wrapped
from .moment import Moment
from .retold import Told, conditions, parts
from .unmapped import Unmapped


def ending(
    verdict: Verdict, trace: Trace, told: Sequence[Told], text: Text | None
) -> Iterator[str]:
    """Lines, with an empty one behind them; nothing where nothing is to be said."""
    found = list(_ending(verdict, trace, told, text))
    yield from found
    if found:
        yield ""


def _ending(
    verdict: Verdict, trace: Trace, told: Sequence[Told], text: Text | None
) -> Iterator[str]:
    stated, run = verdict.stated, trace.run
    if stated is not None and run is not None and text is not None:
        if stated.word in ("eventually", "leads"):
            yield from owed(stated, trace, run, text)
        else:
            yield from holding(stated, trace, told, run, text)
    if verdict.name == UPGRADES and run and run.labels[-1].kind is Kind.UPGRADE:
        number = run.environment.model.spec.version
        yield from wrapped(f"version {number} says: {why_unread(run)}", 2, 4)
    if trace.stays:
        yield from wrapped(stays(run), 2, 4)
    elif trace.loop:
        yield "  It goes round for ever, for nothing that is bound to happen ends it:"
        yield from excuses(trace)


def excuses(trace: Trace) -> Iterator[str]:
    """What is free first, since a spec may bind it; then the others, by their reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in trace.excused:
        if why.startswith(FREE):
            yield from wrapped(f"{name}: {why}", 4, 6)
        else:
            by_reason.setdefault(why, []).append(name)
    for why, names in by_reason.items():
        yield from wrapped(f"{why}: {', '.join(names)}", 4, 6)


# ---- what holds at the end ---------------------------------------------------------


def holding(
    stated: core.Property, trace: Trace, told: Sequence[Told], run: Run, text: Text
) -> Iterator[str]:
    """Each part of the property, and whether it holds after the last step."""
    machine = run.environment.model.spec
    known, values = parts(machine, stated), told[-1].values if told else ()
    crossed = None
    if stated.word == "across":
        crossed = crossing(stated, run)
        if crossed is None:
            return
        values = tuple(truth(each.expr)(crossed) for each in known)
    yield f"  after step {len(trace.lines)}:"
    for part, holds in zip(known, values, strict=True):
        says = " ".join(text.content[part.expr.span.start : part.expr.span.end].split())
        answer = "-" if holds is None else "true" if holds else "false"
        far = "" if crossed is None else apart(part.expr, crossed)
        yield from wrapped(f"{padded(answer, 5)}  {says}{far}", 4, 13)


def apart(expr: core.Expr, scene: Scene) -> str:
    """How far the instants that are compared lie from one another."""
    match expr:
        case core.Binary(left=left, right=right) if is_instant(left.type):
            one, two = value(left)(scene), value(right)(scene)
            if isinstance(one, int) and isinstance(two, int) and one != two:
                length, way = abs(one - two), "later" if one > two else "earlier"
                return f" ({duration(length)} {way})" if length < UNIT else f" ({way})"
            return ""
        case _:
            return ""


def crossing(stated: core.Property, run: Run) -> Scene | None:
    """The last step in milliseconds, as it breaks what is said of two states."""
    before, after, label = run.worlds[-2], run.worlds[-1], run.labels[-1]
    environment = run.environment
    ladders = {ladder.name: ladder for ladder in environment.model.spec.ladders}
    holds = truth(inline(stated.pred.expr, ladders))
    try:
        for old, new, message in Moment(
            environment, before, after, label, {}
        ).realised():
            scene = Scene(state=new, old=old, new=new, now=EPOCH, message=message)
            if not holds(scene):
                return scene
    except Unmapped:
        pass
    return None


# ---- what is owed ------------------------------------------------------------------


def owed(stated: core.Property, trace: Trace, run: Run, text: Text) -> Iterator[str]:
    """Since when the target is owed, and that it does not come."""
    model = run.environment.model
    goal = stated.target or stated.pred
    reached = predicate(model, goal).holds
    owes = predicate(model, stated.pred).holds
    since = 1
    if stated.target is not None:
        met = max((n for n, each in enumerate(run.worlds) if reached(each)), default=0)
        since = next(n for n, each in enumerate(run.worlds) if n >= met and owes(each))
        yield from wrapped(f"owed since step {since}: {said(stated.pred, text)}", 2, 4)
    missing = "never comes"
    if stated.within is not None and not trace.lasting:
        waited = sum(
            int(each.subject) for each in run.labels[since:] if each.kind is Kind.TIME
        )
        allowed = duration(stated.within)
        missing = f"not there {duration(waited)} later, and {allowed} are allowed"
    yield from wrapped(f"{missing}: {said(goal, text)}", 2, 4)


def said(pred: core.Pred, text: Text) -> str:
    """The words of the spec, on one line."""
    spans = [each.span for each in conditions(pred.expr)]
    start, end = min(s.start for s in spans), max(s.end for s in spans)
    return re.sub(r"\s+", " ", text.content[start:end])


def stays(run: Run | None) -> str:
    """Where it stays, and that nothing is left to happen there."""
    nothing = "nothing that is bound to happen can happen any more"
    if run is None:
        return f"and {nothing}"
    world, model = run.worlds[-1], run.environment.model
    state = world.state
    if state is None:
        return f"and {nothing}"
    name = phase(state)
    if type(state) in model.machine.finals:
        return f"It stays in {name} for ever, a final state: {nothing}."
    left: list[str] = []
    if world.row is Row.NONE:
        left.append("nothing is owed")
    if world.unarmed or model.machine.wake(state) is None:
        left.append("no deadline is set")
    why = f" ({' and '.join(left)})" if left else ""
    return f"It stays in {name} for ever{why}: {nothing}."
