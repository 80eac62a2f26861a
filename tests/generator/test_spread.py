"""The spread of a delay: fixed for ever by ten vectors, and its bounds (S6)."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

import pytest
from deedbox import spread
from hypothesis import given
from hypothesis import strategies as st

VECTORS: list[tuple[int, int | Literal["full"], str, int]] = [
    (2_000, 20, "Order/o-1/1786952955102/1", 1_946),
    (4_000, 20, "Order/o-1/1786952955102/2", 3_244),
    (8_000, 20, "Order/o-1/1786952955102/3", 7_708),
    (5_000, "full", "Order/o-1/1786952955102/4", 4_723),
    (600_000, "full", "Order/o-1/1786952955102/9", 60_429),
    (1_000, 1, "SyncRetry/b/0/1", 990),
    (1_000, 100, "SyncRetry/b/0/2", 495),
    (60_000, 50, 'Pair/["a",7]/1/1', 42_112),
    (1, "full", "x/y/0/1", 1),
    (86_400_000, "full", "Währung/ö/1/1", 52_408_168),
]


@pytest.mark.parametrize(("delay", "jitter", "seed", "wanted"), VECTORS)
def test_a_stored_machine_waits_tomorrow_what_it_waits_today(
    delay: int, jitter: int | Literal["full"], seed: str, wanted: int
) -> None:
    assert spread(delay, jitter, seed) == wanted


delays = st.integers(0, 36_500 * 86_400_000)


@given(delays, st.integers(1, 100), st.text())
def test_a_part_of_the_delay_is_taken_away_and_never_more(
    delay: int, percent: int, seed: str
) -> None:
    least = delay - delay * percent // 100
    assert least <= spread(delay, percent, seed) <= delay


@given(delays, st.text())
def test_a_full_spread_is_never_later_and_never_nothing(delay: int, seed: str) -> None:
    assert min(delay, 1) <= spread(delay, "full", seed) <= delay


@given(delays.filter(bool), st.text())
def test_the_part_comes_from_the_first_eight_bytes_of_the_hash(
    delay: int, seed: str
) -> None:
    chosen = int(sha256(seed.encode()).hexdigest()[:16], 16)
    assert spread(delay, "full", seed) == delay - chosen % delay
