"""From a kind of step to its lines in a test: the table, and the run that it makes.

Whoever adds a kind of step adds a row here; a kind without one makes no test, and
`Unmapped` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from deedbox.replay import (
    Action,
    Answers,
    Arrives,
    Begin,
    Comes,
    Crash,
    Decides,
    Does,
    Early,
    Fires,
    HandedOut,
    Late,
    Passes,
    Raises,
    Tell,
)
from msgspec import Struct

from ..data.domain import EPOCH
from ..environment.labels import Kind
from ..expressions.evaluate import phase
from ..expressions.types import is_instant
from ..instance.world import World
from ..time.ranks import live
from ..traces.trace import Naming, Run, moved
from .begun_before import Beginning, beginning
from .moment import Moment, in_full
from .unmapped import Unmapped

Mapped = Callable[[Moment], tuple[Action, ...]]


def sent(moment: Moment) -> tuple[Action, ...]:
    message = moment.sent()
    starts = isinstance(message, moment.model.machine.start_type)
    return (*passed(moment), Begin(message) if starts else Tell(message))


def handed_out(moment: Moment) -> tuple[Action, ...]:
    """Of a scan, what is asked for too: a page begins behind the right record."""
    deed = moment.before.open_deed
    if moment.model.listing is None or deed is None:
        return (HandedOut(),)
    declared = moment.model.commands[type(deed.command)]
    asks = {
        param.name: getattr(deed.command, param.name)
        for param in declared.params
        if not is_instant(param.type)
    }
    plain = {n: v for n, v in asks.items() if v is None or isinstance(v, str | int)}
    return (HandedOut(plain),)


def taken(moment: Moment) -> tuple[Action, ...]:
    return (*passed(moment), Answers(moment.taken()))


def fires(moment: Moment) -> tuple[Action, ...]:
    return (*passed(moment), Fires())


def passed(moment: Moment) -> tuple[Action, ...]:
    """The time that must have passed for the step to come to what it came to."""
    return tuple(Comes(name, late) for name, late in moment.instants())


def time_goes_on(moment: Moment) -> tuple[Action, ...]:
    before, after = moment.before.state, moment.after.state
    model = moment.model
    if before is None or after is None:
        return ()
    if moment.environment.reactions.exact:
        wake = model.machine.wake(before)
        return () if wake is None else (Passes(wake - EPOCH),)
    return tuple(
        Comes(name, model.points.offsets[name] + late)
        for name, late in came(moment).items()
    )


def came(moment: Moment) -> dict[str, int]:
    """The points that time has reached, and by how many milliseconds it is past them."""
    before, after = moment.before.state, moment.after.state
    if before is None or after is None:
        return {}
    now = live(moment.model.points, after)
    found: dict[str, int] = {}
    for name, distance in live(moment.model.points, before).items():
        if distance > 0 >= now[name]:
            found[name] = 0
        elif distance == 0 > now[name]:
            found[name] = 1
    return found


def decided(moment: Moment) -> tuple[Action, ...]:
    """The far side has ended the awaited deed, or one that nobody waits for."""
    raw, model = moment.raw(), moment.model
    answer, deed = moment.answers()[0].message, 0
    for known in raw.deeds:
        was = moment.before.deed(known.number)
        undecided = was is not None and was.fate is None
        if undecided and isinstance(known.fate, Struct):
            answer, deed = known.fate, moment.names.get(known.number, 0)
    pair = model.outcomes[type(answer)]
    happened = True
    counts = zip(model.counted, moment.before.counts, raw.counts, strict=True)
    for counted, old, new in counts:
        if counted == pair:
            happened = new > old or old > 1
    answer = next(in_full(model, answer), answer)
    if moment.label.kind is Kind.FAR_SIDE:
        return (Decides(answer, happened),)
    return (Arrives(answer, deed, happened),)


STEPS: Final[Mapping[Kind, Mapped]] = {
    Kind.START: sent,
    Kind.MESSAGE: sent,
    Kind.HAND_OUT: handed_out,
    Kind.TAKE: taken,
    Kind.DUE: fires,
    Kind.TIME: time_goes_on,
    Kind.FAR_SIDE: decided,
    Kind.ARRIVAL: decided,
    Kind.CRASH: lambda _: (Crash(),),
    Kind.RAISE: lambda _: (Raises(),),
    Kind.SECOND: lambda _: (Crash(),),
    Kind.LATE: lambda moment: (*passed(moment), Late(moment.believed())),
    Kind.EARLY: lambda moment: (*passed(moment), Early()),
}

"""What a worker held that is taken for dead is handed out again, as after a crash."""

REFUSED: Final[Mapping[Kind, str]] = {
    Kind.BEHIND: "the store refuses a commit from a state that has been replaced",
    Kind.CLOCK: "the time of a step is never before what is stored",
}
"""Why a step of such a kind makes no test: the interpreter has no such fault."""

SLIPPED: Final = (Kind.EARLY, Kind.LATE)
"""Steps that are handed to the reducer in place of a start."""

ROUNDS: Final = 3
"""So many rounds of a loop are mapped, to see which of them are alike."""


@dataclass(frozen=True, slots=True)
class Script:
    """`loop`: the steps of one round, which follow on `steps`; `begins`: where it begins."""

    steps: tuple[Does, ...]
    loop: tuple[Does, ...]
    begins: World


def script(run: Run, prefix: int) -> Script:
    """The steps of a run; what comes after `prefix` labels goes on for ever."""
    loop = len(run.labels) - prefix
    first = beginning(run)
    told = list(moments(run, prefix, ROUNDS if loop else 0, first))
    if first.steps and any(each.label.kind in SLIPPED for each in told):
        raise Unmapped("only a start that is told can be exchanged for such a step")
    chunks = chunked(told)
    begins = run.worlds[prefix]
    if not loop:
        return Script((*first.steps, *flat(chunks)), (), begins)
    before = prefix - first.taken
    ways = [(*first.steps, *flat(chunks[:before]))]
    ways += [flat(chunks[n : n + loop]) for n in range(before, len(chunks), loop)]
    for begun in (1, 2):
        if ways[begun] == ways[begun + 1]:
            return Script(flat(ways[:begun]), ways[begun], begins)
    raise Unmapped("no two rounds of its loop are alike on the interpreter")


def flat(chunks: Sequence[Sequence[Does]]) -> tuple[Does, ...]:
    return tuple(step for chunk in chunks for step in chunk)


def chunked(told: Sequence[Moment]) -> list[list[Does]]:
    """For each moment its steps."""
    return [
        [] if is_awaited(moment, told[number + 1 : number + 2]) else written(moment)
        for number, moment in enumerate(told)
    ]


def written(moment: Moment) -> list[Does]:
    """The lines of one step; only the last of them changes the phase."""
    actions = mapped(moment)
    before, after = phase(moment.before.state) or "", phase(moment.after.state) or ""
    phases = [before] * (len(actions) - 1) + [after]
    return [Does(action, phase) for action, phase in zip(actions, phases, strict=False)]


def mapped(moment: Moment) -> tuple[Action, ...]:
    kind = moment.label.kind
    if kind not in STEPS:
        raise Unmapped(REFUSED.get(kind, f"no test has a line for a {kind}"))
    return STEPS[kind](moment)


def is_awaited(moment: Moment, following: Sequence[Moment]) -> bool:
    """Whether time goes on only for the deadline that fires next, which says it too."""
    state = moment.before.state
    return (
        moment.label.kind is Kind.TIME
        and not moment.environment.reactions.exact
        and state is not None
        and not moment.environment.due(state)
        and len(came(moment)) == 1
        and [each.label.kind for each in following] == [Kind.DUE]
    )


def moments(run: Run, prefix: int, rounds: int, first: Beginning) -> Iterator[Moment]:
    """The steps of the run, its loop `rounds` times; in a loop deeds have no numbers."""
    naming = Naming(first.names, max(first.names.values(), default=0))
    whole = list(zip(run.worlds[:-1], run.worlds[1:], run.labels, strict=True))
    for before, after, label in whole[first.taken : prefix]:
        yield Moment(run.environment.of(before), before, after, label, naming.names)
        naming.go_on(moved(run.environment, before, after, label), after)
    for before, after, label in whole[prefix:] * rounds:
        yield Moment(run.environment.of(before), before, after, label, {})
