"""Laws of every saga: its machine is whole, prints as a spec, and means the same."""

from __future__ import annotations

import dataclasses

from deedbox_dsl import Program, compile, core
from deedbox_dsl.format import format_machine
from hypothesis import given, settings

from tests.dsl.meaning.sagas import POLICIES, USE, sagas

# A drawn saga may import what it does not use, never abort, or declare what it never asks for.
HARMLESS = {"DEED206", "DEED405", "DEED455"}


def compiled(text: str) -> Program:
    return compile({"order.deed": text, "patience.deed": POLICIES})


def order(program: Program) -> core.Machine:
    (module,) = (module for module in program.modules if module.path == "order.deed")
    (machine,) = module.machines
    return machine


@settings(max_examples=60, deadline=None)
@given(sagas())
def test_a_saga_whose_parts_fit_is_a_machine_without_errors(text: str) -> None:
    program = compiled(text)
    assert {problem.code for problem in program.problems} <= HARMLESS
    assert order(program).kind == "saga"


@settings(max_examples=40, deadline=None)
@given(sagas())
def test_the_printed_machine_of_a_saga_compiles_to_the_same_core(text: str) -> None:
    program = compiled(text)
    lowered = program.lowered["order.deed", "Order"]
    again = compiled(USE + format_machine(lowered))
    assert {problem.code for problem in again.problems} <= HARMLESS
    assert order(again) == dataclasses.replace(order(program), kind="machine")


@settings(max_examples=40, deadline=None)
@given(sagas())
def test_an_undo_knows_the_deed_that_it_undoes(text: str) -> None:
    """B2: whatever way leads to an undo, its `deed` is text that the state holds or the open deed."""
    machine = order(compiled(text))
    undos = {c.name for c in machine.commands if c.name.startswith("take_back")}
    states = {state.name: state for state in machine.states}
    for clause in machine.clauses:
        for issue in clause.body.issues if clause.body is not None else ():
            if isinstance(issue, core.Do) and issue.command in undos:
                deed = issue.arguments[-1]
                if isinstance(deed, core.Deed):
                    assert states[clause.state].open_deed is not None
                else:
                    assert isinstance(deed, core.Read)
                    assert deed.name in {
                        own.name for own in states[clause.state].fields
                    }
