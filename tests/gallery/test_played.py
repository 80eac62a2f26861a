"""Gallery machines, played against a far side that the test scripts, on logical time.

Between any two steps the state goes through the codec, as after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pytest
from deedbox import Due, Instant, Refused
from msgspec import json

Generated = Callable[[str], Any]
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


@dataclass
class Play:
    """One instance: its state, what it owes, and all that was ever asked for."""

    module: Any
    now: int = 0
    state: Any = None
    owed: list[Any] = field(default_factory=list[Any])
    asked: list[Any] = field(default_factory=list[Any])

    @property
    def stored(self) -> type[object]:
        state: object = self.state
        return type(state)

    @property
    def phase(self) -> str:
        return self.stored.__name__

    @property
    def wake(self) -> int | None:
        wake: int | None = self.module.wake(self.state)
        return wake

    def start(self, **given: object) -> Play:
        message = self.module.Start(**given, at=Instant(self.now))
        self._reached(self.module.start(message))
        return self

    def send(self, name: str, **fields: object) -> Refused | None:
        """A message, an answer to what is owed, or an answer by its `ticket`."""
        kind = getattr(self.module, name)
        if "ticket" in kind.__struct_fields__:
            fields.setdefault("ticket", self.module.awaited(self.state) or 0)
        return self.take(kind(**fields, at=Instant(self.now)))

    def due(self) -> Refused | None:
        """Time goes on to the next deadline."""
        assert self.wake is not None
        self.now = max(self.now, self.wake)
        return self.take(Due(at=Instant(self.now)))

    def take(self, message: object) -> Refused | None:
        revived = json.decode(json.encode(self.state), type=self.stored)
        step = self.module.reduce(revived, message)
        if isinstance(step, Refused):
            return step
        self._reached(step)
        return None

    def _reached(self, taken: tuple[Any, tuple[Any, ...]]) -> None:
        before = self.state
        self.state, commands = taken
        awaited = self.module.awaited(self.state)
        if before is None or awaited != self.module.awaited(before):
            self.owed = [c for c in self.owed if self._is_free(c)]
        self.owed += commands
        self.asked += commands

    def _is_free(self, command: object) -> bool:
        """Nothing answers it, so it is owed whatever the state."""
        (kind,) = (k for k in self.module.machine.commands if k.struct is type(command))
        return not kind.outcomes

    def ended(self) -> bool:
        return self.stored in self.module.machine.finals

    def live(self, far_side: Callable[[Any], Any], steps: int = 10_000) -> Play:
        """Until it ends or waits for messages only; an answer of None is silence."""
        for _ in range(steps):
            if self.ended():
                break
            if self.owed:
                command = self.owed.pop(0)
                answer = far_side(command)
                if answer is not None and not self._is_free(command):
                    outcome, fields = answer
                    self.send(outcome, ticket=command.ticket, **fields)
            elif self.wake is not None:
                self.due()
            else:
                break
        return self

    def names(self) -> list[str]:
        return [type(command).__name__ for command in self.asked]


def waits(play: Play, answer: str, **fields: object) -> Iterator[int]:
    """Answer every issue so, and give the wait that follows it."""
    while True:
        play.send(answer, **fields)
        if play.ended() or play.wake is None:
            return
        yield play.wake - play.now
        play.due()


# ---- the pending pull ------------------------------------------------------------------


def test_five_pulls_four_waits_and_then_the_record_stays(generated: Generated) -> None:
    """C03, SR-10: `attempts 5` is five issues, the first included."""
    play = Play(generated("sync.sync_retry")).start(backend="b", runtime="r1")
    assert list(waits(play, "PullFailed", error="down")) == [1_000, 2_000, 4_000, 8_000]
    assert play.phase == "Exhausted"
    assert (play.state.attempts, play.state.error) == (5, "down")
    assert [command.attempt for command in play.asked] == [1, 2, 3, 4, 5]


def test_exhausted_is_sticky_for_its_runtime_and_gives_way_to_a_newer_one(
    generated: Generated,
) -> None:
    """SR-31 the other way round."""
    play = Play(generated("sync.sync_retry")).start(backend="b", runtime="r1")
    list(waits(play, "PullFailed", error="down"))
    kept = play.send("Start", backend="b", runtime="r1")
    assert kept is not None
    assert kept.kind == "kept"
    assert play.send("Start", backend="b", runtime="r2") is None
    assert (play.phase, play.state.attempt) == ("Running", 1)
    assert len({command.idempotency_key for command in play.asked}) == 6


def test_an_answer_to_the_pull_of_an_older_runtime_is_late(
    generated: Generated,
) -> None:
    play = Play(generated("sync.sync_retry")).start(backend="b", runtime="r1")
    play.send("Start", backend="b", runtime="r2")
    late = play.send("PullFailed", error="down", ticket=1)
    assert late is not None
    assert late.kind == "late"
    assert play.state.runtime == "r2"


# ---- the repository --------------------------------------------------------------------


def test_a_failed_step_waits_out_its_ladder(generated: Generated) -> None:
    """NE-03, NE-04: 2 s after the first failure, 60 s from the sixth on."""
    play = Play(generated("repository.indexer")).start(repo="r")
    ladder = list(islice(waits(play, "IndexStepFailed", error="no"), 7))
    assert ladder == [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]


def test_an_early_wake_issues_nothing_and_moves_no_deadline(
    generated: Generated,
) -> None:
    """NE-06, NE-35: neither another timer nor a demand shortens a retry."""
    play = Play(generated("repository.indexer")).start(repo="r")
    play.send("IndexStepFailed", error="no")
    due, play.owed = play.state.due, []
    play.now = due - 1
    early = play.take(Due(at=Instant(play.now)))
    assert early is not None
    assert early.kind == "not_due"
    ignored = play.send("Demanded")
    assert ignored is not None
    assert ignored.kind == "ignored"
    assert (play.state.due, play.owed) == (due, [])
    play.due()
    assert play.names() == ["IndexStep", "IndexStep"]


def test_a_demand_during_the_last_step_is_not_lost(generated: Generated) -> None:
    play = Play(generated("repository.indexer")).start(repo="r")
    play.send("Demanded")
    play.send("IndexStepCaughtUp")
    assert (play.phase, len(play.asked)) == ("Running", 2)
    play.send("IndexStepCaughtUp")
    assert play.phase == "Resting"


@dataclass
class Jobs:
    """The list behind the scan: answers a fetch by cursor and limit, as SQL would."""

    module: Any
    jobs: dict[str, int]
    presented: list[str] = field(default_factory=list[str])
    poison: frozenset[str] = frozenset()
    shrinks: bool = False

    def __call__(self, command: Any) -> Any:
        if type(command).__name__ == "ListJobs":
            after = command.after or ""
            found = sorted(name for name in self.jobs if name > after)
            page = tuple(self._job(name) for name in found[: command.limit])
            return "ListJobsPage", {"jobs": page}
        if command.id in self.poison:
            self.presented.append(command.id)
            return "PresentFailed", {"error": "no"}
        self.presented.append(command.id)
        if self.shrinks:
            del self.jobs[command.id]
        return "PresentPresented", {}

    def _job(self, name: str) -> Any:
        due = Instant(self.jobs[name])
        return self.module.Job(id=name, due=due, attempts=0)


def scanned(generated: Generated, jobs: Jobs) -> tuple[Play, int]:
    """One pass, and how many pages it read."""
    play = Play(generated("repository.showcase")).start(repo="r")
    while play.phase != "Resting":
        play.live(jobs, steps=1)
    return play, play.names().count("ListJobs")


@pytest.mark.parametrize(
    ("count", "pages"),
    [(0, 1), (1, 1), (31, 1), (32, 1), (33, 2), (63, 2), (64, 2), (65, 3)],
)
def test_a_full_last_page_ends_the_pass(
    generated: Generated, count: int, pages: int
) -> None:
    """C13, NE-22, NE-23: another page only when another record was really seen."""
    future = {f"{n:03}": DAY for n in range(count)}
    jobs = Jobs(generated("repository.types"), future)
    play, read = scanned(generated, jobs)
    assert (read, jobs.presented) == (pages, [])
    assert play.state.due == play.now + MINUTE
    assert play.now == (pages - 1) * 25


@pytest.mark.parametrize("count", [1, 32, 33, 64, 70])
def test_every_due_record_is_presented_once_in_order(
    generated: Generated, count: int
) -> None:
    names = [f"{n:03}" for n in range(count)]
    jobs = Jobs(generated("repository.types"), dict.fromkeys(names, 0))
    play, _ = scanned(generated, jobs)
    assert jobs.presented == names
    keys = [c.idempotency_key for c in play.asked]
    assert len(set(keys)) == len(keys)


def test_a_due_record_on_the_third_page_is_reached(generated: Generated) -> None:
    """NE-25: records that are passed over keep their page."""
    future = {f"{n:03}": DAY for n in range(80)} | {"070": 0}
    jobs = Jobs(generated("repository.types"), future)
    _, pages = scanned(generated, jobs)
    assert (jobs.presented, pages) == (["070"], 3)


def test_a_set_that_shrinks_under_the_scan_skips_nobody(generated: Generated) -> None:
    """C15: the cursor is a value; nothing is counted, so nothing shifts."""
    names = [f"{n:03}" for n in range(100)]
    types = generated("repository.types")
    jobs = Jobs(types, dict.fromkeys(names, 0), shrinks=True)
    scanned(generated, jobs)
    assert jobs.presented == names


def test_one_poisoned_record_does_not_hold_up_the_others(
    generated: Generated,
) -> None:
    jobs = Jobs(
        generated("repository.types"),
        dict.fromkeys(["a", "b", "c"], 0),
        poison=frozenset({"b"}),
    )
    play, _ = scanned(generated, jobs)
    assert jobs.presented == ["a", *["b"] * 6, "c"]
    assert play.now == 62 * SECOND


def test_an_urgent_wake_comes_forward_and_never_goes_back(
    generated: Generated,
) -> None:
    """NE-31, NE-34: 25 ms from now, unless it is sooner already."""
    play = Play(generated("repository.landing")).start(repo="r")
    play.send("Resumed")
    play.due()
    play.send("LandBlocked", retry_after=5 * MINUTE)
    assert play.state.due == play.now + 5 * MINUTE
    play.send("Submitted")
    assert play.state.due == play.now + 25
    play.now += 15
    before = play.state
    play.send("Approved")
    assert play.state == before


def test_what_arrives_while_landing_lands_too(generated: Generated) -> None:
    play = Play(generated("repository.landing")).start(repo="r")
    play.send("Resumed")
    play.due()
    play.send("Submitted")
    play.send("LandLanded", more=False)
    assert play.phase == "Queued"
    play.due()
    play.send("LandLanded", more=False)
    assert play.phase == "Quiet"


# ---- everyday machines -----------------------------------------------------------------


def delivery(generated: Generated) -> Play:
    return Play(generated("delivery.delivery")).start(
        delivery="d", url="https://shop.test/hook", body="{}"
    )


@pytest.mark.parametrize(
    ("pause", "low", "high"),
    [(SECOND, 4_000, 5_000), (HOUR, HOUR, HOUR)],
)
def test_a_receiver_is_not_asked_earlier_than_it_wished(
    generated: Generated, pause: int, low: int, high: int
) -> None:
    """Retry-After: the longer of the wish and the ladder (5 s, a fifth of it jitter)."""
    play = delivery(generated)
    play.send("PostLimited", pause=pause)
    assert play.wake is not None
    assert low <= play.wake - play.now <= high


def test_a_dead_letter_keeps_the_last_error_and_can_be_sent_again(
    generated: Generated,
) -> None:
    play = delivery(generated)
    list(waits(play, "PostUnavailable", error="503"))
    assert (play.phase, play.state.attempts) == ("DeadLetter", 8)
    assert play.state.error == "503"
    sent = {"delivery": "d", "url": "https://shop.test/hook", "body": "{}"}
    assert play.send("Start", **sent) is None
    play.send("PostAccepted", status=204)
    kept = play.send("Start", **sent)
    assert kept is not None
    assert (kept.kind, play.phase) == ("kept", "Delivered")


def test_silence_asks_for_the_same_delivery_again(generated: Generated) -> None:
    play = delivery(generated)
    play.due()
    assert play.phase == "Silent"
    play.due()
    first, second = play.asked
    assert first.idempotency_key == second.idempotency_key
    assert first.ticket != second.ticket


def subscription(generated: Generated) -> Play:
    play = Play(generated("subscription.subscription"))
    play.start(subscription="s", price=900, period=30 * DAY)
    play.send("ChargePaid", receipt="r")
    return play


def test_dunning_waits_its_days_and_then_suspends(generated: Generated) -> None:
    play = subscription(generated)
    play.due()  # the reminder
    play.due()  # the next period
    assert play.phase == "Charging"
    ladder = list(waits(play, "ChargeDeclined", reason="expired"))
    assert ladder == [DAY, 2 * DAY, 4 * DAY, 30 * DAY]  # and the last chance
    assert play.phase == "Ended"
    assert play.names().count("SwitchOff") == 1


def test_a_new_card_is_charged_at_once(generated: Generated) -> None:
    play = subscription(generated)
    play.due()
    play.due()
    play.send("ChargeDeclined", reason="expired")
    assert play.phase == "PastDue"
    play.send("CardChanged")
    assert (play.phase, play.state.attempt) == ("Charging", 1)
    play.send("ChargePaid", receipt="r")
    assert play.state.paid_until == 60 * DAY


def test_a_cancelled_subscription_ends_with_what_was_paid(
    generated: Generated,
) -> None:
    play = subscription(generated)
    play.send("Cancelled")
    assert play.wake == 30 * DAY
    play.due()
    assert (play.phase, play.names().count("Charge")) == ("Ended", 1)


def test_one_worker_leads_and_a_lost_job_waits_for_a_person(
    generated: Generated,
) -> None:
    play = Play(generated("leader.leader")).start(schedule="s", every=HOUR)
    play.send("Campaign", worker="a", ttl=5 * MINUTE)
    second = play.send("Campaign", worker="b", ttl=5 * MINUTE)
    assert second is not None
    assert second.kind == "rejected"
    while play.phase != "Busy":
        play.now += MINUTE
        play.send("Heartbeat", worker="a", ttl=5 * MINUTE)
        if play.wake is not None and play.wake <= play.now + MINUTE:
            play.due()
    while play.phase == "Busy":
        play.due()
    assert play.phase == "Unknown"
    assert play.names().count("RunJob") == 1
    assert play.wake is None


def mail(types: Any, percent: int | None = None) -> Any:
    sort = types.SortLetter() if percent is None else types.SortOffer(percent=percent)
    return types.Mail(template="t", sort=sort, wait_before=HOUR)


def test_a_series_can_be_stopped_at_any_moment(generated: Generated) -> None:
    """C09, C22: nothing more is sent, and an answer that comes all the same is late."""
    types = generated("sequence.types")
    for steps in range(5):
        play = Play(generated("sequence.sequence")).start(
            subscriber="s", first_mail=mail(types), more=(mail(types), mail(types))
        )
        for _ in range(steps):
            play.due() if play.phase == "Waiting" else play.send("SendSent")
        asked = len(play.asked)
        play.send("Unsubscribe")
        assert (play.phase, play.wake, play.owed) == ("Unsubscribed", None, [])
        late = play.send("SendSent", ticket=asked)
        assert late is not None
        assert late.kind == "late"
        assert len(play.asked) == asked


def test_who_has_bought_gets_no_more_offers(generated: Generated) -> None:
    types = generated("sequence.types")
    play = Play(generated("sequence.sequence")).start(
        subscriber="s",
        first_mail=mail(types, percent=10),
        more=(mail(types), mail(types, percent=20), mail(types)),
    )
    play.send("Bought")
    assert play.state.todo == (mail(types), mail(types))
    play.live(lambda _: ("SendSent", {}))
    assert play.phase == "Finished"
    assert [command.percent for command in play.asked] == [None, None]


# ---- a saga, cancelled and undone ------------------------------------------------------


@dataclass
class Agencies:
    """Four companies with books by key: what they hold, and what was given back."""

    held: dict[str, str] = field(default_factory=dict[str, str])
    fails: frozenset[str] = frozenset()
    calls: int = 0

    def __call__(self, command: Any) -> Any:
        self.calls += 1
        name = type(command).__name__
        if name in self.fails:
            return f"{name}{REFUSALS[name]}", {"error": "no"}
        gives = {
            "HoldSeat": ("HoldSeatHeld", {"seat_id": "12A"}),
            "HoldRoom": ("HoldRoomReserved", {"room_id": "7"}),
            "Pay": ("PayPaid", {"receipt": "r"}),
            "IssueTicket": ("IssueTicketTicketed", {"ticket_number": "t"}),
        }
        takes = {
            "FreeSeat": ("HoldSeat", "FreeSeatFreed"),
            "FreeRoom": ("HoldRoom", "FreeRoomFreed"),
            "Reverse": ("Pay", "ReverseReversed"),
        }
        if name in takes:
            undone, outcome = takes[name]
            self.held.pop(undone, None)
            return outcome, {}
        if name in gives:
            self.held[name] = command.idempotency_key
            return gives[name]
        return None


REFUSALS = {
    "IssueTicket": "Refused",
    "Pay": "Declined",
    "FreeSeat": "Failed",
    "HoldRoom": "Unavailable",
}


def trip(generated: Generated) -> Play:
    play = Play(generated("trip.trip"))
    return play.start(trip="t", flight="LH1", hotel="Ritz", price=90_000)


def test_a_trip_is_booked(generated: Generated) -> None:
    agencies = Agencies()
    assert trip(generated).live(agencies).phase == "Booked"
    assert list(agencies.held) == ["HoldSeat", "HoldRoom", "Pay", "IssueTicket"]


@pytest.mark.parametrize("fails", ["Pay", "IssueTicket", "HoldRoom"])
def test_what_was_held_is_given_back_when_a_step_fails(
    generated: Generated, fails: str
) -> None:
    agencies = Agencies(fails=frozenset({fails}))
    play = trip(generated).live(agencies)
    assert (play.phase, agencies.held) == ("Dropped", {})
    done = [
        name for name in play.names() if name in ("Reverse", "FreeRoom", "FreeSeat")
    ]
    assert done == ["Reverse", "FreeRoom", "FreeSeat"][-len(done) :]


@pytest.mark.parametrize("after", range(12))
def test_a_cancel_at_any_moment_leaves_everything_or_nothing(
    generated: Generated, after: int
) -> None:
    """C22: during a step, during a wait, during an undo, twice, and after the end."""
    agencies = Agencies(fails=frozenset({"HoldRoom"}) if after % 2 else frozenset())
    play = trip(generated).live(agencies, steps=after)
    play.send("Cancel", reason="changed my mind")
    play.send("Cancel", reason="twice")
    play.live(agencies)
    assert play.ended()
    assert (len(agencies.held) == 4) if play.phase == "Booked" else agencies.held == {}


def test_an_undo_that_fails_is_never_reported_as_done(generated: Generated) -> None:
    """C24: it goes on, with its error to see, and a person is told once."""
    agencies = Agencies(fails=frozenset({"Pay", "FreeSeat"}))
    play = trip(generated).live(agencies, steps=400)
    assert play.phase in ("SeatUndoing", "SeatUndoBackoff")
    assert play.state.cause == "payment.declined: no"
    assert play.names().count("PageOncall") == 1
    agencies.fails = frozenset({"Pay"})
    assert (play.live(agencies).phase, agencies.held) == ("Dropped", {})


def test_a_payment_that_got_no_answer_is_reversed_and_never_tried_again(
    generated: Generated,
) -> None:
    """S7: what cannot be repeated is handed out once; its deed is what is reversed."""
    agencies = Agencies()

    def silent_bank(command: Any) -> Any:
        answer = agencies(command)
        return None if type(command).__name__ == "Pay" else answer

    play = trip(generated).live(silent_bank)
    (paid,) = (c for c in play.asked if type(c).__name__ == "Pay")
    (reversed_,) = (c for c in play.asked if type(c).__name__ == "Reverse")
    assert (reversed_.deed, reversed_.receipt) == (paid.idempotency_key, None)
    assert (play.phase, agencies.held) == ("Dropped", {})


def test_the_keys_of_a_whole_life_name_each_deed_once(generated: Generated) -> None:
    agencies = Agencies(fails=frozenset({"IssueTicket"}))
    play = trip(generated).live(agencies)
    keys: Iterable[str] = [command.idempotency_key for command in play.asked]
    assert len(set(keys)) == len(play.asked)
