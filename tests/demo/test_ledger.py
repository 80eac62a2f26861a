"""The demo judges by the ledger: any other end than the one it tells is a failure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from deedbox.demo.ledger import EXPECTED, Account, as_told

TOLD = [
    Account(shop, order, status, charges, refunds, amount=100)
    for (shop, order), (status, charges, refunds) in EXPECTED.items()
]


def test_the_end_that_is_told() -> None:
    assert as_told(TOLD)


@pytest.mark.parametrize("at", range(len(TOLD)))
@pytest.mark.parametrize("field", ["charges", "refunds"])
def test_one_charge_or_refund_more_is_not_as_told(at: int, field: str) -> None:
    more = getattr(TOLD[at], field) + 1
    other = replace(TOLD[at], **{field: more})
    assert not as_told([*TOLD[:at], other, *TOLD[at + 1 :]])


@pytest.mark.parametrize("at", range(len(TOLD)))
def test_an_order_that_is_missing_is_not_as_told(at: int) -> None:
    assert not as_told([*TOLD[:at], *TOLD[at + 1 :]])


@pytest.mark.parametrize("at", range(len(TOLD)))
def test_another_status_is_not_as_told(at: int) -> None:
    other = replace(TOLD[at], status="charging")
    assert not as_told([*TOLD[:at], other, *TOLD[at + 1 :]])
