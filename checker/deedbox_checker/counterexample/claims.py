"""What a kept test holds against the run: the property, in the words of the test.

Each word of a property is a row here: what a state tells, what two states tell, and
what only the whole run tells.
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

from ..expressions.evaluate import phase
from ..instance.model import Model
from ..traces.pictures import HIDDEN
from .claim import FOLLOWED, Case, Claim
from .spoken import Speech
from .unasked_claims import UNASKED
from .unmapped import Unmapped


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
