"""What happens in a run, as data: who sends what, and what goes wrong where.

A plan is made from a seed; everything that it does not say is drawn in the run from
the same seed, each thing from a stream of its own.  So a plan without one of its
faults is the same run up to that fault, and a failing plan can be made smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from random import Random
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ..codec import Codec
from ..values import Rules
from . import draw

T = TypeVar("T")


class Fault(Enum):
    """What goes wrong: at an operation of the store, or at a call of a handler."""

    FAILS = "the operation fails"
    DIES = "the process dies before it"
    DIES_AFTER = "the process dies after it"
    COMMITTED = "it is committed, and the answer is lost"
    NOT_COMMITTED = "it is not committed, and the answer is lost"
    STOPPED = "the process is stopped for a while"
    SLOW = "the operation takes long"
    JUMP = "the wall clock is set"
    RESTART = "the process is stopped in order, and another one started"

    RAISES = "the handler raises"
    ACTS_AND_RAISES = "the far side acts, and the handler raises"
    HANGS = "no answer comes"
    ACTS_AND_HANGS = "the far side acts, and no answer comes"
    LATE = "the answer takes long"
    ARRIVES_LATE = "the handler raises, and the request arrives later"
    WRONG = "the handler returns something else"
    CALL_DIES = "the process dies before the far side acts"
    ACTS_AND_DIES = "the far side acts, and the process dies"
    CURSED = "each call of this command kills its process"


AT_OPERATIONS: Final = (
    *(Fault.FAILS,) * 3,
    *(Fault.DIES,) * 2,
    *(Fault.DIES_AFTER,) * 2,
    *(Fault.COMMITTED,) * 2,
    *(Fault.NOT_COMMITTED,) * 2,
    *(Fault.STOPPED,) * 3,
    Fault.SLOW,
    Fault.JUMP,
    Fault.RESTART,
)
AT_CALLS: Final = (
    *(Fault.RAISES,) * 2,
    *(Fault.ACTS_AND_RAISES,) * 2,
    Fault.HANGS,
    Fault.ACTS_AND_HANGS,
    *(Fault.LATE,) * 3,
    *(Fault.ARRIVES_LATE,) * 2,
    Fault.WRONG,
    *(Fault.CALL_DIES,) * 2,
    *(Fault.ACTS_AND_DIES,) * 2,
    Fault.CURSED,
)
ONLY_COMMIT: Final = frozenset({Fault.COMMITTED, Fault.NOT_COMMITTED})


class Trouble(Struct, frozen=True):
    """A fault at the n-th operation, or at the n-th call, or as soon after as it fits."""

    at: int
    fault: Fault
    milliseconds: int


class Sending(Struct, frozen=True):
    """A message from outside, `after` milliseconds; None is at the next wake.

    With a `message_id` the sender asks again until it has an answer, and `copies`
    times more.
    """

    after: int | None
    machine: str
    id: str
    message: Struct
    message_id: str | None
    copies: int


class Within(Struct, frozen=True):
    """Messages in one transaction of the caller's, `after` milliseconds.

    `raises`: the block raises at its end, so all of it is rolled back; the caller then
    sends them one by one.
    """

    after: int
    sendings: tuple[Sending, ...]
    raises: bool


class Many(Struct, frozen=True):
    """Instances that begin in bulk, with one call."""

    after: int
    machine: str
    starts: tuple[Struct, ...]


class Redriving(Struct, frozen=True):
    """A person lets go of everything that is parked."""

    after: int


Other = Within | Many | Redriving


class Plan(Struct, frozen=True):
    """A run.  `plain` handlers are not `async`; `window` of a command run at once.

    `reopens`: after so many milliseconds, one of these, another process follows a dead
    one.
    """

    seed: int
    processes: int
    rules: Rules
    window: int
    limit: int
    plain: bool
    sendings: tuple[Sending, ...]
    operations: tuple[Trouble, ...]
    calls: tuple[Trouble, ...]
    reopens: tuple[int, ...] = (1, 30, 800, 15_000)
    others: tuple[Other, ...] = ()

    @property
    def size(self) -> int:
        each = self.sendings, self.others, self.operations, self.calls
        return sum(map(len, each))


IDS: Final = ("a", "b", "c")
GAPS: Final = (0, 0, 1, 10, 100, 1_000, 5_000, 30_000, None, None)
LEASES: Final = (2_000, 10_000, 60_000)
LATER: Final = (0, 1, 5, 20, 300, 2_000, 20_000)
KEEPS: Final = (0, 1, 1_000, 60_000, None)
LONG: Final = (100, 3_000, 12_000, 70_000, 400_000)


class Vocabulary(Struct, frozen=True):
    """What is sent to instances of a machine; a message is None when it takes none."""

    codec: Codec
    start: Callable[[Random], Struct]
    message: Callable[[Random], Struct | None]


def anything(codec: Codec, begin: int) -> Vocabulary:
    """Any values of the declared types, from small pools."""
    messages = codec.machine.messages

    def start(random: Random) -> Struct:
        return _named(
            codec, draw.struct(codec.machine.start_type, random, begin), random
        )

    def message(random: Random) -> Struct | None:
        if not messages:
            return None
        return draw.struct(random.choice(messages), random, begin)

    return Vocabulary(codec, start, message)


def plan(seed: int, vocabularies: Sequence[Vocabulary]) -> Plan:
    """The plan of a seed, in these words."""
    random = Random(f"plan {seed}")
    # One seed in eight has no faults at all: what is quiet must be quiet by itself.
    faults = random.random() < 0.875
    operations = random.randrange(6) if faults else 0
    calls = random.randrange(5) if faults else 0
    return Plan(
        seed,
        random.choice((1, 2, 2, 3)),
        Rules(
            keep=random.choice(KEEPS),
            deliveries=random.choice((2, 3, 4, 10)),
            lease=random.choice(LEASES),
        ),
        random.choice((1, 2, 256)),
        random.choice((3_000, 60_000)),
        random.random() < 0.2,
        tuple(_sendings(random, vocabularies)),
        tuple(_troubles(random, operations, 150, AT_OPERATIONS)),
        tuple(_troubles(random, calls, 12, AT_CALLS)),
        others=tuple(_others(Random(f"others {seed}"), vocabularies)),
    )


def _troubles(
    random: Random, count: int, among: int, faults: Sequence[Fault]
) -> list[Trouble]:
    troubles = [
        Trouble(random.randrange(1, among), random.choice(faults), random.choice(LONG))
        for _ in range(count)
    ]
    return sorted(troubles, key=lambda trouble: trouble.at)


def _sendings(random: Random, vocabularies: Sequence[Vocabulary]) -> list[Sending]:
    sendings: list[Sending] = []
    begun: list[tuple[Vocabulary, Struct]] = []
    for number in range(random.randrange(1, 9)):
        if begun and random.random() < 0.75:
            words, start = random.choice(begun)
            message = words.message(random)
            if message is None or random.random() < 0.2:
                # The same start again, or another of the same key.
                message = start if random.random() < 0.5 else words.start(random)
        else:
            words = random.choice(vocabularies)
            message = start = words.start(random)
            begun.append((words, start))
        codec = words.codec
        named = message if isinstance(message, codec.machine.start_type) else start
        message_id = f"m{number}" if random.random() < 0.5 else None
        copies = random.choice((0, 0, 1, 2)) if message_id is not None else 0
        gap, id = random.choice(GAPS), codec.id_of(named)
        sendings.append(Sending(gap, codec.name, id, message, message_id, copies))
    return sendings


def _others(random: Random, vocabularies: Sequence[Vocabulary]) -> Iterator[Other]:
    """What is done beside the messages that are sent one by one."""
    for number in range(random.choice((0, 0, 0, 1, 1, 2))):
        words, after = random.choice(vocabularies), random.choice(LATER)
        match random.randrange(4):
            case 0 | 1:
                sendings = tuple(_together(random, words, number))
                yield Within(after, sendings, random.random() < 0.4)
            case 2:
                starts = tuple(words.start(random) for _ in range(random.randrange(6)))
                yield Many(after, words.codec.name, starts)
            case _:
                yield Redriving(after * 10)


def _together(random: Random, words: Vocabulary, number: int) -> Iterator[Sending]:
    """Messages to one instance, a start at first."""
    start = words.start(random)
    codec, message = words.codec, start
    id = codec.id_of(start)
    for each in range(random.randrange(1, 4)):
        message_id = f"w{number}.{each}" if random.random() < 0.5 else None
        yield Sending(0, codec.name, id, message, message_id, 0)
        message = words.message(random) or start


def _named(codec: Codec, start: Struct, random: Random) -> Struct:
    """A start of one of few instances."""
    keys = {
        name: random.choice(IDS)
        for name in codec.machine.key
        if isinstance(getattr(start, name), str)
    }
    return replace(start, **keys)


def shrunk(plan: Plan, fails: Callable[[Plan], bool], most: int = 400) -> Plan:
    """The smallest plan found that still fails: fewer faults, messages, processes."""
    left = most
    smaller = True
    while smaller and left > 0:
        smaller = False
        for candidate in _smaller(plan):
            left -= 1
            if left < 0:
                break
            if fails(candidate):
                plan, smaller = candidate, True
                break
    return plan


def _smaller(plan: Plan) -> list[Plan]:
    found: list[Plan] = []
    if plan.processes > 1:
        found.append(replace(plan, processes=plan.processes - 1))
    found.extend(
        replace(plan, operations=_without(plan.operations, number))
        for number in range(len(plan.operations))
    )
    found.extend(
        replace(plan, calls=_without(plan.calls, number))
        for number in range(len(plan.calls))
    )
    found.extend(
        replace(plan, sendings=_without(plan.sendings, number))
        for number in range(len(plan.sendings))
    )
    found.extend(
        replace(plan, others=_without(plan.others, number))
        for number in range(len(plan.others))
    )
    if any(sending.copies for sending in plan.sendings):
        single = tuple(replace(one, copies=0) for one in plan.sendings)
        found.append(replace(plan, sendings=single))
    return found


def _without(items: tuple[T, ...], number: int) -> tuple[T, ...]:
    return items[:number] + items[number + 1 :]
