"""A job: two deadlines, an unrepeatable command, commands without outcomes, and bugs.

Written by hand in the generated shape.  `Boom` makes the reducer raise, `run` may be
answered by an outcome on which it raises, and `Later` sets a deadline.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, Protocol, TypeAlias

from deedbox import (
    UNSTAMPED,
    CommandType,
    Due,
    Instant,
    Machine,
    Refused,
    Transition,
)
from msgspec import Struct
from msgspec.structs import replace

from .job_sqlite import table


class Working(Struct, frozen=True, tag=True, gc=False):
    """Awaits `run`, until `silent_at`."""

    job: str
    size: int
    born: Instant
    issued: int
    ticket: int
    deed_number: int
    attempt: int
    silent_at: Instant
    notes: int


class Waiting(Struct, frozen=True, tag=True, gc=False):
    """Waits until `due`; gives up at `give_up_at`."""

    job: str
    size: int
    born: Instant
    issued: int
    attempt: int
    due: Instant
    give_up_at: Instant
    notes: int


class Pressing(Struct, frozen=True, tag=True, gc=False):
    """Awaits `press`, which is handed out at most once, until `silent_at`."""

    job: str
    size: int
    born: Instant
    issued: int
    ticket: int
    deed_number: int
    silent_at: Instant


class Done(Struct, frozen=True, tag=True, gc=False):
    job: str
    size: int
    born: Instant
    issued: int
    result: int


class Failed(Struct, frozen=True, tag=True, gc=False):
    job: str
    size: int
    born: Instant
    issued: int
    error: str


State: TypeAlias = Working | Waiting | Pressing | Done | Failed


class Start(Struct, frozen=True, tag=True, gc=False):
    job: str
    size: int = 1
    at: Instant = UNSTAMPED


class Note(Struct, frozen=True, tag=True, gc=False):
    """Owes `notify`, which has no outcomes."""

    text: str
    at: Instant = UNSTAMPED


class Press(Struct, frozen=True, tag=True, gc=False):
    at: Instant = UNSTAMPED


class Later(Struct, frozen=True, tag=True, gc=False):
    """Move `due`, if that makes it sooner."""

    due: Instant
    at: Instant = UNSTAMPED


class Stop(Struct, frozen=True, tag=True, gc=False):
    at: Instant = UNSTAMPED


class Boom(Struct, frozen=True, tag=True, gc=False):
    at: Instant = UNSTAMPED


class Forbidden(Struct, frozen=True, tag=True, gc=False):
    at: Instant = UNSTAMPED


class Grow(Struct, frozen=True, tag=True, gc=False):
    """Sets `size`, whatever it is."""

    size: int
    at: Instant = UNSTAMPED


Message: TypeAlias = Note | Press | Later | Stop | Boom | Forbidden | Grow


class RunRan(Struct, frozen=True, tag=True, gc=False):
    result: int
    at: Instant = UNSTAMPED
    ticket: int = 0


class RunBroke(Struct, frozen=True, tag=True, gc=False):
    error: str
    at: Instant = UNSTAMPED
    ticket: int = 0


class RunCursed(Struct, frozen=True, tag=True, gc=False):
    """The reducer raises on it."""

    at: Instant = UNSTAMPED
    ticket: int = 0


class PressPressed(Struct, frozen=True, tag=True, gc=False):
    at: Instant = UNSTAMPED
    ticket: int = 0


RunOutcome: TypeAlias = RunRan | RunBroke | RunCursed
Outcome: TypeAlias = RunOutcome | PressPressed
Msg: TypeAlias = Start | Message | Outcome | Due


class Run(Struct, frozen=True, tag=True, gc=False):
    idempotency_key: str
    ticket: int
    job: str
    size: int


class Push(Struct, frozen=True, tag=True, gc=False):
    idempotency_key: str
    ticket: int
    job: str


class Notify(Struct, frozen=True, tag=True, gc=False):
    idempotency_key: str
    ticket: int
    text: str


Command: TypeAlias = Run | Push | Notify
Taken: TypeAlias = tuple[State, tuple[Command, ...]]
Step: TypeAlias = Taken | Refused

LATE: Final = Refused("late", "the answer to an older issue")
NOT_DUE: Final = Refused("not_due", "no deadline has come")
KEPT: Final = Refused("kept", "already started")
ENDED: Final = Refused("ignored", "this instance has ended")


class Handlers(Protocol):
    def run(self, cmd: Run, /) -> RunOutcome | Awaitable[RunOutcome]: ...

    def press(self, cmd: Push, /) -> PressPressed | Awaitable[PressPressed]: ...

    def notify(self, cmd: Notify, /) -> Awaitable[None] | None: ...


def _key(job: str, born: int, number: int) -> str:
    return f"Job/{job}/{born}/{number}"


def start(msg: Start) -> Taken:
    return _run(msg.job, msg.size, msg.at, 0, msg.at, 1, 0)


def _run(
    job: str,
    size: int,
    born: Instant,
    issued: int,
    at: Instant,
    attempt: int,
    notes: int,
) -> Taken:
    n = issued + 1
    silent_at = Instant(at + 30_000)
    state = Working(job, size, born, n, n, n, attempt, silent_at, notes)
    return state, (Run(_key(job, born, n), n, job, size),)


def reduce(state: State, msg: Msg) -> Step:
    if isinstance(msg, Boom):
        raise RuntimeError("the reducer has a bug")
    if isinstance(msg, Forbidden):
        return Refused("rejected", "this is never allowed")
    if isinstance(msg, Start):
        if msg.size == state.size:
            return KEPT
        return Refused("rejected", "already started with another size")
    if isinstance(state, Done | Failed):
        if isinstance(msg, Outcome):
            return LATE
        return NOT_DUE if isinstance(msg, Due) else ENDED
    own = state.job, state.size, state.born
    if isinstance(msg, Stop):
        return Failed(*own, state.issued, "stopped"), ()
    if isinstance(msg, Press):
        n = state.issued + 1
        pressing = Pressing(*own, n, n, n, Instant(msg.at + 5_000))
        return pressing, (Push(_key(state.job, state.born, n), n, state.job),)
    if isinstance(msg, Grow):
        return replace(state, size=msg.size), ()
    match state:
        case Working():
            return _working(state, msg)
        case Waiting():
            return _waiting(state, msg)
        case Pressing():
            return _pressing(state, msg)


def _note(state: Working | Waiting, msg: Note) -> Step:
    n = state.issued + 1
    noted = replace(state, issued=n, notes=state.notes + 1)
    return noted, (Notify(_key(state.job, state.born, n), n, msg.text),)


def _working(state: Working, msg: Msg) -> Step:
    own = state.job, state.size, state.born
    match msg:
        case RunRan() if msg.ticket == state.ticket:
            return Done(*own, state.issued, msg.result), ()
        case RunBroke() if msg.ticket == state.ticket:
            if state.attempt >= 3:
                return Failed(*own, state.issued, msg.error), ()
            due = Instant(msg.at + 2_000 * state.attempt)
            give_up_at = Instant(msg.at + 60_000)
            return (
                Waiting(
                    *own, state.issued, state.attempt, due, give_up_at, state.notes
                ),
                (),
            )
        case RunCursed() if msg.ticket == state.ticket:
            raise RuntimeError("this answer is cursed")
        case RunRan() | RunBroke() | RunCursed() | PressPressed():
            return LATE
        case Due() if msg.at >= state.silent_at:
            return Failed(*own, state.issued, "silence"), ()
        case Due():
            return NOT_DUE
        case Note():
            return _note(state, msg)
        case _:
            return Refused("ignored", "the job is running")


def _waiting(state: Waiting, msg: Msg) -> Step:
    own = state.job, state.size, state.born
    match msg:
        case Due() if msg.at >= state.give_up_at and state.give_up_at <= state.due:
            return Failed(*own, state.issued, "gave up"), ()
        case Due() if msg.at >= state.due:
            return _run(*own, state.issued, msg.at, state.attempt + 1, state.notes)
        case Due():
            return NOT_DUE
        case Note():
            return _note(state, msg)
        case Later():
            return replace(state, due=min(state.due, msg.due)), ()
        case _:
            return LATE


def _pressing(state: Pressing, msg: Msg) -> Step:
    own = state.job, state.size, state.born
    match msg:
        case PressPressed() if msg.ticket == state.ticket:
            return Done(*own, state.issued, 0), ()
        case Due() if msg.at >= state.silent_at:
            return Failed(*own, state.issued, "nobody knows"), ()
        case Due():
            return NOT_DUE
        case RunRan() | RunBroke() | RunCursed() | PressPressed():
            return LATE
        case _:
            return Refused("ignored", "the button is being pressed")


def wake(state: State) -> Instant | None:
    match state:
        case Working() | Pressing():
            return state.silent_at
        case Waiting():
            return min(state.due, state.give_up_at)
        case Done() | Failed():
            return None


def awaited(state: State) -> int | None:
    match state:
        case Working() | Pressing():
            return state.ticket
        case Waiting() | Done() | Failed():
            return None


machine: Final[Machine[State, Start, Message, Outcome, Command]] = Machine(
    name="Job",
    version=2,
    spec_hash="by hand",
    key=("job",),
    states=(Working, Waiting, Pressing, Done, Failed),
    finals=frozenset({Done, Failed}),
    start_type=Start,
    messages=(Note, Press, Later, Stop, Boom, Forbidden, Grow),
    commands=(
        CommandType("run", Run, (RunRan, RunBroke, RunCursed), False, False),
        CommandType("press", Push, (PressPressed,), True, True),
        CommandType("notify", Notify, (), False, False),
    ),
    start=start,
    reduce=reduce,
    wake=wake,
    awaited=awaited,
    transitions=(Transition("", "Start", "Working", 1),),
    sqlite=table,
)
