"""The claim of each property that is checked unasked: a row each, by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from deedbox_dsl.types import Maybe
from deedbox_generator.expressions import number
from deedbox_generator.quoting import literal

from ..data.domain import EPOCH
from ..data.keys import key_fields
from ..expressions.evaluate import phase
from ..properties.unasked import issue_bounds
from .claim import FOLLOWED, UNCHANGED, Case, Claim, of_state
from .unmapped import Unmapped


def raises(_: Case) -> Claim:
    return Claim("not run.raised")


def spins(_: Case) -> Claim:
    return Claim("not run.raised", spins=True)


def promised(case: Case) -> Claim:
    return Claim(f"{case.verdict.name!r} not in run.broke", watched=True)


def own_keys(case: Case) -> Claim:
    """The command's own key, or that of a deed which a state has kept for it."""
    fields = key_fields(case.model.spec)
    whose = literal(case.model.prefix.removesuffix(f"{EPOCH}/"))
    for seen, world in zip(("before", "end"), case.run.worlds[-2:], strict=True):
        state = world.state
        for name in sorted(fields & set(getattr(state, "__struct_fields__", ()))):
            key = cast(object, getattr(state, name))
            if isinstance(key, str) and case.model.deed_of(key) is None:
                holds = f"state.{name}.startswith({whose})"
                function = of_state(case, "keeps_its_key", state, holds)
                return Claim(f"keeps_its_key(run.{seen})", (function,))
    return promised(case)


def read_again(_: Case) -> Claim:
    return Claim("not run.raised")


def as_specified(case: Case) -> Claim:
    """Another phase than the clause's is the wrong way; a change without one is too much."""
    before, after = case.run.worlds[-2].state, case.last.state
    stayed = phase(before) == phase(after) and before != after
    return UNCHANGED if stayed else FOLLOWED


def soonest(case: Case) -> Claim:
    """The wake of the last state is the soonest of its deadlines."""
    state = case.last.state
    declared = next(s for s in case.model.spec.states if s.name == phase(state))
    optional = {f.name for f in declared.fields if isinstance(f.type, Maybe)}
    places = [f"state.{name}" for name in declared.deadlines]
    if len(places) == 1:
        wake = places[0]
    elif optional & set(declared.deadlines):
        wake = (
            f"min((at for at in ({', '.join(places)}) if at is not None), default=None)"
        )
    else:
        wake = f"min({', '.join(places)})" if places else "None"
    comparison = "is" if wake == "None" else "=="
    holds = f"{case.machine}.wake(state) {comparison} {wake}"
    function = of_state(case, "wakes_for_it", state, holds)
    return Claim("wakes_for_it(run.end)", (function,))


def awaits(case: Case) -> Claim:
    declared = next(
        s for s in case.model.spec.states if s.name == phase(case.last.state)
    )
    no = "is" if declared.awaits is None else "is not"
    return Claim(f"{case.machine}.awaited(run.end.state) {no} None")


def issues(case: Case) -> Claim:
    """No more issues than the policy says, nor fewer than were counted before."""
    state, bounds = case.last.state, issue_bounds(case.model.spec)
    for name, most in bounds.get(phase(state) or "", ()):
        if cast(int, getattr(state, name)) > most:
            holds = f"state.{name} <= {number(most)}"
            function = of_state(case, "asks_no_more", state, holds)
            return Claim("asks_no_more(run.end)", (function,))
    before = case.run.worlds[-2].state
    for name in sorted({name for fields in bounds.values() for name, _ in fields}):
        was = cast("int | None", getattr(before, name, None))
        now = cast("int | None", getattr(state, name, None))
        if was is not None and now is not None and now < was:
            holds = f"state.{name} >= {number(was)}"
            function = of_state(case, "counts_on", state, holds)
            return Claim("counts_on(run.end)", (function,))
    raise Unmapped("it is not told which count is too high")


def rows(case: Case) -> Claim:
    awaited = f"{case.machine}.awaited(run.end.state) is not None"
    return Claim(f"bool(run.end.owed) == ({awaited})")


def one_issue(_: Case) -> Claim:
    return Claim("len(run.end.owed) < 2")


def unsaid(_: Case) -> Claim:
    raise Unmapped("it is the spec that says nothing there, and the code does the same")


def of_the_interpreter(_: Case) -> Claim:
    raise Unmapped("that is the interpreter's to keep, whatever the machine does")


def waits(_: Case) -> Claim:
    return Claim("run.end.owed or run.end.wake_at is not None")


def ends(case: Case) -> Claim:
    wake = f"{case.machine}.wake(run.end.state) is None"
    return Claim(f"not run.end.owed and {wake}")


UNASKED: Final[Mapping[str, Callable[[Case], Claim]]] = {
    "no_exception": raises,
    "deterministic": promised,
    "finals_stay": lambda _: UNCHANGED,
    "no_early_wake": lambda _: UNCHANGED,
    "late_answers_change_nothing": lambda _: UNCHANGED,
    "as_specified": as_specified,
    "wakes_at_the_soonest_deadline": soonest,
    "awaits_as_declared": awaits,
    "survives_storage": promised,
    "keys_are_own": own_keys,
    "upgrades": read_again,
    "same_arguments": promised,
    "issues_are_bounded": issues,
    "rows_are_awaited": rows,
    "waits_are_justified": waits,
    "ends_are_clean": ends,
    "no_spin": spins,
    "one_issue_is_owed": one_issue,
    "total": unsaid,
    "history_is_linear": of_the_interpreter,
    "owed_is_handed_out": of_the_interpreter,
    "handed_out_once": of_the_interpreter,
    "effects_are_stored": of_the_interpreter,
}
"""Of a scan's own three it is wrong that the machine goes that way: `FOLLOWED`."""
