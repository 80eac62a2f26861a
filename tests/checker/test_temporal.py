"""`eventually` and `leads` under fairness.

The graphs of `random_graph` have stored verdicts.  The named cases are verdicts that
other checkers are known to have got wrong.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from deedbox_checker.engine import vectors
from deedbox_checker.engine.tables import tables
from deedbox_checker.liveness import product
from deedbox_checker.liveness.graph import Fair, Graph, Hop, Lasso, reachable
from deedbox_checker.liveness.temporal import refute

from .money_saga import ENDED, WORK, saga
from .naive_temporal import FAULT, LAZY, A, B, Labelled, random_graph, violated

STORED = Path(__file__).with_name("verdicts.txt").read_text().split()
FAULTS = ENDS = bytes([0, 0, 0, 1])


def as_graph(found: Labelled) -> Graph:
    rows = [
        [(t, n) for s, n, t in found.edges if s == row] for row in range(found.size)
    ]
    made = tables(found.size, 1, 0, rows, FAULTS)
    return Graph(0, made.offsets, made.targets, made.labels, FAULTS, ENDS)


def groups(found: Labelled) -> list[Fair]:
    return [Fair(f"WF{sorted(g)}", g) for g in found.weak] + [
        Fair(f"SF{sorted(g)}", g, strong=True) for g in found.strong
    ]


def refuted(found: Labelled) -> Lasso | None:
    premise = bytes(n in found.premise for n in range(found.size))
    target = bytes(n in found.target for n in range(found.size))
    return refute(as_graph(found), premise, target, groups(found))


def leads(
    edges: list[tuple[int, int, int]],
    target: set[int],
    weak: list[set[int]] | None = None,
    strong: list[set[int]] | None = None,
) -> Lasso | None:
    """Whether state 0 leads to `target`."""
    size = max(max(s, t) for s, _, t in edges) + 1
    return refuted(
        Labelled(
            size,
            tuple(edges),
            frozenset((0,)),
            frozenset(target),
            tuple(map(frozenset, weak or [])),
            tuple(map(frozenset, strong or [])),
        )
    )


def test_the_stored_verdicts_are_those_of_the_naive_definition() -> None:
    fresh = [
        "broken" if violated(random_graph(seed)) else "holds" for seed in range(300)
    ]
    assert fresh == STORED


def test_every_stored_verdict_is_found() -> None:
    found = [
        "holds" if refuted(random_graph(seed)) is None else "broken"
        for seed in range(300)
    ]
    assert found == STORED
    assert 75 < STORED.count("holds") < 225


def is_step(found: Labelled, source: int, hop: Hop) -> bool:
    return (source, hop.label, hop.state) in found.edges and source != hop.state


@pytest.mark.parametrize(
    "seed", [n for n, word in enumerate(STORED) if word == "broken"]
)
def test_every_counterexample_is_a_fair_run_that_owes_for_ever(seed: int) -> None:
    found = random_graph(seed)
    lasso = refuted(found)
    assert lasso is not None
    states = [0]
    for hop in lasso.prefix + lasso.loop:
        assert is_step(found, states[-1], hop)
        states.append(hop.state)
    assert states[lasso.owing] in found.premise
    assert not found.target & set(states[lasso.owing :])
    entry = len(lasso.prefix)
    assert states[-1] == states[entry]
    assert all(hop.label != FAULT for hop in lasso.loop)
    inside = set(states[entry:])
    taken = {hop.label for hop in lasso.loop}
    for group, strong in [(g, False) for g in found.weak] + [
        (g, True) for g in found.strong
    ]:
        possible = [
            any(s == n and label in group and t != n for s, label, t in found.edges)
            for n in inside
        ]
        assert taken & group or not (any(possible) if strong else all(possible))


def test_a_run_that_stops_owing_is_broken() -> None:
    """A checker dropped `<>[]` and took stuttering for progress."""
    lasso = leads([(0, A, 1), (1, LAZY, 2)], target={2}, weak=[{A}])
    assert lasso == Lasso((Hop(A, 1),), (), 0, (("WF[0]", "not possible here"),))


def test_fairness_is_judged_on_the_component_and_not_on_the_whole_graph() -> None:
    """B is taken elsewhere, yet always possible and never taken in the loop."""
    edges = [(0, A, 1), (1, A, 0), (0, B, 2), (1, B, 2), (2, B, 3)]
    assert leads(edges, target={2}, weak=[{A}, {B}]) is None
    assert leads(edges, target={2}, weak=[{A}]) is not None


def test_a_step_that_changes_nothing_is_not_taken() -> None:
    """Stuttering was counted as the action."""
    edges = [(0, A, 0), (0, A, 1)]
    assert leads(edges, target={1}, weak=[{A}]) is None


def test_a_step_that_changes_nothing_does_not_enable() -> None:
    """A no-op kept a state alive for ever."""
    assert leads([(0, A, 0), (0, B, 1)], target={1}, weak=[{A}]) is not None


def test_a_loop_is_a_run_and_not_only_a_path_to_an_end() -> None:
    """`eventually` was answered on acyclic graphs only."""
    edges = [(0, A, 1), (1, A, 0), (1, B, 2)]
    assert leads(edges, target={2}, weak=[{A}]) is not None


def test_weak_fairness_does_not_help_what_is_possible_now_and_then() -> None:
    """Missed by a checker under its flag for weak fairness."""
    edges = [(0, A, 1), (1, A, 0), (1, B, 2)]
    assert leads(edges, target={2}, weak=[{A}, {B}]) is not None
    assert leads(edges, target={2}, weak=[{A}], strong=[{B}]) is None


def test_fairness_within_one_process() -> None:
    """Fairness between processes alone leaves this one starving."""
    edges = [(0, A, 1), (1, A, 0), (0, B, 2), (1, B, 2)]
    assert leads(edges, target={2}, weak=[{A, B}]) is not None
    assert leads(edges, target={2}, weak=[{A}, {B}]) is None


def test_a_fault_for_ever_refutes_nothing() -> None:
    """Crash injection made a property fail by crashing for ever."""
    edges = [(0, A, 1), (0, FAULT, 2), (2, A, 0)]
    assert leads(edges, target={1}, weak=[{A}]) is None


def test_a_fault_that_is_possible_does_not_excuse_stopping() -> None:
    edges = [(0, FAULT, 1), (1, A, 2)]
    lasso = leads(edges, target={2}, weak=[{A}])
    assert lasso is not None
    assert lasso.prefix == ()
    assert lasso.loop == ()


def test_a_component_is_split_again_when_strong_fairness_forbids_a_part_of_it() -> None:
    """0 and 1 loop for ever although 2, in the same component, would have to leave."""
    edges = [(0, A, 1), (1, A, 0), (1, LAZY, 2), (2, LAZY, 0), (2, B, 3)]
    lasso = leads(edges, target={3}, weak=[{A}], strong=[{B}])
    assert lasso is not None
    assert {hop.state for hop in lasso.loop} == {0, 1}


def test_a_state_that_owes_is_not_the_same_state_before_it_owes() -> None:
    """0 is reached owing nothing, and again owing: components of states forgot which."""
    edges = [(0, A, 1), (1, A, 0), (0, B, 2)]
    found = Labelled(
        3,
        tuple(edges),
        frozenset((1,)),
        frozenset((2,)),
        (frozenset((A,)), frozenset((B,))),
        (),
    )
    lasso = refuted(found)
    assert lasso is not None
    assert lasso.owing == 1
    assert {hop.state for hop in lasso.loop} == {0, 1}
    assert refuted(replace(found, weak=(), strong=found.weak)) is None


def test_an_exit_that_a_fault_alone_opens_is_no_way_out() -> None:
    """A no-op and a crash: the loop goes on when the faults have ended."""
    edges = [(0, A, 1), (1, A, 0), (1, FAULT, 2), (1, B, 1)]
    assert leads(edges, target={2}, weak=[{A}, {B}]) is not None


def test_the_counterexample_uses_the_fewest_faults() -> None:
    edges = [(0, FAULT, 3), (0, A, 1), (1, A, 2), (2, A, 3), (3, LAZY, 4)]
    lasso = leads(edges, target={4}, weak=[{A}])
    assert lasso is not None
    assert [hop.state for hop in lasso.prefix] == [1, 2, 3]


def test_what_is_owed_before_the_target_and_met_at_once_is_not_owed() -> None:
    assert leads([(0, A, 1)], target={0, 1}, weak=[{A}]) is None


def settled(crashes: int, fair: bool) -> tuple[int, Lasso | None]:
    """Two orders in one process: does the run end, if each order's worker goes on?"""
    model = saga(attempts=1, crashes=crashes)
    found = product.product(vectors.explore(model.tables, 2), ends=bytes([0, 1]))
    size = model.tables.locals
    ended = [order.step in ENDED and not order.owed for order in model.orders]
    cells: list[int] = found.cells.tolist()
    target = bytes(ended[cell // size % size] and ended[cell % size] for cell in cells)
    premise = bytes(number == found.graph.start for number in range(found.graph.size))
    each = [Fair(f"order {n}", frozenset((2 * n + WORK,))) for n in range(2)]
    chosen = each if fair else each[:1]
    return found.graph.size, product.refute(found.graph, premise, target, chosen)


def test_two_orders_come_to_an_end_when_both_workers_go_on() -> None:
    assert settled(crashes=2, fair=True) == (128_502, None)


def test_two_orders_need_both_workers() -> None:
    _, lasso = settled(crashes=0, fair=False)
    assert lasso is not None


def test_arrays_say_what_single_states_say() -> None:
    for seed in range(300):
        found = random_graph(seed)
        graph = as_graph(found)
        if len(reachable(graph)) == graph.size:
            premise = bytes(n in found.premise for n in range(found.size))
            target = bytes(n in found.target for n in range(found.size))
            lasso = product.refute(graph, premise, target, groups(found))
            assert (lasso is None) == (STORED[seed] == "holds")
