"""The steps of a saga: what each asks for, what takes it back, and what it brings.

A captured value is a field that every way to a step's `next` brings.  The key of the
step's deed is captured like a value, under the name `<step>_deed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ... import syntax
from ...names import Scope
from ...naming import named_snake, taken
from ...problems import Problem
from ...reserved import why_no_field
from ...source import Span
from ...spelling import pascal
from .. import trees
from ..rules import Loop, chain, loop


@dataclass(frozen=True, slots=True)
class Undo:
    """`blind`: it can run without knowing what the step brought (by the deed alone)."""

    attempt: syntax.Attempt
    loop: Loop
    blind: bool


@dataclass(frozen=True, slots=True)
class Step:
    """`captured`: the fields that every way to `next` brings, and their types."""

    number: int
    name: syntax.Name
    doc: str | None
    do: syntax.Attempt
    loop: Loop
    undo: Undo | None
    captured: Mapping[str, syntax.TypeExpr]

    @property
    def title(self) -> str:
        return pascal(self.name.text)

    @property
    def deed(self) -> str:
        return f"{self.name.text}_deed"


def step_back(steps: tuple[Step, ...], number: int, *, own: bool) -> Step | None:
    """The nearest step with an undo, before `number`, or from it on when `own`."""
    last = number + 1 if own else number
    return next(
        (step for step in reversed(steps[:last]) if step.undo is not None), None
    )


def steps_of(
    saga: syntax.Saga, scope: Scope, problems: list[Problem]
) -> Iterator[Step]:
    seen: dict[str, Span] = {}
    number = 0
    for item in saga.items:
        if not isinstance(item, syntax.Step):
            continue
        name = item.name
        if name.text in seen:
            problems.append(taken(name.text, name.span, seen[name.text]))
            continue
        seen[name.text] = name.span
        problems += named_snake(name, "step", why_no_field(name.text))
        captured = _captured(item.do)
        undo: Undo | None = None
        if isinstance(item.undo, syntax.Attempt):
            undo = Undo(
                item.undo, loop(item.undo, scope), _is_blind(item.undo, captured)
            )
        yield Step(
            number, name, item.doc, item.do, loop(item.do, scope), undo, captured
        )
        number += 1


def _captured(attempt: syntax.Attempt) -> dict[str, syntax.TypeExpr]:
    """The fields that every rule which may lead to `next` brings."""
    found: dict[str, syntax.TypeExpr] | None = None
    first = {
        rule.outcome.name.text: rule
        for rule in reversed(attempt.rules)
        if isinstance(rule, syntax.Rule)
    }
    for rule in attempt.rules:
        if isinstance(rule, syntax.Rule) and first[rule.outcome.name.text] is not rule:
            continue
        if not any(isinstance(part, syntax.Next) for part in chain(rule.action)):
            continue
        fields = rule.outcome.fields if isinstance(rule, syntax.Rule) else ()
        brought = {part.name.text: part.type for part in fields}
        if found is None:
            found = brought
        else:
            found = {n: kind for n, kind in found.items() if brought.get(n) == kind}
    return found or {}


def _is_blind(undo: syntax.Attempt, captured: Mapping[str, syntax.TypeExpr]) -> bool:
    """Whether it takes the deed, and the step's own values only where they may be none."""
    optional = all(
        isinstance(param.type, syntax.OptionalType) and param.value is None
        for param in undo.params
        if trees.params_read((param,)) & set(captured)
    )
    return optional and "deed" in trees.params_read(undo.params)
