"""A plain machine by hand: two timers, rejected and ignored messages, a command without outcomes."""

from __future__ import annotations

import msgspec
import pytest
from deedbox import Due, Duration, Instant, Refused
from lease import lease
from lease.types import HolderId, ResourceId

AT = Instant(1_000_000)
ANN, BOB = HolderId("ann"), HolderId("bob")
TTL = Duration(60_000)


def step(state: lease.State, msg: lease.Msg) -> lease.Taken:
    after = lease.reduce(state, msg)
    assert not isinstance(after, Refused), after
    return after


def free() -> lease.State:
    return lease.start(lease.Start(resource=ResourceId("r-1"), at=AT))[0]


def held() -> lease.Held:
    state, _ = step(free(), lease.Acquire(ANN, TTL, AT))
    assert isinstance(state, lease.Held)
    return state


def draining() -> lease.Draining:
    state, _ = step(held(), Due(Instant(AT + TTL)))
    assert isinstance(state, lease.Draining)
    return state


def refused(state: lease.State, msg: lease.Msg) -> str:
    answer = lease.reduce(state, msg)
    assert isinstance(answer, Refused)
    return answer.kind


def test_acquiring_announces_the_holder_and_sets_the_deadline() -> None:
    state, commands = step(free(), lease.Acquire(ANN, TTL, AT))
    assert lease.wake(state) == AT + TTL
    assert commands == (lease.Announce(f"Lease/r-1/{AT}/1", 1, ResourceId("r-1"), ANN),)


def test_a_renewal_only_moves_the_deadline_later() -> None:
    state, _ = step(held(), lease.Renew(ANN, Duration(1), Instant(AT + 5)))
    assert lease.wake(state) == AT + TTL
    state, _ = step(state, lease.Renew(ANN, TTL, Instant(AT + 5)))
    assert lease.wake(state) == AT + 5 + TTL


def test_a_renewal_by_another_or_the_hundred_and_first_is_rejected() -> None:
    assert refused(held(), lease.Renew(BOB, TTL, AT)) == "rejected"
    tired = msgspec.structs.replace(held(), renewals=100)
    assert refused(tired, lease.Renew(ANN, TTL, AT)) == "rejected"


def test_expiry_asks_to_evict_and_gives_thirty_seconds() -> None:
    state, commands = step(held(), Due(Instant(AT + TTL)))
    assert lease.wake(state) == AT + TTL + 30_000
    assert [type(each) for each in commands] == [lease.Evict]
    assert lease.awaited(state) == 2


def test_leaving_by_itself_while_draining_frees_and_the_answer_is_late() -> None:
    state, _ = step(draining(), lease.Release(ANN, AT))
    assert isinstance(state, lease.Free)
    assert refused(state, lease.EvictEvicted(AT, 2)) == "late"


def test_a_holder_that_does_not_leave_retires_the_resource() -> None:
    state, commands = step(draining(), Due(Instant(AT + TTL + 30_000)))
    assert isinstance(state, lease.Retired)
    assert (state.reason, commands) == ("holder ann did not leave", ())


def test_what_a_state_ignores_or_refuses_by_name_it_says_so() -> None:
    assert refused(free(), lease.Renew(ANN, TTL, AT)) == "ignored"
    assert refused(held(), lease.Acquire(BOB, TTL, AT)) == "rejected"
    assert refused(draining(), lease.Acquire(BOB, TTL, AT)) == "ignored"
    assert refused(free(), Due(AT)) == "not_due"
    assert refused(free(), lease.Start(resource=ResourceId("r-1"), at=AT)) == "kept"


def test_a_negative_duration_from_outside_does_not_decode() -> None:
    """B9."""
    document = b'{"type":"Acquire","holder":"ann","ttl":-1}'
    with pytest.raises(msgspec.ValidationError, match=r"\$\.ttl"):
        msgspec.json.decode(document, type=lease.Acquire)
