"""What a saga and a scan say of themselves in the module that is generated."""

from __future__ import annotations

from deedbox_dsl import core, roles

from . import plan
from .naming import outcome_class


def saga_roles(machine_: core.Machine) -> plan.Saga | None:
    found = roles.saga(machine_)
    if found is None:
        return None
    steps = tuple(
        plan.StepRoles(
            step.do,
            tuple(outcome_class(step.do, each) for each in step.done),
            step.undo,
            tuple(outcome_class(step.undo or "", each) for each in step.undone),
        )
        for step in found.steps
    )
    return plan.Saga(steps, found.done, found.undone)


def scan_roles(machine_: core.Machine) -> plan.Scan | None:
    found = roles.scan(machine_)
    if not isinstance(found, roles.Scan):
        return None
    return plan.Scan(
        found.fetch,
        outcome_class(found.fetch, found.outcome),
        found.listed,
        found.by,
        found.due,
        found.item,
        found.cursor,
        found.limit,
        found.page,
    )
