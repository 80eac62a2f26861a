"""What SQLite keeps of a machine: the names of its table, and the columns of its view.

The statements themselves stand in the template, whole, so that a reader reviews
SQL.  Only names of the spec enter it, always quoted, and they hold no quotes.
"""

from __future__ import annotations

from deedbox_dsl import core
from deedbox_dsl.spelling import snake

from . import plan

ROW = ("id", "rev", "phase", "at", "wake_at", "parked")
"""What the view shows of the row itself, before the fields of the state."""


def table(machine: core.Machine) -> plan.Table:
    name = snake(machine.name)
    return plan.Table(
        name=f"deedbox_{name}",
        view=name,
        phases=_phases(machine),
        columns=_columns(machine),
        migrates=bool(machine.migrations),
    )


def _phases(machine: core.Machine) -> tuple[str, ...]:
    """Those of released versions too: their rows stay until they are migrated."""
    own = [each.name for each in machine.states]
    older = [
        each.name for migration in machine.migrations for each in migration.older.states
    ]
    return tuple(dict.fromkeys([*own, *older]))


def _columns(machine: core.Machine) -> tuple[plan.Column, ...]:
    """One for each field of any state, in the order of the spec; SQLite knows no case."""
    fields = [each.name for each in (*machine.key, *machine.given)]
    fields += ["born", "issued", "ticket", "deed_number"]
    fields += [each.name for state in machine.states for each in state.fields]
    taken: set[str] = set(ROW)
    columns: list[plan.Column] = []
    for field in dict.fromkeys(fields):
        column = field
        while column.lower() in taken:
            column += "_"
        taken.add(column.lower())
        columns.append(plan.Column(column, f"$.{field}"))
    return tuple(columns)
