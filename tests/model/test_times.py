"""The law of the explored times: what an instance does, the explorer does with its form.

For every instant, length of time and jitter, the explored form of what a step makes is
among what the explorer makes of the explored form of what it was made from; and when
time goes on, it goes through places that are explored (B9, B10).
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .times import SPECS, Life, known


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_a_step_of_an_instance_is_a_step_that_is_explored(
    name: str, data: st.DataObject
) -> None:
    life = Life(known(name), lambda some: data.draw(st.sampled_from(some)))
    if data.draw(st.integers(0, 3)):
        life.is_found()
    else:
        life.steps(life.starts())
    for _ in range(data.draw(st.integers(1, 4))):
        life.hears()
        life.passes()
