"""The engines: known counts, equal results, cheapest runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from deedbox_checker.engine import levels, lists, vectors, walk
from deedbox_checker.engine.digits import start_cell
from deedbox_checker.engine.tables import Tables, Unbounded, close, tables
from hypothesis import given
from hypothesis import strategies as st

from .money_saga import CRASH, Answer, Step, Worker, saga

ENGINES = pytest.mark.parametrize("explore", [lists.explore, vectors.explore])
FREE, FAULT = 0, 1


Explore = Callable[..., levels.Explored]


def graph(size: int, edges: list[tuple[int, int, int]]) -> Tables:
    rows = [[(t, label) for s, t, label in edges if s == row] for row in range(size)]
    return tables(size, 1, 0, rows, faults=bytes([FREE, FAULT]))


@ENGINES
@pytest.mark.parametrize(
    ("attempts", "crashes", "states", "steps"),
    [(1, 0, 16_900, 42_120), (1, 2, 128_502, 481_234)],
)
def test_two_orders_have_the_known_number_of_states(
    explore: Explore, attempts: int, crashes: int, states: int, steps: int
) -> None:
    explored = explore(saga(attempts, crashes).tables, 2)
    assert explored.states == states
    assert walk.transitions(explored) == steps


@ENGINES
def test_two_orders_have_the_known_number_of_states_up_to_their_order(
    explore: Explore,
) -> None:
    """A checker that takes them for a set of equals counts as many."""
    assert walk.orbits(explore(saga(attempts=1, crashes=2).tables, 2)) == 64_548


def test_both_engines_reach_every_state_in_the_same_level() -> None:
    model = saga(attempts=2, crashes=1)
    plain = lists.explore(model.tables, 2)
    fast = vectors.explore(model.tables, 2)
    assert plain.levels == fast.levels
    assert plain.level == fast.level


@ENGINES
def test_no_order_is_done_without_its_money(explore: Explore) -> None:
    model = saga(attempts=2, crashes=2)
    explored = explore(model.tables, 1)
    size = len(model.orders)
    for number, order in enumerate(model.orders):
        if not order.sound:
            rows = range(number, size * 3, size)
            assert walk.first(explored, rows) is None, order


@ENGINES
def test_the_run_to_a_lost_worker_needs_one_crash(
    explore: Explore,
) -> None:
    """A charge was made, its row is still owed, and no worker knows of it."""
    model = saga(attempts=1, crashes=2)
    size = len(model.orders)
    wanted = [
        shared * size + number
        for shared in range(3)
        for number, order in enumerate(model.orders)
        if order.step is Step.CHARGE
        and order.charged
        and order.owed
        and order.worker is Worker.IDLE
        and order.answer is Answer.OK
    ]
    explored = explore(model.tables, 2)
    cell = walk.first(explored, wanted)
    assert cell is not None
    run = walk.run(explored, cell)
    assert [move.label for move in run].count(CRASH) == 1
    assert run[-1].cell == cell
    before = start_cell(model.tables, 2)
    for move in run:
        assert move in walk.successors(explored, before)
        before = move.cell


@ENGINES
def test_a_longer_run_without_a_fault_comes_before_a_short_one_with_a_fault(
    explore: Explore,
) -> None:
    around = graph(4, [(0, 3, FAULT), (0, 1, FREE), (1, 2, FREE), (2, 3, FREE)])
    explored = explore(around)
    assert [move.cell for move in walk.run(explored, 3)] == [1, 2, 3]
    assert [(level.faults, level.steps) for level in explored.levels] == [
        (0, 0), (0, 1), (0, 2), (0, 3),
    ]  # fmt: skip


@ENGINES
def test_a_product_that_is_too_large_is_refused(explore: Explore) -> None:
    with pytest.raises(levels.TooLarge):
        explore(graph(10, []), 3, 999)


def test_a_closure_that_does_not_end_is_refused() -> None:
    with pytest.raises(Unbounded):
        close([0], lambda number: [(number + 1, 0)], limit=1_000)


@st.composite
def graphs(draw: st.DrawFn) -> Tables:
    size = draw(st.integers(1, 6))
    node = st.integers(0, size - 1)
    return graph(size, draw(st.lists(st.tuples(node, node, st.sampled_from([0, 1])))))


def cheapest(tables: Tables) -> dict[int, tuple[int, int]]:
    """Faults and steps to each row, by plain relaxation until nothing changes."""
    cost = {tables.start: (0, 0)}
    changed = True
    while changed:
        changed = False
        for row, (faults, steps) in list(cost.items()):
            for edge in tables.steps(row):
                here = (faults + tables.faults[tables.labels[edge]], steps + 1)
                target = tables.targets[edge]
                if target not in cost or here < cost[target]:
                    cost[target] = here
                    changed = True
    return cost


@given(graphs())
def test_every_level_is_the_cheapest_cost(found: Tables) -> None:
    for explore in (lists.explore, vectors.explore):
        explored = explore(found)
        costs = {
            row: (level.faults, level.steps)
            for row, number in enumerate(explored.level)
            if number >= levels.FIRST
            for level in [explored.levels[number - levels.FIRST]]
        }
        assert costs == cheapest(found)


@given(graphs(), st.integers(1, 3))
def test_both_engines_give_the_same_first_run(found: Tables, instances: int) -> None:
    plain = lists.explore(found, instances)
    fast = vectors.explore(found, instances)
    assert plain.level == fast.level
    cell = walk.first(plain, [found.locals - 1])
    assert cell == walk.first(fast, [found.locals - 1])
    if cell is not None:
        assert walk.run(plain, cell) == walk.run(fast, cell)
