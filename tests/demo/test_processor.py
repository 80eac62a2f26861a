"""The far side of the demo: what both lanes may count on."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from deedbox.demo.account import Account, exchange
from deedbox.demo.processor import Answer, Character
from deedbox.demo.stage import Files, Stage

CHARACTER = Character(
    declines={"mug": 3}, sold_out=frozenset({"lamp"}), hold_refunds=True
)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with Stage(Files(tmp_path), CHARACTER) as stage:
        stage.start_processor()
        yield stage.port


def wait_until_held(port: int, shops: bytes) -> None:
    while exchange(port, "GET", "/held") != shops:
        time.sleep(0.01)


def test_the_fourth_charge_is_accepted(port: int) -> None:
    """OS-02."""
    shop = Account(port, "A")
    asked = [shop.ask("charge", key=f"k{n}", order="mug") for n in range(4)]
    outcomes = [answer.outcome for answer in asked]
    assert outcomes == ["declined", "declined", "declined", "paid"]


def test_one_key_has_one_answer_negative_ones_included(port: int) -> None:
    shop = Account(port, "A")
    first = shop.ask("charge", key="k1", order="mug")
    for number in range(2, 5):
        shop.ask("charge", key=f"k{number}", order="mug")
    assert first.outcome == "declined"
    assert shop.ask("charge", key="k1", order="mug") == first


def test_each_shop_is_declined_by_its_own_count(port: int) -> None:
    for number in range(3):
        Account(port, "A").ask("charge", key=f"k{number}", order="mug")
    answer = Account(port, "B").ask("charge", key="k0", order="mug")
    assert answer.outcome == "declined"


def test_what_is_sold_out_cannot_be_reserved(port: int) -> None:
    shop = Account(port, "A")
    assert shop.ask("reserve", key="k1", order="lamp").outcome == "sold_out"
    assert shop.ask("reserve", key="k2", order="mug").outcome == "reserved"


def test_a_refund_of_a_charge_that_never_came_makes_its_key_void(port: int) -> None:
    exchange(port, "POST", "/open")
    shop = Account(port, "A")
    shop.ask("refund", key="k2", order="lamp", deed="k1")
    late = shop.ask("charge", key="k1", order="lamp")
    assert (late.outcome, late.reason) == ("declined", "void")


def test_a_held_refund_is_done_when_the_gate_opens(port: int) -> None:
    answers: list[Answer] = []

    def refund() -> None:
        answers.append(Account(port, "A").ask("refund", key="k1", order="lamp"))

    caller = Thread(target=refund)
    caller.start()
    wait_until_held(port, b'["A"]')
    assert answers == []
    exchange(port, "POST", "/open")
    caller.join()
    assert [answer.outcome for answer in answers] == ["refunded"]


def test_a_held_refund_whose_caller_died_is_never_done(port: int) -> None:
    body = b'{"shop":"A","verb":"refund","key":"k1","order":"lamp"}'
    with socket.create_connection(("127.0.0.1", port)) as caller:
        head = f"POST / HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        caller.sendall(head + body)
        wait_until_held(port, b'["A"]')
    exchange(port, "POST", "/open")
    wait_until_held(port, b"[]")
    shop = Account(port, "A")
    before = time.time_ns() // 1_000_000
    assert shop.ask("refund", key="k1", order="lamp").at >= before
