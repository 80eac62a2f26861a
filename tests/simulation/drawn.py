"""What is sent and answered in a run: in the explorer's words, by what it does not tell apart.

What the explorer has one value for is drawn anew each time, so that its one value is
held against all that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final, cast

import msgspec
from deedbox.codec import Codec
from deedbox.machine import CommandType
from deedbox.simulation import Plan, Vocabulary, plan
from deedbox.step import AnyMachine
from deedbox.testing import EPOCH as CLOCK
from deedbox_checker.expressions.types import bounds, is_instant, is_int, is_length
from deedbox_checker.instance.abstraction import explored_message
from deedbox_checker.instance.model import Model
from deedbox_checker.time.regions import FAR
from deedbox_dsl.types import ListOf, Maybe, RecordType, Type
from msgspec import Struct
from msgspec.structs import replace

LONGER: Final = 4
"""So many times as much is sent in a long run as in another, and once."""


SPANS: Final = (0, 1, 1_000, 60_000, 600_000, 7_200_000, 90_000_000, 40 * 86_400_000)


class Words:
    """What the explorer sends and answers, in the types of the machine that runs.

    What the explorer does not tell apart is drawn anew each time.
    """

    def __init__(self, made: Model, machine: AnyMachine) -> None:
        self.model = made
        self.codec = Codec(machine)
        own: list[type[Struct]] = [
            *machine.states,
            machine.start_type,
            *machine.messages,
            *(outcome for command in machine.commands for outcome in command.outcomes),
        ]
        self._own = {kind.__name__: kind for kind in own}
        self._explored = {
            kind.__name__: kind for kind in (*made.machine.states, *made.outcomes)
        }

    def ours(self, message: Struct) -> Struct:
        """A message of the explorer, not stamped yet."""
        kind = self._own[type(message).__name__]
        return replace(_as(kind, message), at=-1)

    def drawn(self, among: Sequence[Struct], random: Random) -> Struct:
        """One of these messages, or one that is the same to the explorer."""
        message = random.choice(among)
        fields = self.model.brought[type(message)]
        changes = {
            each.name: drawn(self.model, each.type, getattr(message, each.name), random)
            for each in fields
            if each.name not in self.codec.machine.key
        }
        found = replace(message, **changes)
        assert explored_message(self.model, found) == message
        return self.ours(found)

    def theirs(self, state: Struct) -> Struct:
        return _as(self._explored[type(state).__name__], state)

    def start(self, random: Random) -> Struct:
        start = self.drawn(self.model.starts, random)
        keys = {
            name: random.choice(("a", "b"))
            for name in self.codec.machine.key
            if isinstance(getattr(start, name), str)
        }
        return replace(start, **keys)

    def message(self, random: Random) -> Struct | None:
        if not self.model.messages:
            return None
        return self.drawn(self.model.messages, random)

    # -- the far side of a run

    def answer(
        self,
        codec: Codec,
        type_: CommandType,
        command: Struct,
        random: Random,
        now: int,
    ) -> Struct:
        del codec, command, now
        answers = [each.message for each in self.model.answers[type_.name]]
        return self.drawn(answers, random)

    def gives_back(self, codec: Codec, type_: CommandType, answer: Struct) -> bool:
        del codec
        return (type_.name, self.outcome(answer)) in self.model.gives_back

    def outcome(self, answer: Struct) -> str:
        return self.model.outcomes[self._explored[type(answer).__name__]][1]

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.codec, self.start, self.message)

    @property
    def age(self) -> int:
        """Milliseconds in which something comes that lies far ahead."""
        return self.model.domain.longest // 4 + 1

    def plan(self, seed: int) -> Plan:
        return planned(seed, [self.vocabulary], self.age)


def _as(kind: type[Struct], value: Struct) -> Struct:
    return msgspec.json.decode(msgspec.json.encode(value), type=kind)


def planned(seed: int, vocabularies: Sequence[Vocabulary], age: int) -> Plan:
    """A plan that keeps everybody: the explorer does not know how instances are removed.

    Every other one is long, and waits for deadlines most of the time, once for an `age`.
    """
    made = plan(seed, vocabularies)
    sendings, calls = list(made.sendings), list(made.calls)
    if seed % 2:
        for further in range(1, LONGER + 1):
            more = plan(seed + further * 10_000, vocabularies)
            sendings += more.sendings
            calls += [replace(one, at=one.at + further * 6) for one in more.calls]
        dice = Random(f"waits {seed}")
        aged = dice.randrange(len(sendings))
        sendings = [
            replace(
                one,
                after=age if n == aged else dice.choice((one.after, None, None)),
                message_id=one.message_id and f"{one.message_id} of {n}",
            )
            for n, one in enumerate(sendings)
        ]
    return replace(
        made,
        sendings=tuple(sendings),
        calls=tuple(sorted(calls, key=lambda one: one.at)),
        rules=replace(made.rules, keep=None),
    )


def drawn(made: Model, type: Type, value: object, random: Random) -> object:
    """A value that the explorer does not tell apart from this one."""
    plain = made.domain.carried(type)
    match type:
        case _ if value is None:
            return None
        case Maybe(item):
            return drawn(made, item, value, random)
        case RecordType(fields=fields):
            struct = cast(Struct, value)
            return replace(
                struct,
                **{
                    name: drawn(made, inner, getattr(struct, name), random)
                    for name, inner in fields
                },
            )
        case ListOf(item):
            listed = cast("tuple[object, ...]", value)
            if plain and listed:
                listed = listed * random.choice((1, 1, 2))
            return tuple(drawn(made, item, one, random) for one in listed)
        case _ if is_instant(type):
            return CLOCK + random.choice(SPANS) * random.choice((-1, 1))
        case _ if is_length(type):
            low, high = made.domain.span(type, cast(int, value))
            spans = [span for span in SPANS if low <= span <= high]
            return random.choice([low, *spans, *([high] if high < FAR else [])])
        case _ if is_int(type) and plain:
            least, most = bounds(type)
            numbers = [n for n in (0, 1, 2, 7) if least is None or least <= n]
            return random.choice([n for n in numbers if most is None or n <= most])
        case _ if isinstance(value, str) and plain:
            return random.choice((value, "a", "b"))
        case _:
            return value
