"""What a kept test holds against the run: the property, in the words of the test.

Each property that is checked is a row here: what a state tells, what two states tell,
what only the whole run tells, and what the replay watches for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from deedbox_dsl import core
from deedbox_dsl.types import Maybe
from deedbox_generator.expressions import number
from deedbox_generator.quoting import literal
from msgspec import Struct

from ..data.domain import EPOCH
from ..data.keys import key_fields
from ..expressions.evaluate import phase
from ..instance.model import Model
from ..instance.world import World
from ..properties.unasked import issue_bounds
from ..traces.pictures import HIDDEN
from ..traces.trace import Run
from ..verdicts.verdict import Verdict
from .spoken import Speech
from .unmapped import Unmapped


@dataclass(frozen=True, slots=True)
class Claim:
    """`holds`: an expression that is true when nothing is broken.

    `functions`: what it calls.  `types`: they speak of choices.  `spins`: the last step is
    a deadline that has no end.  `watched`: a replay sees it broken, or it is not kept.
    """

    holds: str
    functions: tuple[str, ...] = ()
    types: bool = False
    spins: bool = False
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A broken property with its run; `module`: the name of the generated module."""

    verdict: Verdict
    run: Run
    model: Model
    module: str
    begins: World

    @property
    def last(self) -> World:
        return self.run.worlds[-1]

    @property
    def machine(self) -> str:
        return f"{self.module}.machine"


FOLLOWED: Final = Claim("False")
"""That the machine goes this way to its end is what is wrong."""
UNCHANGED: Final = Claim("run.end.state == run.before.state")


def claim(case: Case) -> Claim:
    stated = case.verdict.stated
    if stated is not None:
        return STATED[stated.word](case, stated)
    asked = UNASKED.get(case.verdict.name)
    return FOLLOWED if asked is None else asked(case)


def bounded(case: Case, stated: core.Property) -> Claim:
    function, types = condition(
        case, stated.name, stated.pred, unless=stated.word == "invariant"
    )
    no = "" if stated.word == "invariant" else "not "
    return Claim(f"{no}{stated.name}(run.end)", (function,), types)


def crossed(case: Case, stated: core.Property) -> Claim:
    speech = Speech(case.model, case.module, "after.at")
    text = speech.text(stated.pred.expr)
    seen = f"Seen[{case.module}.State]"
    function = "\n".join(
        [
            f"def {stated.name}(before: {seen}, after: {seen}) -> bool:",
            "    old, new = before.state, after.state",
            f"    return {text}",
        ]
    )
    holds = f"{stated.name}(run.before, run.end)"
    return Claim(holds, (function,), speech.types)


def owed(case: Case, stated: core.Property) -> Claim:
    """`eventually` and `leads`: a debt that is never paid, or not in time."""
    goal, target = stated.name, stated.target or stated.pred
    premise, functions, types = "is_there", [is_there(case)], False
    if stated.target is not None:
        premise = f"{goal}_is_owed"
        function, types = condition(case, premise, stated.pred, unless=False)
        functions = [function]
    function, more = condition(case, goal, target, unless=False)
    functions.append(function)
    debt = f"run.owed_for({premise}, {goal})"
    if case.verdict.trace is not None and case.verdict.trace.lasting:
        functions.append(begins(case))
        holds = f"not run.goes_round(len(LOOP), begins) or {debt} < 0"
        return Claim(holds, tuple(functions), types or more)
    if stated.within is None:
        raise Unmapped(f"{stated.name} has no run that goes on for ever")
    return Claim(f"{debt} <= {number(stated.within)}", tuple(functions), types or more)


def impossible(_: Case, stated: core.Property) -> Claim:
    raise Unmapped(f"no run does what {stated.name} asks for, so there is none to keep")


STATED: Final[Mapping[str, Callable[[Case, core.Property], Claim]]] = {
    "invariant": bounded,
    "never": bounded,
    "across": crossed,
    "eventually": owed,
    "leads": owed,
    "sometimes": impossible,
}


def condition(case: Case, name: str, pred: core.Pred, unless: bool) -> tuple[str, bool]:
    """A predicate of one state; `unless`: it says nothing of other phases."""
    speech = Speech(case.model, case.module, "seen.at")
    text = speech.text(pred.expr)
    if pred.states:
        speech.said = True
        among = f"isinstance(state, {speech.states(pred.states)})"
        text = f"not {among} or ({text})" if unless else f"{among} and ({text})"
    lines = [f"def {name}(seen: Seen[{case.module}.State]) -> bool:"]
    lines += ["    state = seen.state"] if speech.said else []
    return "\n".join([*lines, f"    return {text}"]), speech.types


def is_there(case: Case) -> str:
    """The premise of `eventually`: there is an instance."""
    return "\n".join(
        [
            f"def is_there(_: Seen[{case.module}.State]) -> bool:",
            "    return True",
        ]
    )


def begins(case: Case) -> str:
    """The state in which each round of a loop begins, as far as states are told apart."""
    state = case.begins.state
    if state is None:
        raise Unmapped("its loop is one of an instance that is not there")
    tests = [f"isinstance(state, {case.module}.{phase(state)})"]
    tests += [text for own in own_fields(case.model, state) if (text := told(own))]
    return "\n".join(
        [
            f"def begins(seen: Seen[{case.module}.State]) -> bool:",
            "    state = seen.state",
            f"    return {' and '.join(tests)}",
        ]
    )


@dataclass(frozen=True, slots=True)
class Own:
    """A field of a state; `most`: its counter stops there, `named`: a literal has it."""

    declared: core.Field
    value: object
    most: int | None
    counts: bool
    named: bool


def own_fields(model: Model, state: Struct) -> list[Own]:
    """The fields of which a round may tell something: no instants, and no keys."""
    given = {each.name for each in (*model.spec.key, *model.spec.given)}
    instants = {*model.points.offsets, *model.untold[phase(state) or ""]}
    caps, found = model.domain.caps, list[Own]()
    for declared in model.fields[phase(state) or ""]:
        name = declared.name
        value = cast(object, getattr(state, name))
        if name not in given | instants | HIDDEN and model.deed_of(value) is None:
            named = isinstance(value, str) and value in model.domain.texts
            found.append(Own(declared, value, caps.get(name), name in caps, named))
    return found


def told(own: Own) -> str:
    """A test of the field, empty when its value stands for all."""
    text = f"state.{own.declared.name}"
    match own.value:
        case None:
            return f"{text} is None"
        case bool():
            return text if own.value else f"not {text}"
        case int() if own.counts:
            reached = own.most is not None and own.value >= own.most
            return f"{text} {'>=' if reached else '=='} {number(own.value)}"
        case str() if own.named:
            return f"{text} == {literal(own.value)}"
        case _:
            optional = isinstance(own.declared.type, Maybe)
            return f"{text} is not None" if optional else ""


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


def of_state(case: Case, name: str, state: Struct | None, holds: str) -> str:
    """A function that says something of one state, and nothing of any other."""
    return "\n".join(
        [
            f"def {name}(seen: Seen[{case.module}.State]) -> bool:",
            "    state = seen.state",
            f"    return not isinstance(state, {case.module}.{phase(state)}) or (",
            f"        {holds}",
            "    )",
        ]
    )


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
