"""How long a machine waits: every ladder as real delays, and every deadline.

A ladder is shown as the numbers that the generated code holds, with the range that
its jitter leaves and the longest time from the first issue to the last.  That time
counts waits only: what an answer takes comes on top of it.
Below it stands who uses it, and then each deadline with what sets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from deedbox_dsl import core
from deedbox_dsl.walk import nodes

from .wording import copies, lets_of, runs, say, say_issues, say_trigger, span_text

_LABEL: Final = 14


def waits(machine: core.Machine, width: int = 100) -> str:
    """The ladders and deadlines, in lines of at most `width` columns."""
    lines = [f"{machine.name}: {machine.kind}, version {machine.version}"]
    for steps in machine.ladders:
        lines += ["", f"policy {steps.name}: {steps.words}"]
        for label, text in _ladder(machine, steps):
            lines += _entry(label, text, width)
    for state in machine.states:
        if state.deadlines:
            lines += ["", _headline(state)]
            for name in state.deadlines:
                lines += _entry(name, _deadline(machine, state, name), width)
    if len(lines) == 1:
        lines += ["", "It waits for messages only: no ladder, no deadline."]
    return "\n".join(lines) + "\n"


def _entry(label: str, text: str, width: int) -> list[str]:
    room = max(width - _LABEL - 2, 20)
    first, *more = wrap(text, room, break_on_hyphens=False) or [""]
    head = f"  {label.ljust(_LABEL - 1)} {first}"
    return [head, *(" " * (_LABEL + 2) + line for line in more)]


# ---- ladders ---------------------------------------------------------------------------


def _ladder(machine: core.Machine, steps: core.Ladder) -> Iterator[tuple[str, str]]:
    yield "waits", _series(steps, tuple(map(span_text, steps.delays)))
    if steps.jitter is not None:
        ranges = tuple(
            f"{span_text(_shortest(delay, steps))} to {span_text(delay)}"
            for delay in steps.delays
        )
        yield "with jitter", _series(steps, ranges)
    yield "patience", _patience(steps)
    for text in dict.fromkeys(_users(machine, steps)):
        yield "used", text


def _series(steps: core.Ladder, texts: tuple[str, ...]) -> str:
    """The waits in words; an unlimited ladder goes on with its last."""
    if not texts:
        return "none: there is one issue"
    listed = ", ".join(runs(texts))
    return listed if steps.attempts is not None else f"{listed}, and so on"


def _shortest(delay: int, steps: core.Ladder) -> int:
    """The bound of `deedbox.spread`: a full spread is never zero."""
    match steps.jitter:
        case None:
            return delay
        case "full":
            return min(delay, 1)
        case percent:
            return delay - delay * percent // 100


def _patience(steps: core.Ladder) -> str:
    most = sum(steps.delays)
    if steps.attempts is None:
        climbs = f"no end; the longest wait is reached after {span_text(most - steps.delays[-1])}"
        return climbs if steps.within is None else _budget(steps.within)
    issues = f"{steps.attempts} issues" if steps.attempts != 1 else "1 issue"
    if steps.within is not None:
        return f"at most {issues}; {_budget(steps.within)}"
    return f"{issues}; the last at most {span_text(most)} of waiting after the first"


def _budget(within: int) -> str:
    return f"the last not later than {span_text(within)} after the first"


def _users(machine: core.Machine, steps: core.Ladder) -> Iterator[str]:
    """Where the ladder decides a deadline, and what is done when that has come."""
    for clause in machine.clauses:
        body = clause.body
        if body is None or not any(_waits_by(item, steps) for item in _fields(body)):
            continue
        target = body.exit.state if isinstance(body.exit, core.Goto) else clause.state
        then = _after(machine, target)
        text = f"{clause.state}, {say_trigger(clause.trigger)}: waits in {target}"
        yield f"{text}, then {then}" if then else text


def _waits_by(item: core.Set, steps: core.Ladder) -> bool:
    return any(
        isinstance(part, core.Wait) and part.policy == steps.name
        for part in nodes(item.value)
    )


def _after(machine: core.Machine, state: str) -> str:
    done = [
        say_issues(clause.body.issues)
        for clause in machine.clauses
        if clause.state == state
        and isinstance(clause.trigger, core.AtDeadline)
        and clause.body is not None
        and clause.body.issues
    ]
    return " or ".join(dict.fromkeys(done))


# ---- deadlines -------------------------------------------------------------------------


def _headline(state: core.State) -> str:
    return (
        state.name if state.awaits is None else f"{state.name}, awaits {state.awaits}"
    )


def _deadline(machine: core.Machine, state: core.State, name: str) -> str:
    """Every value that a way into the state gives it, then where it leads."""
    values = dict.fromkeys(
        say(item.value, lets_of(body))
        for body in _ways_in(machine, state.name)
        for item in _fields(body)
        if item.field == name and not copies(item) and not _is_none(item.value)
    )
    leads = dict.fromkeys(
        _destination(clause)
        for clause in machine.clauses
        if clause.state == state.name and clause.trigger == core.AtDeadline(name)
    )
    set_to = " or ".join(values) or "carried over"
    return f"{set_to}; then {' or '.join(leads)}"


def _ways_in(machine: core.Machine, state: str) -> Iterator[core.Body]:
    bodies: list[tuple[str | None, core.Body | None]] = [(None, machine.start)]
    bodies += [(clause.state, clause.body) for clause in machine.clauses]
    for source, body in bodies:
        match body:
            case core.Body(exit=core.Goto(target)) if target == state:
                yield body
            case core.Body(exit=core.Stay()) if source == state:
                yield body
            case _:
                pass


def _fields(body: core.Body) -> tuple[core.Set, ...]:
    return () if isinstance(body.exit, core.Reject) else body.exit.fields


def _is_none(expr: core.Expr) -> bool:
    return isinstance(expr, core.Constant) and expr.value is None


def _destination(clause: core.Clause) -> str:
    match clause.body:
        case core.Body(exit=core.Goto(target)):
            return f"→ {target}"
        case _:
            return "stays"
