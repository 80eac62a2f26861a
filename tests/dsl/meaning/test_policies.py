"""A policy is a table of exact waits (C01, C03)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from deedbox_dsl import core
from hypothesis import given
from hypothesis import strategies as st

from tests.dsl.meaning.specs import found, program


def ladder(words: str) -> core.Ladder:
    (module,) = program(f"policy some {{ {words} }}").modules
    (only,) = module.ladders
    return only


@pytest.mark.parametrize(
    ("words", "delays"),
    [
        ("first 2s factor 2 max 30s attempts 4 jitter 20%", (2_000, 4_000, 8_000)),
        ("first 1s factor 2 max 60s attempts 6 jitter none", (1_000, 2_000, 4_000, 8_000, 16_000)),
        ("first 100ms factor 2 max 150ms attempts 4 jitter none", (100, 150, 150)),
        ("first 2s factor 2 max 60s attempts unlimited jitter none",
         (2_000, 4_000, 8_000, 16_000, 32_000, 60_000)),
        ("first 1s factor 1.5 max 1h attempts 5 jitter none", (1_000, 1_500, 2_250, 3_375)),
        ("first 5s factor 1 max 1m attempts unlimited jitter none", (5_000,)),
        ("first 5s factor 1 max 1m attempts 3 jitter none", (5_000, 5_000)),
        ("first 1s factor 2 max 1s attempts 1 jitter none", ()),
    ],
)  # fmt: skip
def test_the_waits_stand_in_a_table(words: str, delays: tuple[int, ...]) -> None:
    assert ladder(words).delays == delays


@given(
    first=st.integers(1, 10_000),
    tenths=st.integers(11, 50),
    most=st.integers(10_000, 10_000_000),
    attempts=st.integers(2, 200),
)
def test_a_wait_is_the_exact_power_cut_to_milliseconds(
    first: int, tenths: int, most: int, attempts: int
) -> None:
    words = f"first {first}ms factor {tenths // 10}.{tenths % 10} max {most}ms attempts {attempts} jitter none"
    expected = [
        int(min(first * Fraction(tenths, 10) ** issue, Fraction(most)))
        for issue in range(attempts - 1)
    ]
    assert list(ladder(words).delays) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("first 2s factor 2 max 1s attempts 4 jitter none", "longer than `max`"),
        ("first 2s factor 0.5 max 9s attempts 4 jitter none", "below 1"),
        ("first 2s factor 2 max 9s attempts 0 jitter none", "at least 1"),
        ("first 2s factor 2 max 9s attempts 4 jitter 101%", "from 1% to 100%"),
        ("first 2s factor 2 max 9s attempts 4 jitter none within 1s", "ends before"),
        ("first 2s factor 2 max 9s attempts 4", "does not say its `jitter`"),
        ("first 2s", "does not say its `factor`, `max`, `attempts` and `jitter`"),
        (
            "first 1ms factor 1.001 max 1d attempts unlimited jitter none",
            "longer than 1_000",
        ),
        ("first 1ms factor 1 max 1d attempts 100000 jitter none", "longer than 1_000"),
    ],
)
def test_an_inconsistent_policy_is_one_problem(words: str, said: str) -> None:
    (only,) = found(f"policy some {{ {words} }}")
    assert only[0] == "DEED504"
    assert said in only[2]


def test_a_policy_is_kept_as_written_for_its_comment() -> None:
    words = "first 90s factor 2.0 max 1_000s attempts 3 jitter full"
    assert ladder(words).words == (
        "first 90s, factor 2.0, max 1_000s, attempts 3, jitter full"
    )
