"""What a migrated state waits for: the issue that stays owed, or one that is asked anew.

An older issue stays owed, with its ticket and its key, where both states await a
command of one name; otherwise it is withdrawn.  A state that awaits must then ask,
and a state that keeps a silent deed must come from one that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .. import core
from ..problems import Label, Problem
from ..source import Span


def keeps(old: core.State, new: core.State) -> bool:
    return new.awaits is not None and new.awaits == old.awaits


def asks(issues: Iterable[core.Issue], new: core.State) -> bool:
    return any(
        isinstance(each, core.Do | core.Repeat) and each.command == new.awaits
        for each in issues
    )


def owed(
    old: core.State,
    new: core.State,
    issues: tuple[core.Issue, ...],
    commands: Mapping[str, core.Command],
    version: int,
    span: Span,
) -> Iterator[Problem]:
    """Whether the migrated state waits for what is owed, and for nothing else."""
    others = (Label(new.span, _waits(new)),) if new.span.end else ()
    awaited = 0
    for each in issues:
        match each:
            case core.Tell() | core.Begin():
                text = "a migration speaks to its own instance only"
                yield Problem("DEED802", each.span, text)
            case core.Do(command=name) | core.Repeat(command=name):
                if not commands[name].outcomes:
                    continue
                awaited += 1
                if name != new.awaits or awaited > 1:
                    text = f"`{name}` is asked for, but `{new.name}` does not await it"
                    if awaited > 1:
                        text = "a state waits for one answer, and a second is asked for"
                    yield Problem("DEED802", each.span, text, others=others)
                elif isinstance(each, core.Repeat) and old.open_deed != name:
                    text = f"`{old.name}` of version {version} has no open deed of `{name}` to repeat"
                    hint = f"`do {name}(…)` opens a new one."
                    yield Problem("DEED802", each.span, text, hints=(hint,))
    if new.awaits is not None and not awaited and not keeps(old, new):
        text = (
            f"`{new.name}` awaits `{new.awaits}`, which nobody owes: "
            f"`{old.name}` of version {version} {_waited(old)}"
        )
        hint = f"Ask for it behind the braces: `do {new.awaits}(…)`."
        yield Problem("DEED802", span, text, others=others, hints=(hint,))
    silent = new.open_deed if new.awaits is None else None
    if silent is not None and old.open_deed != silent:
        text = (
            f"`{new.name}` keeps the open deed of `{silent}`, and `{old.name}` of "
            f"version {version} has none"
        )
        hint = (
            f"Let it become a state that awaits `{silent}`, and ask: `do {silent}(…)`."
        )
        yield Problem("DEED802", span, text, others=others, hints=(hint,))


def _waits(state: core.State) -> str:
    return f"awaits `{state.awaits}`" if state.awaits else "awaits nothing"


def _waited(state: core.State) -> str:
    return f"awaited `{state.awaits}`" if state.awaits else "awaited nothing"


def asked_by_kind(
    new: core.State, fields: tuple[core.Set, ...], machine: core.Machine | None
) -> tuple[core.Issue, ...]:
    """What a kind asks for by itself when it enters `new`, from the names it binds.

    Some way into the state tells: an argument there is the key, the given, a number
    or text, or the very value that a field of the state gets.
    """
    if machine is None or machine.kind == "machine" or new.awaits is None:
        return ()
    given = {each.field: each.value for each in fields}
    for body in (machine.start, *(c.body for c in machine.clauses if c.body)):
        if not isinstance(body.exit, core.Goto) or body.exit.state != new.name:
            continue
        bound = {each.value: each.field for each in body.exit.fields}
        for each in body.issues:
            if isinstance(each, core.Do) and each.command == new.awaits:
                arguments = [
                    argument if _fixed(argument) else given.get(bound.get(argument, ""))
                    for argument in each.arguments
                ]
                found = tuple(one for one in arguments if one is not None)
                if len(found) == len(arguments):
                    return (core.Do(each.command, found, each.span),)
    return ()


def _fixed(argument: core.Expr) -> bool:
    match argument:
        case core.Constant():
            return True
        case core.Read(scope=scope):
            return scope in ("key", "given")
        case _:
            return False
